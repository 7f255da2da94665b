"""Columns and keys of a CREATE TABLE -> the `schema` block of its source."""

from collections.abc import Iterator

from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.model.tree import Entry, MapNode
from engine.job.script.tree_nodes import entry, flag, generated, list_node, map_node, text_node
from engine.job.script.with_options import scalar
from sql.script.statements import ColumnDefinition, CreateTable, KeyDefinition
from sql.script.tokens import unquoted


def schema_entry(table: CreateTable, diagnostics: Diagnostics) -> Entry | None:
    """`schema { fields … }` where names and types are all that is said, else with `columns` and keys."""
    if not table.columns:
        return None
    parts = list(_columns(table))
    primary = [key for key in table.keys if key.is_primary]
    for key in primary[1:]:
        diagnostics.error("PEN2011", "a table has one primary key", key.columns[0].span())
    if primary:
        parts.append(entry("primaryKey", _primary(primary[0])))
    unique = [_unique(key) for key in table.keys if not key.is_primary]
    if unique:
        parts.append(entry("constraintKeys", list_node(unique, table.name)))
    if table.comment:
        parts.append(entry("comment", text_node(table.comment)))
    return entry("schema", map_node(parts, table.name), table.name)


def _columns(table: CreateTable) -> Iterator[Entry]:
    if all(column.nullable and column.default is None and column.comment is None for column in table.columns):
        fields = [
            entry(column.name.value, text_node(column.type), column.name) for column in table.columns if column.type
        ]
        yield entry("fields", map_node(fields, table.name))
    else:
        yield entry(
            "columns", list_node([map_node(_column(column), column.name) for column in table.columns], table.name)
        )


def _column(column: ColumnDefinition) -> Iterator[Entry]:
    yield entry("name", text_node(column.name))
    if column.type:
        yield entry("type", text_node(column.type))
    if not column.nullable:
        yield entry("nullable", flag(False, column.name))
    if column.default:
        is_text = column.default.value[:1] in ("'", '"')
        yield entry("defaultValue", text_node(unquoted(column.default)) if is_text else scalar(column.default))
    if column.comment:
        yield entry("comment", text_node(column.comment))


def _primary(key: KeyDefinition) -> MapNode:
    at = key.columns[0]
    name = text_node(key.name or generated("primary_key", at))
    columns = list_node([text_node(column) for column in key.columns], at)
    return map_node([entry("name", name), entry("columnNames", columns)], at)


def _unique(key: KeyDefinition) -> MapNode:
    at = key.columns[0]
    name = text_node(key.name or generated("_".join(("unique", *(column.value for column in key.columns))), at))
    columns = [
        map_node(
            [entry("columnName", text_node(column)), entry("sortType", text_node(generated("ASC", column)))], column
        )
        for column in key.columns
    ]
    kind = text_node(generated("UNIQUE_KEY", at))
    return map_node(
        [
            entry("constraintName", name),
            entry("constraintType", kind),
            entry("constraintColumns", list_node(columns, at)),
        ],
        at,
    )
