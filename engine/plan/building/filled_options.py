"""The options of a sink for one table: `${table_name}` and similar placeholders replaced by its names."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.shown_names import shown_name
from catalog.diagnostics.source import PlacedText
from catalog.options import Option, Options, Value
from catalog.outside import PLACEHOLDER, Fill, Outside, UnfitError, fill
from catalog.tables.table import CatalogTable


def filled(options: Options, spec: Iterable[Option], table: CatalogTable, diagnostics: Diagnostics) -> Options | None:
    """The options with the table's names in the places of their placeholders; others stay as they are.

    Each name is encoded for what its option is. None if a name does not fit there, which is reported (PEN4601).
    """
    known, kinds = _placeholders(table), {option.name: option.fill for option in spec}
    values, texts, is_sound = {}, dict(options.texts), True
    for name, value in options.values.items():
        try:
            kind = kinds.get(name, Fill.PLAIN)
            values[name] = _fill(value, kind, known)
            if kind is Fill.KEY and values[name] != value and values[name] in table.schema.names:
                raise UnfitError("it is also the name of a column, whose values would be the keys")
            if (text := texts.get(name)) is not None:
                texts[name] = _filled_text(text, kind, known)
        except UnfitError as error:
            is_sound = False
            message = f"the table `{shown_name(str(table.path))}` cannot be written: in `{name}`, {error}"
            help = "name the target without the placeholder, rename the table with `TableRename`, or leave it out"
            diagnostics.error("PEN4601", message, options.span(name), help)
    if not is_sound:
        return None
    return options if values == dict(options.values) else replace(options, values=values, texts=texts)


def _filled_text(text: PlacedText, kind: Fill, known: Mapping[str, Outside]) -> PlacedText:
    value = fill(kind, text.value, known)
    if value == text.value:
        return text
    return PlacedText.join([text.slice(0, 1), value]).slice(1, len(value) + 1)


def _placeholders(table: CatalogTable) -> dict[str, Outside]:
    """The placeholders of SeaTunnel's sinks; keys and columns are lists."""
    path, key = table.path, table.schema.primary_key
    unique = [constraint for constraint in table.schema.constraint_keys if constraint.type.value == "UNIQUE_KEY"]
    full = tuple(part for part in (path.catalog, path.database, path.schema, path.table) if part)
    return {
        "database_name": Outside.of(path.database),
        "schema_name": Outside.of(path.schema),
        "schema_full_name": Outside(tuple(part for part in (path.database, path.schema) if part), "."),
        "table_name": Outside.of(path.table),
        "table_full_name": Outside(full, "."),
        "primary_key": Outside(key.columns if key else ()),
        "unique_key": Outside(tuple(dict.fromkeys(name for constraint in unique for name, _ in constraint.columns))),
        "field_names": Outside(table.schema.names),
        "partition_keys": Outside(table.partition_keys),
        "comment": Outside.of(table.comment),
    }


def _fill(value: Value, kind: Fill, known: Mapping[str, Outside]) -> Value:
    match value:
        case str():
            return fill(kind, value, known) if "${" in value else value
        case Mapping():
            return {name: _fill(inner, kind, known) for name, inner in value.items()}
        case list() | tuple():
            return [part for item in value for part in _spread(item, kind, known)]
        case _:
            return value


def _spread(item: Value, kind: Fill, known: Mapping[str, Outside]) -> tuple[Value, ...]:
    """A list's element that is a placeholder of a list becomes its elements: `["${primary_key}"]`."""
    match = PLACEHOLDER.fullmatch(item) if isinstance(item, str) else None
    if match is None or match[1] not in known:
        return (_fill(item, kind, known),)
    values = tuple(fill(Fill.NAME, "${it}", {"it": Outside.of(part)}) for part in known[match[1]].parts)
    return values or tuple(part.strip() for part in (match[2] or "").split(",") if part.strip())
