"""Rows with row kinds as values of a change log: one record for each row.

An update is a delete of the row before it and an insert of the row after it, as Apache SeaTunnel writes it: readers of
every tool apply the two in order.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from catalog.quoting import quote, quote_text
from catalog.tables.row_kind import ROW_KIND, RowKind
from catalog.tables.table import Column, TablePath
from catalog.types.datatypes import BINARY
from connectors.files.values.delimited import Formats, to_text

Encode = Callable[[Mapping[str, str]], str]
"""Spark SQL for a JSON object of expressions by their names."""


def seatunnel_envelope(format: str, row: str, *, has_kinds: bool) -> dict[str, str]:
    """The fields of a row's record as Apache SeaTunnel's sinks write them, which have no more in common with a format
    than its name (CanalJsonSerializationSchema and the others)."""
    is_delete = _is_delete(has_kinds)
    if format == "debezium_json":
        given = _debezium(row, is_delete, TablePath("t"))
        return {name: given[name] for name in ("before", "after", "op")}
    return {"data": row, "type": f"if({is_delete}, 'DELETE', 'INSERT')"}


def _is_delete(has_kinds: bool) -> str:
    kinds = f"'{RowKind.UPDATE_BEFORE.value}', '{RowKind.DELETE.value}'"
    return f"{quote(ROW_KIND)} in ({kinds})" if has_kinds else "false"


def change_value(
    format: str, row: str, columns: Sequence[Column], path: TablePath, json: Encode, *, has_kinds: bool
) -> str:
    """Spark SQL for the value of a row's record; `row` is a struct of its columns. Text is as `json` writes it."""
    is_delete = _is_delete(has_kinds)
    if format == "canal_json":
        texts = ", ".join(f"{quote_text(column.name)}, {_canal_text(column)}" for column in columns)
        row = f"named_struct({texts})"
    return json(_ENVELOPES[format](row, is_delete, path))


def _canal_text(column: Column) -> str:
    """Canal has every value as a text, bytes as Latin-1."""
    value = quote(column.name)
    return f"decode({value}, 'ISO-8859-1')" if column.type == BINARY else to_text(value, column.type, Formats())


def _debezium(row: str, is_delete: str, path: TablePath) -> dict[str, str]:
    source = {"db": path.database, "schema": path.schema, "table": path.table}
    return {
        "before": f"if({is_delete}, {row}, null)",
        "after": f"if({is_delete}, null, {row})",
        "source": f"named_struct({', '.join(f'{quote_text(name)}, {_text(part)}' for name, part in source.items())})",
        "op": f"if({is_delete}, 'd', 'c')",
        "ts_ms": "unix_millis(current_timestamp())",
    }


def _canal(row: str, is_delete: str, path: TablePath) -> dict[str, str]:
    return {
        "data": f"array({row})",
        "old": "cast(null as string)",
        "type": f"if({is_delete}, 'DELETE', 'INSERT')",
        "isDdl": "false",
        "database": _text(path.database),
        "table": _text(path.table),
        "ts": "unix_millis(current_timestamp())",
    }


def _maxwell(row: str, is_delete: str, path: TablePath) -> dict[str, str]:
    return {
        "database": _text(path.database),
        "table": _text(path.table),
        "type": f"if({is_delete}, 'delete', 'insert')",
        "ts": "unix_seconds(current_timestamp())",
        "data": row,
    }


def _goldengate(row: str, is_delete: str, path: TablePath) -> dict[str, str]:
    owner = path.schema or path.database
    return {
        "table": quote_text(f"{owner}.{path.table}" if owner else path.table),
        "op_type": f"if({is_delete}, 'D', 'I')",
        "op_ts": "date_format(current_timestamp(), 'yyyy-MM-dd HH:mm:ss.SSSSSS')",
        "before": f"if({is_delete}, {row}, null)",
        "after": f"if({is_delete}, null, {row})",
    }


def _text(value: str | None) -> str:
    return "cast(null as string)" if value is None else quote_text(value)


_ENVELOPES: Final[Mapping[str, Callable[[str, str, TablePath], dict[str, str]]]] = {
    "debezium_json": _debezium,
    "canal_json": _canal,
    "maxwell_json": _maxwell,
    "ogg_json": _goldengate,
}
