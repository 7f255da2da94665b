"""Commits files to an S3 bucket by multipart uploads, which copy nothing when they are committed.

    s3a://b/.orders.penstock/<id>/data            the staged rows
    s3a://b/.orders.penstock/<id>/uploads.json    uploads of the same bytes to the target; not visible yet
    s3a://b/.orders.penstock/<id>/replaced.json   what the commit deletes or overwrites there

`stage_uploads` has the store copy the staged bytes into uploads. `commit_uploads` completes them (one request a file),
then deletes what they replace, and writes the marks last. It can be repeated after a kill.
"""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from connectors.files.committing.replaced_files import replaced_files
from connectors.files.foreign_files import MARKS
from connectors.shared.staged import Staged
from connectors.storage.filesystem import Files
from connectors.storage.hadoop_files import HadoopFiles

T = TypeVar("T")
U = TypeVar("U")

_PART: Final = 256 * 1024 * 1024
"""Bytes of one part; a bigger file is copied in several parts side by side."""
_REQUESTS: Final = 16
"""Requests at a time: none of them waits for bytes of this machine."""
_UPLOADS: Final = "uploads.json"


@dataclass(frozen=True, slots=True)
class Upload(Staged):
    """A multipart upload; `tags` are its parts', in their order. An empty file has no upload: `id` is empty."""

    name: str
    path: str
    size: int
    id: str = ""
    tags: tuple[str, ...] = ()


def stage_uploads(files: Files, staging: str, target: str) -> None:
    """Prepare the commit of the files in `<staging>/data`; does nothing where the file system has no such uploads."""
    store = _store_of(files)
    if store is None:
        return
    sizes = store.files.sizes(f"{staging}/data")
    names = [name for name in sizes if not name.startswith(f"{MARKS}/")]
    uploads = [Upload(name, f"{target}/{name}", sizes[name]) for name in names]
    begun = _at_once(lambda upload: replace(upload, id=store.begin(upload.path) if upload.size else ""), uploads)
    _write(files, staging, begun)  # before bytes are copied: an abort finds the uploads
    _write(files, staging, _at_once(lambda upload: _copied(store, staging, upload), begun))


def has_uploads(files: Files, staging: str) -> bool:
    return files.exists(f"{staging}/{_UPLOADS}")


def commit_uploads(files: Files, mode: str, staging: str, target: str) -> None:
    """Complete the uploads, delete what they replace (all of the target, or its partitions), and write the marks."""
    store = _store_of(files)
    assert store is not None, staging
    uploads = _read(files, staging)
    replaced = replaced_files(files, mode, staging, target, [upload.name for upload in uploads])
    _at_once(lambda upload: _complete(store, staging, upload, upload.name in replaced.overwritten), uploads)
    _at_once(lambda name: files.delete(f"{target}/{name}"), replaced.deleted)
    for name in files.files(f"{staging}/data/{MARKS}"):
        files.write(f"{target}/{MARKS}/{name}", files.read(f"{staging}/data/{MARKS}/{name}"))


def abort_uploads(files: Files, staging: str) -> None:
    """Discard the uploads of a write that is not committed."""
    store = _store_of(files)
    if store is not None and has_uploads(files, staging):
        _at_once(lambda upload: store.abort(upload.path, upload.id), [u for u in _read(files, staging) if u.id])


def _complete(store: "UploadStore", staging: str, upload: Upload, overwrites: bool) -> None:
    files = store.files
    if not upload.id:
        files.write(upload.path, "")
    elif not store.complete(upload) and (overwrites or not files.exists(upload.path)):
        # the store has expired the upload, or it was completed before a kill and overwrote a file
        again = _copied(store, staging, replace(upload, id=store.begin(upload.path)))
        if not store.complete(again):
            raise OSError(f"{upload.path} could not be committed: its upload was aborted by another program")


