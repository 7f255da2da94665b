"""`catalog_table_rule`: rules on the schema, checked before any row is read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options, Value
from catalog.tables.table import CatalogTable
from catalog.types.typenames import TypeTextError
from connectors.assert_.assert_rule import blocks, check_keys, span_of
from connectors.assert_.field_types import agrees, wanted_type

_KEYS: Final = ("primary_key_rule", "constraint_key_rule", "column_rule", "table_identifier_rule")
_PRIMARY: Final = ("primary_key_name", "primary_key_columns")
_CONSTRAINT: Final = ("constraint_key_name", "constraint_key_type", "constraint_key_columns")
_COLUMN: Final = ("name", "type", "column_length", "nullable", "default_value", "comment")
_IDENTIFIER: Final = ("catalog_name", "table")


def check_table(
    rule: Mapping[str, Value], location: str, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> None:
    """Report PEN5006 if the table's keys, columns or name differ from those of the rule."""
    check_keys(rule, _KEYS, location, options, diagnostics)
    if table.is_open:
        return
    for part, check in (
        ("primary_key_rule", _primary_key),
        ("table_identifier_rule", _identifier),
    ):
        block = rule.get(part)
        if isinstance(block, Mapping):
            for problem in check(block, f"{location}.{part}", table, options, diagnostics):
                _broken(problem, f"{location}.{part}", options, diagnostics)
        elif block is not None:
            diagnostics.error("PEN2004", f"`{part}` must be a block", span_of(options, f"{location}.{part}"))
    if "constraint_key_rule" in rule:
        for problem in _constraints(rule, location, table, options, diagnostics):
            _broken(problem, f"{location}.constraint_key_rule", options, diagnostics)
    if "column_rule" in rule:
        for problem in _columns(rule, location, table, options, diagnostics):
            _broken(problem, f"{location}.column_rule", options, diagnostics)


def _broken(problem: str, location: str, options: Options, diagnostics: Diagnostics) -> None:
    diagnostics.error("PEN5006", problem, span_of(options, location))


def _primary_key(
    block: Mapping[str, Value], location: str, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> Iterator[str]:
    check_keys(block, _PRIMARY, location, options, diagnostics)
    key = table.schema.primary_key
    if key is None:
        yield f"`{table.path}` has no primary key"
        return
    name, columns = block.get("primary_key_name"), _names(block.get("primary_key_columns"))
    if name is not None and str(name) != key.name:
        yield f"the primary key of `{table.path}` is named `{key.name}`, not `{name}`"
    if columns and sorted(columns) != sorted(key.columns):
        yield f"the primary key of `{table.path}` is {_listed(key.columns)}, not {_listed(columns)}"


def _identifier(
    block: Mapping[str, Value], location: str, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> Iterator[str]:
    check_keys(block, _IDENTIFIER, location, options, diagnostics)
    name = block.get("table")
    if name is not None and str(name) != str(table.path):
        yield f"the table is `{table.path}`, not `{name}`"


def _constraints(
    rule: Mapping[str, Value], location: str, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> Iterator[str]:
    wanted = []
    for inner, block in blocks(rule, "constraint_key_rule", location, options, diagnostics):
        check_keys(block, _CONSTRAINT, inner, options, diagnostics)
        columns = tuple(
            (
                str(key_column.get("constraint_key_column_name")),
                str(key_column.get("constraint_key_sort_type") or "ASC").upper(),
            )
            for _, key_column in blocks(block, "constraint_key_columns", inner, options, diagnostics)
        )
        wanted.append((str(block.get("constraint_key_name")), str(block.get("constraint_key_type")).upper(), columns))
    found = [
        (key.name, key.type.value, tuple((name, order.upper()) for name, order in key.columns))
        for key in table.schema.constraint_keys
    ]
    if not found:
        yield f"`{table.path}` has no constraint keys"
    elif wanted and sorted(wanted) != sorted(found):
        actual = ", ".join(f"{name} {kind} ({_listed([key for key, _ in columns])})" for name, kind, columns in found)
        yield f"the constraint keys of `{table.path}` are {actual}, not those of the rule"


def _columns(
    rule: Mapping[str, Value], location: str, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> Iterator[str]:
    named = set()
    for inner, block in blocks(rule, "column_rule", location, options, diagnostics):
        check_keys(block, _COLUMN, inner, options, diagnostics)
        name = str(block.get("name") or "")
        named.add(name.lower())
        column = table.column(name)
        if column is None:
            yield f"`{table.path}` has no column `{name}`"
            continue
        try:
            wanted = wanted_type(block.get("type")) if block.get("type") is not None else column.type
        except TypeTextError as cause:
            diagnostics.error("PEN4001", cause.message, span_of(options, f"{inner}.type"), cause.help)
            continue
        if not agrees(wanted, column.type):
            yield f"the column `{name}` is {column.type}, not {wanted or 'decimal'}"
        nullable = block.get("nullable")
        if nullable is not None and (str(nullable).lower() == "true") != column.nullable:
            yield f"the column `{name}` is {'' if column.nullable else 'not '}nullable"
        for key, value in (
            ("column_length", column.length), ("default_value", column.default), ("comment", column.comment)
        ):  # fmt: skip
            if block.get(key) is not None and str(block[key]) != str(value):
                yield f"the {key} of the column `{name}` is {value}, not {block[key]}"
    if named and (missing := [column.name for column in table.columns if column.name.lower() not in named]):
        yield f"`{table.path}` has further columns: {_listed(missing)}"


def _names(value: Value) -> list[str]:
    return [str(item) for item in value] if isinstance(value, Sequence) and not isinstance(value, str) else []


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
