"""Sources without a `schema` take theirs from the schema lock, before the data is read."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.limits import read_small
from catalog.options import Options, Value
from catalog.patterns import user_pattern
from catalog.reach import refuse_outside
from catalog.tables.schema_lock import Lock, LockError, find_lock, parse_lock
from catalog.tables.table import TableSchema
from catalog.types.typenames import to_ddl
from connectors.interface.source import Source
from connectors.interface.source_abilities import SupportsTablePatterns, table_pattern_of

_PATTERN_OPTIONS: Final = ("table_path", "table", "table-pattern")
"""Where a block names a pattern of tables."""


def with_locked_schema(options: Options, name: str, job: str, diagnostics: Diagnostics) -> Options:
    """The options, with the `schema` of the lock where they have none and the lock knows the source."""
    declared = options.mapping("schema")
    if "schema" not in options.values or declared.keys() - {"table", "comment"}:
        return options
    path = find_lock(Path(job).absolute().parent)
    if path is None:
        return options
    lock = read_lock(path, diagnostics)
    locked = lock.sources.get((job_key(path, Path(job)), name))
    if locked is None or not locked.columns:
        return options
    return replace(options, values={**options.values, "schema": {**declared, **as_schema(locked)}})


def with_matching_tables(
    source: Source, listed: Iterable[Options], name: str, job: str, diagnostics: Diagnostics
) -> Iterator[Options]:
    """The blocks of a set, with one for each table that the lock has for a pattern instead of the pattern."""
    path = find_lock(Path(job).absolute().parent)
    lock = Lock() if path is None else read_lock(path, diagnostics)
    key = "" if path is None else job_key(path, Path(job))
    for options in listed:
        pattern = table_pattern_of(source, options)
        if pattern is None or not isinstance(source, SupportsTablePatterns):
            yield options
            continue
        found = False
        for (locked, node), table_schema in sorted(lock.sources.items(), key=itemgetter(0)):
            table = node.removeprefix(f"{name} ")
            if locked == key and table != node and matches(pattern, table):
                found = True
                schema = {**options.mapping("schema"), **as_schema(table_schema)}
                one = source.of_table(options, table)
                yield replace(one, values={**one.values, "schema": schema})
        if not found:
            option = next(name for name in _PATTERN_OPTIONS if options.get(name) is not None)
            message = f"the tables that match `{options[option]}` are not known"
            help = "`penstock schema sync` asks the catalog or database, and records them in `penstock.lock`"
            diagnostics.error("PEN4002", message, options.span(option), help)


def locked_name(name: str, table: str) -> str:
    """How the lock calls a table that matches a pattern of the source `name`."""
    return f"{name} {table}"


def matches(pattern: re.Pattern[str], table: str) -> bool:
    """Whether a path, or the end of it, matches."""
    parts = table.replace('"', "").replace("`", "").split(".")
    return any(user_pattern(pattern.pattern).fullmatch(".".join(parts[start:])) for start in range(len(parts)))


def read_lock(path: Path, diagnostics: Diagnostics) -> Lock:
    """The lock of a file; an unreadable one is reported and treated as empty."""
    try:
        if path.is_symlink():
            refuse_outside(path)
        return _read(path, path.stat().st_mtime_ns)
    except (LockError, OSError, UnicodeDecodeError) as cause:
        diagnostics.error(
            "PEN4009", f"`{path.name}` cannot be read: {cause}", None, "recreate it: penstock schema sync"
        )
        return Lock()


def job_key(lock: Path, job: Path) -> str:
    """The name of a job file in its lock."""
    return job.absolute().relative_to(lock.parent).as_posix()


def as_schema(schema: TableSchema) -> Mapping[str, Value]:
    """Columns and primary key as a `schema` block."""
    listed: list[Value] = [
        {"name": column.name, "type": to_ddl(column.type), "nullable": column.nullable} for column in schema.columns
    ]
    key = schema.primary_key
    return {"columns": listed} if key is None else {"columns": listed, "primaryKey": {"columnNames": [*key.columns]}}


@lru_cache(maxsize=64)
def _read(path: Path, _changed: int) -> Lock:
    return parse_lock(read_small(path).decode())
