"""Sources without a `schema` take theirs from the schema lock, before the data is read."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from catalog.diagnostics import Diagnostics
from catalog.lock import Lock, LockError, find_lock, parse_lock
from catalog.table import Column
from catalog.typenames import to_ddl
from connectors.support.option import Options, Value
from connectors.support.source import Source


def with_locked_schema(options: Options, name: str, job: str, diagnostics: Diagnostics) -> Options:
    """The options, with the `schema` of the lock where they have none and the lock knows the source."""
    declared = options.mapping("schema")
    if "schema" not in options.values or declared.keys() - {"table", "comment"}:
        return options
    path = find_lock(Path(job).absolute().parent)
    if path is None:
        return options
    lock = read_lock(path, diagnostics)
    columns = lock.sources.get((job_key(path, Path(job)), name))
    return (
        replace(options, values={**options.values, "schema": {**declared, **as_schema(columns)}})
        if columns
        else options
    )


def with_matching_tables(
    source: Source, listed: Iterable[Options], name: str, job: str, diagnostics: Diagnostics
) -> Iterator[Options]:
    """The blocks of a set, with one for each table that the lock has for a pattern instead of the pattern."""
    path = find_lock(Path(job).absolute().parent)
    lock = Lock() if path is None else read_lock(path, diagnostics)
    key = "" if path is None else job_key(path, Path(job))
    for options in listed:
        pattern = source.table_pattern(options)
        if pattern is None:
            yield options
            continue
        found = False
        for (locked, node), columns in sorted(lock.sources.items()):
            table = node.removeprefix(f"{name} ")
            if locked == key and table != node and matches(pattern, table):
                found = True
                schema = {**options.mapping("schema"), **as_schema(columns)}
                one = source.of_table(options, table)
                yield replace(one, values={**one.values, "schema": schema})
        if not found:
            message = f"the tables that match `{options['table_path']}` are not known"
            help = "`penstock schema sync` asks the database, and records them in `penstock.lock`"
            diagnostics.error("PEN4002", message, options.span("table_path"), help)


def locked_name(name: str, table: str) -> str:
    """How the lock calls a table that matches a pattern of the source `name`."""
    return f"{name} {table}"


def matches(pattern: re.Pattern[str], table: str) -> bool:
    """Whether a path, or the end of it, matches."""
    parts = table.replace('"', "").split(".")
    return any(pattern.fullmatch(".".join(parts[start:])) for start in range(len(parts)))


def read_lock(path: Path, diagnostics: Diagnostics) -> Lock:
    """The lock of a file; an unreadable one is reported and treated as empty."""
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (LockError, OSError) as cause:
        diagnostics.error(
            "PEN4009", f"`{path.name}` cannot be read: {cause}", None, "recreate it: penstock schema sync"
        )
        return Lock()


def job_key(lock: Path, job: Path) -> str:
    """The name of a job file in its lock."""
    return job.absolute().relative_to(lock.parent).as_posix()


def as_schema(columns: tuple[Column, ...]) -> Mapping[str, Value]:
    """Columns as a `schema` block."""
    listed: list[Value] = [
        {"name": column.name, "type": to_ddl(column.type), "nullable": column.nullable} for column in columns
    ]
    return {"columns": listed}


@lru_cache(maxsize=64)
def _read(path: Path, _changed: int) -> Lock:
    return parse_lock(path.read_text(encoding="utf-8"))