def _copied(store: "UploadStore", staging: str, upload: Upload) -> Upload:
    starts = range(0, upload.size, _PART)
    parts = [(number, start, min(start + _PART, upload.size) - 1) for number, start in enumerate(starts, 1)]
    source = f"{staging}/data/{upload.name}"
    return replace(upload, tags=tuple(store.copy(source, upload, *part) for part in parts))


def _write(files: Files, staging: str, uploads: Sequence[Upload]) -> None:
    files.write(f"{staging}/{_UPLOADS}", json.dumps([upload.to_json() for upload in uploads]))


def _read(files: Files, staging: str) -> list[Upload]:
    return [Upload.from_json(record) for record in json.loads(files.read(f"{staging}/{_UPLOADS}"))]


def _at_once(do: Callable[[T], U], items: Sequence[T]) -> list[U]:
    if len(items) <= 1:
        return [do(item) for item in items]
    with ThreadPoolExecutor(min(_REQUESTS, len(items))) as pool:
        return list(pool.map(do, items))


def _store_of(files: Files) -> "UploadStore | None":
    """The requests of S3's protocol; None where the file system is another, or its store cannot copy into uploads."""
    if (
        not isinstance(files, HadoopFiles)
        or not files.is_s3
        or not files.system.getS3AInternals().isMultipartCopyEnabled()
    ):
        return None
    return UploadStore(files)


class UploadStore:
    """Requests for multipart uploads, made as S3A makes its own: with its credentials, retries and encryption."""

    def __init__(self, files: HadoopFiles) -> None:
        internals = files.system.getS3AInternals()
        self.files = files
        self.client: Any = internals.getAmazonS3Client("penstock")
        self.requests: Any = internals.getStore().getRequestFactory()
        self.models: Any = files.jvm.software.amazon.awssdk.services.s3.model
        self.options: Any = files.jvm.org.apache.hadoop.fs.s3a.impl.PutObjectOptions.defaultOptions()

    def begin(self, path: str) -> str:
        request = self.requests.newMultipartUploadRequestBuilder(_key(path), self.options).build()
        return str(self._sent("createMultipartUpload", request).uploadId())

    def copy(self, source: str, upload: Upload, number: int, first: int, last: int) -> str:
        request = (
            self.models.UploadPartCopyRequest.builder()
            .sourceBucket(_bucket(source))
            .sourceKey(_key(source))
            .destinationBucket(_bucket(upload.path))
            .destinationKey(_key(upload.path))
            .uploadId(upload.id)
            .partNumber(number)
            .copySourceRange(f"bytes={first}-{last}")
            .build()
        )
        return str(self._sent("uploadPartCopy", request).copyPartResult().eTag())

    def complete(self, upload: Upload) -> bool:
        """False if the store does not know the upload: it is complete, or was aborted."""
        parts = self.files.jvm.java.util.ArrayList()
        for number, tag in enumerate(upload.tags, 1):
            parts.add(self.models.CompletedPart.builder().partNumber(number).eTag(tag).build())
        builder = self.requests.newCompleteMultipartUploadRequestBuilder(
            _key(upload.path), upload.id, parts, self.options
        )
        return self._sent("completeMultipartUpload", builder.build()) is not None

    def abort(self, path: str, upload_id: str) -> None:
        request = self.requests.newAbortMultipartUploadRequestBuilder(_key(path), upload_id).build()
        self._sent("abortMultipartUpload", request)

    def _sent(self, name: str, request: Any) -> Any:
        """The answer; None if the upload is not there. Raises OSError for other errors of the store."""
        from py4j.protocol import Py4JJavaError

        try:
            return getattr(self.client, name)(request)
        except Py4JJavaError as error:
            thrown = error.java_exception
            if str(thrown.getClass().getSimpleName()) == "NoSuchUploadException":
                return None
            raise OSError(str(thrown.getMessage())) from error


def _bucket(path: str) -> str:
    return path.split("/", 3)[2]


def _key(path: str) -> str:
    return path.split("/", 3)[3]
