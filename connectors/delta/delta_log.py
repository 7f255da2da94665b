"""The columns of a Delta table, read without Spark from the `metaData` action of its log."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.limits import read_small
from catalog.options import Value
from catalog.reach import refuse_outside
from catalog.tables.table import Column
from connectors.files.file_schema import UnknownSchemaError, foreign_shape
from connectors.shared.spark_types import of_spark_json
from connectors.storage.filesystem import files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COMMIT = re.compile(r"(\d{20})\.json\Z")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\..*parquet\Z")


def holds_log(path: str) -> bool:
    """Whether a local directory is a Delta table."""
    return os.path.isdir(os.path.join(path, "_delta_log"))


def latest_columns(path: str, version: Value = None) -> list[Column]:
    """The columns as of a version (the latest where none is given); raises `UnknownSchemaError`."""
    with foreign_shape("its log"):
        fields = json.loads(latest_metadata(path, version)["schemaString"])["fields"]
        return [Column(field["name"], of_spark_json(field["type"]), field.get("nullable", True)) for field in fields]


class NoVersionError(UnknownSchemaError):
    """The log holds no commit of that version."""

    def __init__(self, version: int, known: Sequence[int]) -> None:
        super().__init__(f"it has no version {version}")
        self.known = f"its log has the versions {known[0]} to {known[-1]}" if known else "its log is empty"


def latest_metadata(path: str, version: Value = None) -> Mapping[str, Any]:
    """The log's `metaData` action as of a version (the latest where none is given); raises `UnknownSchemaError`."""
    with foreign_shape("its log"):
        found = _latest_metadata(path, version)
        for field in json.loads(found["schemaString"])["fields"]:
            of_spark_json(field["type"])
            str.lower(field["name"])
        dict(found.get("configuration") or {})
        return found


def _latest_metadata(path: str, version: Value) -> Mapping[str, Any]:
    refuse_outside(path)
    log = Path(path) / "_delta_log"
    if not log.is_dir():
        raise UnknownSchemaError("the Delta table does not exist yet")
    last = version if isinstance(version, int) else None
    commits = _numbered(log, _COMMIT, last)
    if last is not None and last not in commits:
        raise NoVersionError(last, sorted(_numbered(log, _COMMIT, None)))
    for number in sorted(commits, reverse=True):
        for line in read_small(log / commits[number], "log").decode().split("\n"):  # a value may have other line ends
            if line.strip() and "metaData" in (action := json.loads(line)):
                found: Mapping[str, Any] = action["metaData"]
                return found
    checkpoints = _numbered(log, _CHECKPOINT, last)
    if checkpoints:
        return _of_checkpoint(log, max(checkpoints))
    raise UnknownSchemaError("its log has no schema")


def _numbered(log: Path, pattern: re.Pattern[str], last: int | None) -> dict[int, str]:
    found = {}
    for name in os.listdir(log):
        if (match := pattern.match(name)) and (last is None or int(match.group(1)) <= last):
            refuse_outside(log / name)
            found[int(match.group(1))] = name
    return found


def _of_checkpoint(log: Path, number: int) -> Mapping[str, Any]:
    try:
        import pyarrow.parquet
    except ImportError as cause:
        raise UnknownSchemaError("reading its checkpoint without Spark needs pyarrow (pip install pyarrow)") from cause
    for file in sorted(log.glob(f"{number:020}.checkpoint.*parquet")):
        for row in pyarrow.parquet.read_table(file, columns=["metaData"]).column("metaData").to_pylist():
            if row and row.get("schemaString"):
                return {**row, "configuration": dict(row.get("configuration") or ())}
    raise UnknownSchemaError("its checkpoint has no schema")


def latest_commit(spark: "SparkSession | None", path: str) -> str | None:
    """The name of the log's latest commit and when it was written, in milliseconds; None without one."""
    files, target = files_at(spark, path)
    times = files.modification_times(f"{target}/_delta_log")
    commits = [name for name in times if _COMMIT.fullmatch(name)]
    return f"{max(commits)} {times[max(commits)]}" if commits else None
