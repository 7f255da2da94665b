"""Jobs that capture the changes of tables, and tables that change."""

import os
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

from connectors.in_memory import ROWS
from engine.runtime.results import JobResult
from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.run_stream import run_stream
from tests.connectors.kafka.jobs import compiled
from tests.services.databases import Database

CHANGES = int(os.environ.get("PENSTOCK_TEST_CAPTURED", "2000"))
"""Of the table that a stream follows; `make soak` sets more."""


def source(database: Database, tables: str, options: str = "", columns: str = "") -> str:
    """The block of the source of changes for a database."""
    name = "Postgres-CDC" if database.kind == "postgres" else "MySQL-CDC"
    return (
        f'{name} {{ plugin_output = changes, base-url = "{database.url}", username = "{database.user}", '
        f'password = "{database.password}", table-names = [{tables}]\n{options}\n{columns} }}'
    )


def jdbc(database: Database, table: str, options: str = "primary_keys = [id], write_mode = changelog") -> str:
    return (
        f'Jdbc {{ plugin_input = changes, url = "{database.url}", user = "{database.user}", '
        f'password = "{database.password}", table = "{table}"\n{options} }}'
    )


def job(source: str, *sinks: str, env: str = "stream.trigger = available_now") -> str:
    listed = "\n".join(sinks)
    return f"env {{ job.mode = STREAMING, job.name = capture\n{env} }}\nsource {{ {source} }}\nsink {{ {listed} }}"


def stream(spark: Any, folder: Path, text: str) -> JobResult:
    """Run a streaming job until it ends. Raises the error with which it ended."""
    result = run_stream(spark, compiled(folder, text), RunRequest(new_run_id()))
    if result.errors:
        raise result.errors[0]
    return result


def equal(database: Database, one: str, other: str, columns: str = "id, name, amount") -> int:
    """How many rows each of two tables has, which must be the same rows."""
    rows = [database.rows(f"select {columns} from {table} order by id") for table in (one, other)]
    assert rows[0] == rows[1]
    return len(rows[0])


def kept(spark: Any, folder: Path, text: str) -> list[tuple[Any, ...]]:
    """The rows of a job that keeps them in memory, with their kinds."""
    ROWS.clear()
    stream(spark, folder, text)
    return sorted((tuple(row) for each in ROWS.values() for row in each), key=repr)


def purge_log(mariadb: Database) -> None:
    """Delete all files of MariaDB's log but the last one. The server keeps a file, and only warns of it, while a
    connection reads it, also of a reader that has gone and whose end it has not noticed yet, and until InnoDB has
    written what the file has."""
    from pymysql.err import OperationalError

    mariadb.run("flush binary logs")
    (*_, (last, *_)) = mariadb.rows("show binary logs")
    while mariadb.rows("show binary logs")[0][0] != last:
        for (number,) in mariadb.rows("select id from information_schema.processlist where command = 'Binlog Dump'"):
            with suppress(OperationalError):  # it has ended by itself
                mariadb.run(f"kill {number}")
        mariadb.run(f"purge binary logs to '{last}'")


class ChangingRows:
    """Random statements on a table `(id bigint primary key, name, amount, at)`, by a seed."""

    def __init__(self, table: str, seed: int = 7, keys: int = 500) -> None:
        self.table, self.keys, self.random = table, keys, random.Random(seed)

    def statements(self, count: int) -> list[str]:
        found = []
        for _ in range(count):
            id, chosen = self.random.randrange(self.keys), self.random.random()
            name = self.random.choice(["'A'", "'Ä'", "'名'", "NULL", "''", "'a''b'"])
            amount = self.random.randrange(-(10**10), 10**10) / 100
            if chosen < 0.2:
                found.append(f"delete from {self.table} where id = {id}")
            elif chosen < 0.3:
                moved = self.random.randrange(self.keys)
                found.append(f"delete from {self.table} where id = {moved} and {moved} <> {id}")
                found.append(f"update {self.table} set id = {moved} where id = {id}")
            elif chosen < 0.65:
                found.append(f"update {self.table} set name = {name}, amount = {amount:.2f} where id = {id}")
            else:
                found.append(f"delete from {self.table} where id = {id}")
                found.append(f"insert into {self.table} (id, name, amount) values ({id}, {name}, {amount:.2f})")
        return found

    def change(self, database: Database, count: int, *, transaction: int = 5) -> None:
        """Run so many statements, some in one transaction."""
        with database.connect() as connection:
            cursor = connection.cursor()
            for number, statement in enumerate(self.statements(count)):
                cursor.execute(statement)
                if number % transaction == 0:
                    connection.commit()
