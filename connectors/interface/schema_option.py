"""Reads the `schema` block, in both of its forms, into a `TableSchema` (the grammar is Apache SeaTunnel's)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean, listed_names, nearest
from catalog.diagnostics.source import Span
from catalog.options import Option, Options, OptionType, Value
from catalog.tables.table import (
    CatalogTable,
    Column,
    ConstraintKey,
    ConstraintType,
    PrimaryKey,
    TablePath,
    TableSchema,
)
from catalog.types.datatypes import UNKNOWN
from catalog.types.typenames import SizedType, TypeTextError, type_of_value

SCHEMA_OPTION: Final = Option(
    "schema",
    OptionType.MAP,
    "The columns: `fields { name = type }`, or `columns = [{ name, type, nullable, defaultValue, comment }]` with "
    "`primaryKey` and `constraintKeys`; `table` names the table.",
)

SCHEMA_EXAMPLE: Final = (
    "schema { fields { id = bigint, name = string } }, in SQL CREATE TABLE t (id BIGINT, name STRING)"
)

_COLUMN_KEYS: Final = ("name", "type", "nullable", "defaultValue", "comment", "columnLength", "columnScale")
_BLOCK_KEYS: Final = ("table", "fields", "columns", "primaryKey", "constraintKeys", "schema_first", "comment")


def declares_columns(options: Options) -> bool:
    """Whether `schema` says more than the name of the table."""
    return bool(options.mapping("schema").keys() - {"table", "comment"})


def declared_table(options: Options, name: str, diagnostics: Diagnostics) -> CatalogTable | None:
    """The table that the `schema` option declares, None if there is none; errors go to `diagnostics`."""
    block = options.mapping("schema")
    if not declares_columns(options):  # the columns are in the data
        return None
    if options.seatunnel is not None and not block.keys() & set(_BLOCK_KEYS):
        block = {"fields": block}  # found in the documentation of SeaTunnel 2.3
    for key in block:
        if key not in _BLOCK_KEYS:
            help = did_you_mean(key, _BLOCK_KEYS)
            diagnostics.error("PEN2003", f"`schema` has no `{key}`", options.key_span(f"schema.{key}"), help)
    columns = tuple(_unique(_columns(block, options, diagnostics), diagnostics))
    names = {column.name.lower() for column in columns}
    schema = TableSchema(
        columns, _primary_key(block, names, options, diagnostics), _constraints(block, names, options, diagnostics)
    )
    return CatalogTable(_path(block, name, options, diagnostics), schema, comment=_text(block.get("comment")))


_SURELY: Final = 0.8
"""How near a name must be to one that is declared itself, and so is hardly meant by another one."""


def refuse_missing_columns(
    table: CatalogTable, held: Iterable[str], options: Options, diagnostics: Diagnostics, *, is_certain: bool = True
) -> None:
    """Report each declared column that the data lacks (PEN3004), at that column; a warning unless it `is_certain`."""
    if str(options.get("missing_columns")).lower() == "allow" or options.is_foreseen:
        return
    names = list(held)
    known = {name.lower() for name in names}
    declared = {column.name.lower() for column in table.columns}
    others = sorted(name for name in names if name.lower() not in declared)
    for column in table.columns:
        if column.name.lower() not in known:
            message = f"the declared column `{column.name}` is not in `{options['path']}`"
            close = nearest(column.name, others) or nearest(column.name, names, _SURELY)
            help = f"did you mean `{close}`?" if close else listed_names(names)
            refuse_schema(
                message, _column_span(column.name, options), help, options, diagnostics, is_certain=is_certain
            )


def refuse_schema(
    message: str,
    span: Span | None,
    help: str | None,
    options: Options,
    diagnostics: Diagnostics,
    *,
    is_certain: bool = True,
) -> None:
    """Report a schema that the data does not have: an error (PEN3004) if the job declares it, a warning (PEN4009)
    where it is the schema lock's, since the data of this machine may be older or newer than the lock."""
    if "schema" not in options.places:
        message = message.replace("the declared column", "the locked column")
        help = "`penstock schema diff` shows what changed, `penstock schema sync` locks what is there now"
        diagnostics.warning("PEN4009", message, span, help)
    elif is_certain:
        diagnostics.error("PEN3004", message, span, help)
    else:
        diagnostics.warning("PEN3004", message, span, help)


def _column_span(name: str, options: Options) -> Span | None:
    """The location of a column in the `schema` block, else of the block, else of the path."""
    block = options.mapping("schema")
    if f"schema.fields.{name}" in options.key_places:
        return options.key_places[f"schema.fields.{name}"]
    listed = block.get("columns")
    for index, item in enumerate(listed if isinstance(listed, list | tuple) else ()):
        if isinstance(item, Mapping) and item.get("name") == name:
            return options.places.get(f"schema.columns.{index}.name") or options.span("schema")
    return options.places.get("schema") or options.span("path")


def _columns(
    block: Mapping[str, Value], options: Options, diagnostics: Diagnostics
) -> Iterator[tuple[Column, Callable[[], Span | None]]]:
    """The columns, each with what finds the location of its name: only an error asks for it."""
    fields, columns = block.get("fields"), block.get("columns")
    key = "fields"
    if options.seatunnel and fields is None and isinstance(columns, Mapping):
        fields, key = columns, "columns"  # found in jobs for SeaTunnel 2.3
    if isinstance(fields, Mapping):
        for name, text in fields.items():
            place = f"schema.{key}.{name}"
            sized = _type(text, place, options, diagnostics)
            column = Column(name, sized.type, length=sized.length, source_type=_source_type(text))
            yield column, partial(options.key_span, place)
    elif isinstance(columns, Sequence) and not isinstance(columns, str):
        for index, written in enumerate(columns):
            place = f"schema.columns.{index}"
            name_span = partial(options.places.get, f"{place}.name")
            yield from ((column, name_span) for column in _column(written, place, options, diagnostics))
    else:
        help = "fields { id = bigint, name = string }"
        diagnostics.error("PEN2005", "`schema` has neither `fields` nor `columns`", options.span("schema"), help)


