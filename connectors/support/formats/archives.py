"""Archives of files, unpacked for a run: zip, tar, tar.gz, and single files that are gzipped."""

import atexit
import gzip
import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.diagnostics import run_error
from connectors.support.files.filesystem import HadoopFiles, files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def unpacked(spark: "SparkSession", archives: Sequence[str], root: str, codec: str) -> str:
    """Unpack each archive into its own directory below a common one, which is removed when the process ends.

    The directories between `root` and an archive are kept, so that `column=value` ones are found. Raises PEN5004 for a
    file that is not such an archive.
    """
    target = tempfile.mkdtemp(prefix="penstock-")
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    for number, archive in enumerate(archives):
        local = _fetched(spark, archive)
        inner = os.path.relpath(os.path.dirname(archive), root) if archive.startswith(root) else "."
        folder = os.path.join(target, "" if inner == "." else inner, f"archive-{number}")
        os.makedirs(folder)
        try:
            _unpack(local, folder, codec)
        except (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, EOFError) as cause:
            message = f"`{archive}` is no {codec} archive: {cause}"
            raise run_error("PEN5004", message, None, "see `archive_compress_codec`") from cause
    return target


def _fetched(spark: "SparkSession", path: str) -> str:
    """The archive as a local file."""
    files, absolute = files_at(spark, path)
    if not isinstance(files, HadoopFiles):
        return absolute
    folder = tempfile.mkdtemp(prefix="penstock-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    local = os.path.join(folder, absolute.rpartition("/")[2])
    files.copy_to_local(absolute, local)
    return local


def _unpack(archive: str, folder: str, codec: str) -> None:
    match codec:
        case "zip":
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(folder)  # it makes every name one below the folder
        case "tar" | "tar_gz":
            with tarfile.open(archive, "r:gz" if codec == "tar_gz" else "r:") as opened:
                opened.extractall(folder, filter="data")  # refuses names outside the folder
        case "gz":
            name = Path(archive).name
            bare = name[:-3] if name.endswith(".gz") else name
            with gzip.open(archive) as packed, open(os.path.join(folder, bare), "wb") as plain:
                shutil.copyfileobj(packed, plain)
        case _:
            raise AssertionError(codec)
