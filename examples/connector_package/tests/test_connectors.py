"""The suites that Penstock ships, for the connectors of this package."""

import json
import os

from example_connectors import json_folder, sqlite_rows, sqlite_table, squares
from example_connectors.sqlite_file import create_table, opened

from connectors.interface.testing import SinkSuite, SourceSuite

ROWS = [(1, "one", 1.0), (2, "two", None), (3, None, 3.5)]


class TestSquares(SourceSuite):
    source = squares.connector
    expected = ((0, 0), (1, 1), (2, 4), (3, 9))
    filter = "number > 1"

    def given(self, tmp_path):
        return {"count": 4}


class TestSqliteTable(SinkSuite):
    sink = sqlite_table.connector

    def given(self, tmp_path):
        return {"path": str(tmp_path / "target.db")}

    def read(self, spark, tmp_path):
        if not (tmp_path / "target.db").exists():
            return []
        with opened(str(tmp_path / "target.db")) as database:
            return list(database.execute("select id, name, amount from data"))

    def leftovers(self, tmp_path):
        return [name for name in os.listdir(tmp_path) if name not in ("target.db", "state")]


class TestSqliteRows(SourceSuite):
    source = sqlite_rows.connector
    expected = ROWS

    def given(self, tmp_path):
        path = str(tmp_path / "source.db")
        if not os.path.exists(path):
            with opened(path) as database:
                create_table(database, [("id", "bigint"), ("name", "string"), ("amount", "double")])
                database.executemany("insert into data values (?, ?, ?)", ROWS)
        return {"path": path, "partition_rows": 2}


class TestJsonFolder(SinkSuite):
    sink = json_folder.connector

    def given(self, tmp_path):
        return {"path": str(tmp_path / "target")}

    def read(self, spark, tmp_path):
        lines = [line for file in tmp_path.glob("target/*.jsonl") for line in file.read_text().splitlines()]
        return [tuple(json.loads(line).values()) for line in lines]

    def leftovers(self, tmp_path):
        return [name for name in os.listdir(tmp_path) if name not in ("target", "state")]