def _column(declared: Value, place: str, options: Options, diagnostics: Diagnostics) -> Iterator[Column]:
    span = options.places.get(place) or options.span("schema.columns")
    if not isinstance(declared, Mapping) or not isinstance(declared.get("name"), str) or declared.get("type") is None:
        diagnostics.error("PEN2004", "a column is an object with `name` and `type`", span)
        return
    for key in declared:
        if key not in _COLUMN_KEYS:
            diagnostics.error(
                "PEN2003", f"a column has no `{key}`", options.key_span(f"{place}.{key}"),
                did_you_mean(key, _COLUMN_KEYS),
            )  # fmt: skip
    sized = _type(declared["type"], f"{place}.type", options, diagnostics)
    yield Column(
        str(declared["name"]),
        sized.type,
        nullable=bool(declared.get("nullable", True)),
        default=declared.get("defaultValue"),
        comment=_text(declared.get("comment")),
        length=_int(declared.get("columnLength")) or sized.length,
        scale=_int(declared.get("columnScale")),
        source_type=_source_type(declared["type"]),
    )


def _type(value: Value, place: str, options: Options, diagnostics: Diagnostics) -> SizedType:
    try:
        return type_of_value(value)
    except TypeTextError as cause:
        diagnostics.error("PEN4001", cause.message, _type_span(value, place, cause.offset, options), cause.help)
        return SizedType(UNKNOWN)


def _type_span(value: Value, place: str, offset: int, options: Options) -> Span | None:
    """From the invalid character to the end of the type's text, if the text is as written in the file."""
    text = options.texts.get(place)
    if text is not None and text.value == value and offset < len(text.value):
        return text.span(offset)
    return options.places.get(place) or options.span("schema")


def _unique(columns: Iterator[tuple[Column, Callable[[], Span | None]]], diagnostics: Diagnostics) -> Iterator[Column]:
    seen: set[str] = set()
    for column, name_span in columns:
        if column.name.lower() in seen:
            help = "names that differ in case only are one name"
            diagnostics.error("PEN4005", f"two columns are named `{column.name}`", name_span(), help)
        else:
            seen.add(column.name.lower())
            yield column


def _primary_key(
    block: Mapping[str, Value], names: set[str], options: Options, diagnostics: Diagnostics
) -> PrimaryKey | None:
    key = block.get("primaryKey")
    if not isinstance(key, Mapping):
        return None
    columns = _names(key.get("columnNames"), names, "schema.primaryKey", options, diagnostics)
    return PrimaryKey(columns, _text(key.get("name"))) if columns else None


def _constraints(
    block: Mapping[str, Value], names: set[str], options: Options, diagnostics: Diagnostics
) -> tuple[ConstraintKey, ...]:
    keys = block.get("constraintKeys")
    if not isinstance(keys, Sequence) or isinstance(keys, str):
        return ()
    return tuple(
        constraint
        for index, key in enumerate(keys)
        for constraint in _constraint(key, index, names, options, diagnostics)
    )


_INDEX: Final = ConstraintType.INDEX_KEY.value


def _constraint(
    key: Value, index: int, names: set[str], options: Options, diagnostics: Diagnostics
) -> Iterator[ConstraintKey]:
    place = f"schema.constraintKeys.{index}"
    span = options.places.get(place) or options.span("schema.constraintKeys")
    kinds = [member.value for member in ConstraintType]
    kind = str(key.get("constraintType", "")).upper() if isinstance(key, Mapping) else ""
    kind = _INDEX if kind == "KEY" else kind  # as SeaTunnel's page on schemas writes it
    if not isinstance(key, Mapping) or kind not in kinds:
        diagnostics.error("PEN2004", "a constraint is an object with a `constraintType`", span, _known(kinds))
        return
    parts = key.get("constraintColumns")
    order = {
        str(part.get("columnName")): str(part.get("sortType") or "ASC")
        for part in (parts if isinstance(parts, Sequence) else ())
        if isinstance(part, Mapping)
    }
    columns = _names(list(order), names, place, options, diagnostics)
    sorted_columns = tuple((name, order[name]) for name in columns)
    yield ConstraintKey(str(key.get("constraintName") or kind), ConstraintType(kind), sorted_columns)


def _names(value: Value, names: set[str], place: str, options: Options, diagnostics: Diagnostics) -> tuple[str, ...]:
    listed = [str(item) for item in value] if isinstance(value, Sequence) and not isinstance(value, str) else []
    for name in listed:
        if name.lower() not in names:
            span = options.places.get(place) or options.span("schema")
            diagnostics.error("PEN4008", f"a key names the column `{name}`, which the schema does not have", span)
    return tuple(name for name in listed if name.lower() in names)


def _path(block: Mapping[str, Value], name: str, options: Options, diagnostics: Diagnostics) -> TablePath:
    if block.get("table") is None:
        return TablePath(name)
    try:
        return TablePath.parse(str(block["table"]))
    except ValueError as cause:
        diagnostics.error("PEN2004", str(cause), options.places.get("schema.table") or options.span("schema"))
        return TablePath(name)


def _known(names: Sequence[str]) -> str:
    return "known: " + ", ".join(f"`{name}`" for name in names)


def _text(value: Value) -> str | None:
    return None if value is None else str(value)


def _source_type(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def _int(value: Value) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
