"""Rows that the driver fetched, as files of JSON lines from which Spark's tasks read them."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from connectors.storage.filesystem import as_uri

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FILE_CHARACTERS: Final = 32 * 1024 * 1024
_BATCH_ROWS: Final = 5_000


def staged_lines(spark: "SparkSession", lines: Iterable[str]) -> "DataFrame":
    """The lines as a column `value`, staged on this machine's disk until the process ends; none may hold a line end.

    On a cluster Spark copies the files to its executors.
    """
    folder = tempfile.mkdtemp(prefix="penstock-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        files = _write(lines, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if not files:
        return spark.createDataFrame([], "value string")
    if str(spark.sparkContext.master).startswith("local"):
        return spark.read.text([as_uri(file) for file in files], lineSep="\n")
    return distributed_lines(spark, files)


def distributed_lines(spark: "SparkSession", files: Sequence[str]) -> "DataFrame":
    """The lines of files on the driver's machine, read by tasks on other machines."""
    for file in files:
        spark.sparkContext.addFile(file)
    names = [os.path.basename(file) for file in files]

    def read(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import SparkFiles

        for batch in batches:
            for number in batch.column(0).to_pylist():
                with open(SparkFiles.get(names[number]), encoding="utf-8", newline="\n") as file:
                    while found := [line.rstrip("\n") for line in islice(file, _BATCH_ROWS)]:
                        yield pa.RecordBatch.from_arrays([pa.array(found, pa.string())], names=["value"])

    return spark.range(0, len(files), 1, len(files)).mapInArrow(read, "value string")


def _write(lines: Iterable[str], folder: str) -> list[str]:
    """The names of the files; a name is unique in a session, since executors keep them in one directory."""
    files: list[str] = []
    source = iter(lines)
    line = next(source, None)
    while line is not None:
        files.append(os.path.join(folder, f"{os.path.basename(folder)}-{len(files)}.jsonl"))
        with open(files[-1], "w", encoding="utf-8", newline="\n") as file:
            written = 0
            while line is not None and written < _FILE_CHARACTERS:
                written += file.write(line + "\n")
                line = next(source, None)
    return files
