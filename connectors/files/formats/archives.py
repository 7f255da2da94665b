"""Archives of files, unpacked for a run: zip, tar, tar.gz, and single files that are gzipped or of lzop."""

import atexit
import gzip
import os
import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.diagnostics.diagnostic import run_error
from connectors.storage.filesystem import files_at
from connectors.storage.hadoop_files import HadoopFiles

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
            _decompress(spark, local, folder) if codec == "lzo" else _unpack(local, folder, codec)
        except (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, EOFError, NotLzopError) as cause:
            option = "compress_codec" if codec == "lzo" else "archive_compress_codec"
            message = f"`{archive}` is no {codec} archive: {cause}"
            raise run_error("PEN5004", message, None, f"see `{option}`") from None  # as it is on every attempt
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


class NotLzopError(Exception):
    """A file is not in lzop's format."""


def _decompress(spark: "SparkSession", file: str, folder: str) -> None:
    """Decompress a file by Hadoop's codec of lzop: Python has none."""
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark._jvm
    bare = re.sub(r"\.lzo(?=\.|$)", "", os.path.basename(file))
    try:
        packed = jvm.io.airlift.compress.lzo.LzopCodec().createInputStream(jvm.java.io.FileInputStream(file))
        plain = jvm.java.io.FileOutputStream(os.path.join(folder, bare))
        jvm.org.apache.hadoop.io.IOUtils.copyBytes(packed, plain, 1 << 16, True)
    except Py4JJavaError as cause:
        raise NotLzopError(str(cause.java_exception.getMessage())) from cause


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
