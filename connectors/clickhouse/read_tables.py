"""Reads a query or the partitions of a table as Arrow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from catalog.options import Options
from catalog.tables.table import CatalogTable, Column
from connectors.clickhouse.clickhouse_client import reported
from connectors.clickhouse.clickhouse_types import ReadType, identifier, literal, read_type

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_TASKS: Final = 16


@dataclass(frozen=True, slots=True)
class QueryPart:
    """What one task reads: the text of its query."""

    sql: str


def described(options: Options) -> CatalogTable:
    """The columns of the query, as the server describes them. Raises PEN5004."""
    with reported(options, "PEN5004") as client:
        columns = [Column(name, found.type, found.nullable) for name, found in _types(client, options).items()]
    return CatalogTable.of("clickhouse", columns)


def parts_of(options: Options, names: Sequence[str]) -> tuple[QueryPart, ...]:
    """The queries of the tasks: one, or one for some partitions of a table each. Raises PEN5004."""
    with reported(options, "PEN5004") as client:
        types = _types(client, options)
        chosen = names or tuple(types)
        # The server reports a column that it does not have, in its own words.
        columns = ", ".join(f"{_expression(types.get(name), name)} AS {identifier(name)}" for name in chosen)
        query = f"SELECT {columns} FROM {_source(options)} AS t"
        condition = options.optional_string("filter_query") if options.get("sql") is None else None
        where = [f"({condition})"] if condition else []
        if options.get("sql") is not None:
            return (QueryPart(query),)
        partitions = _partitions(client, options)
    if len(partitions) < 2:
        return (QueryPart(query + (f" WHERE {where[0]}" if where else "")),)
    groups = [partitions[index::_MOST_TASKS] for index in range(min(_MOST_TASKS, len(partitions)))]
    inside = (f"_partition_id IN ({', '.join(map(literal, group))})" for group in groups)
    return tuple(QueryPart(f"{query} WHERE {' AND '.join([*where, each])}") for each in inside)


def batches_of_part(options: Options, part: QueryPart) -> "Iterator[pa.RecordBatch]":
    """Raises PEN5004."""
    with (
        reported(options, "PEN5004") as client,
        client.query_arrow_stream(part.sql, use_strings=True) as stream,
    ):
        for found in stream:
            yield from found.to_batches() if hasattr(found, "to_batches") else (found,)


def _types(client: Any, options: Options) -> dict[str, ReadType]:
    rows = client.query(f"DESCRIBE TABLE {_source(options)}").result_rows
    return {row[0]: read_type(row[1]) for row in rows}


def _expression(found: ReadType | None, name: str) -> str:
    """The prefix keeps the column apart from the alias of the same name."""
    column = f"t.{identifier(name)}"
    return column if found is None else found.sql.format(column)


def _source(options: Options) -> str:
    sql = options.optional_string("sql")
    return f"({sql.strip().rstrip(';')}\n)" if sql is not None else table_name(options, options.string("table_path"))


def table_name(options: Options, name: str) -> str:
    """The name in SQL, with its database."""
    database, _, table = name.rpartition(".")
    return f"{identifier(database or options.string('database'))}.{identifier(table)}"


def _partitions(client: Any, options: Options) -> list[str]:
    """Of a table of the MergeTree family, those that hold rows."""
    database, _, table = options.string("table_path").rpartition(".")
    where = f"database = {literal(database or options.string('database'))} AND table = {literal(table)} AND active"
    rows = client.query(f"SELECT DISTINCT partition_id FROM system.parts WHERE {where} ORDER BY 1").result_rows
    return [str(row[0]) for row in rows]
