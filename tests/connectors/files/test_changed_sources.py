"""Files whose columns change: what is read equals a reading by hand, or the job says what it did.

A case is a folder of two files of one format. Columns of a file are renamed, dropped, added, retyped, reordered or
written in another case. Nothing of that may change a value, or lose one, without an error or a warning.
"""

import csv
import datetime
import json
import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.orc
import pyarrow.parquet
import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.local_file import connector
from engine.plan.nodes import Scan
from engine.spark.lower import lower
from engine.spark.session import pipeline_session
from tests.connectors.given_options import options_of
from tests.connectors.jobs import write

pytestmark = pytest.mark.spark

DECLARED = {"id": "bigint", "name": "string", "amount": "decimal(10,2)", "day": "date"}
ARROW = {
    "id": pyarrow.int64(), "name": pyarrow.string(), "amount": pyarrow.decimal128(10, 2), "day": pyarrow.date32(),
}  # fmt: skip
FORMATS = ("csv", "json", "parquet", "orc")
CHANGES = ("rename", "drop", "add", "retype", "reorder", "recase", "none")


@dataclass
class Column:
    name: str
    of: str | None
    is_text: bool = False


def value(of: str | None, number: int) -> Any:
    match of:
        case "id":
            return number
        case "name":
            return f"n{number}"
        case "amount":
            return pyarrow.scalar(f"{number}.5{number % 10}").cast(pyarrow.decimal128(10, 2)).as_py()
        case "day":
            return datetime.date(2024, 1, 1 + number)
    return f"more{number}"


def cell(column: Column, number: int) -> Any:
    plain = value(column.of, number)
    return f"<{plain}>" if column.is_text else plain


def changed(random: random.Random) -> tuple[list[Column], str]:
    """The columns of a file, and what was done to those that are declared."""
    columns = [Column(name, name) for name in DECLARED]
    what, column = random.choice(CHANGES), random.choice(columns)
    match what:
        case "rename":
            column.name = f"{column.name}_new"
        case "drop":
            columns.remove(column)
        case "add":
            columns.insert(random.randrange(5), Column("extra", None))
        case "retype":
            column.is_text = True
        case "reorder":
            random.shuffle(columns)
        case "recase":
            column.name = column.name.upper()
    return columns, what


def write_file(path: Path, kind: str, columns: list[Column], numbers: range) -> None:
    rows = [{column.name: cell(column, number) for column in columns} for number in numbers]
    match kind:
        case "csv":
            with open(path, "w", newline="") as file:
                writer = csv.DictWriter(file, [column.name for column in columns])
                writer.writeheader()
                writer.writerows(rows)
        case "json":
            path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))
        case _:
            types = [(c.name, pyarrow.string() if c.is_text or c.of is None else ARROW[c.of]) for c in columns]
            table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(types))
            (pyarrow.parquet.write_table if kind == "parquet" else pyarrow.orc.write_table)(table, path)


def check_case(spark: Any, folder: Path, seed: int) -> str:
    """Write and read one case; how it ended: `error`, `warning` or `read`."""
    chosen = random.Random(seed)
    kind = FORMATS[seed % len(FORMATS)]
    folder.mkdir()
    expected: dict[int, dict[str, Any]] = {}
    unread: set[str] = set()
    retyped: set[str | None] = set()
    others: list[set[str]] = []
    for index in range(2):
        columns, _ = changed(chosen)
        numbers = range(1 + 3 * index, 4 + 3 * index)
        write_file(folder / f"part{index}.{kind}", kind, columns, numbers)
        there = {column.name.lower(): column for column in columns}
        for number in numbers:
            expected[number] = {name: cell(there[name], number) if name in there else None for name in DECLARED}
        others.append({column.name for column in columns if column.name.lower() not in DECLARED})
        unread |= {name for name in DECLARED if name not in there}
        retyped |= {column.of for column in columns if column.is_text and column.of != "name"}
    given = {"csv_use_header_line": True} if kind == "csv" else {}
    if kind == "csv" and seed // len(FORMATS) % 2:
        given["csv_columns_by_name"] = True
    options = options_of(
        connector.source_options, path=str(folder), file_format_type=kind, schema={"fields": DECLARED}, **given
    )
    diagnostics = Diagnostics()
    (table,) = connector.tables(options, diagnostics)
    if diagnostics.has_errors:
        return "error"
    scan = Scan("files", connector, options, table, id="scan", span=options.span())
    job = write(__import__("connectors").sink("Console"), scan)
    try:
        rows = lower(pipeline_session(spark), [job]).dataframes[scan].collect()
    except Exception:  # noqa: BLE001 (any error says that the files were not read)
        return "error"
    said = " ".join(item.message for item in diagnostics)
    if kind != "json":  # its rows need not have each field, and may have others
        for name in unread | (others[0] ^ others[1]):
            assert f"`{name}`" in said, (seed, kind, name, said)
    for name in retyped:
        assert f"`{name}` is declared {DECLARED[str(name)]}, but" in said, (seed, kind, name, said)
    compared = [name for name in DECLARED if name not in retyped]
    found = sorted((tuple(row[name] for name in compared) for row in rows), key=str)
    by_hand = sorted((tuple(row[name] for name in compared) for row in expected.values()), key=str)
    assert found == by_hand, (seed, kind)
    return "warning" if said else "read"


def check_cases(spark: Any, tmp_path: Path, seeds: range) -> None:
    ends = [check_case(spark, tmp_path / str(seed), seed) for seed in seeds]
    assert {"error", "warning", "read"} <= set(ends)


def test_changed_files_are_read_as_by_hand_or_reported(spark, tmp_path):
    check_cases(spark, tmp_path, range(32))


@pytest.mark.soak
def test_many_changed_files_are_read_as_by_hand_or_reported(spark, tmp_path):
    count = int(os.environ.get("PENSTOCK_TEST_CHANGED", "2000"))
    first = int(os.environ.get("PENSTOCK_TEST_SEED", random.randrange(10**6)))
    print(f"seeds from {first}")
    check_cases(spark, tmp_path, range(first, first + count))
