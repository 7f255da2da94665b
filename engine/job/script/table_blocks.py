"""CREATE TABLE … WITH (…) -> the options of a source or sink."""

from collections.abc import Iterator, Sequence

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText
from catalog.options import STORE_ASSIGNMENT, Option
from engine.job.model.job import ColumnMatch
from engine.job.model.tree import Entry
from engine.job.options.column_match import MATCH_COLUMNS
from engine.job.script.query_blocks import definition
from engine.job.script.schema_block import schema_entry
from engine.job.script.table_names import ScriptName
from engine.job.script.tree_nodes import entry, generated, list_node, text_node
from engine.job.script.with_options import named, option_entries, sink_spec, source_spec
from sql.script.statements import CreateTable, Insert, Property

ROLES = ("source", "sink")


def connector_of(table: CreateTable, diagnostics: Diagnostics) -> PlacedText | None:
    """The value of `'connector'`; if there is none, that is reported."""
    written = _property(table, "connector")
    if written is None:
        help = did_you_mean("connector", [property.key.value for property in table.properties])
        message = f"the table `{table.name.value}` names no connector"
        diagnostics.error("PEN2005", message, table.name.span(), help or "add 'connector' = '…' to its WITH list")
        return None
    return written.value


def is_role(relation: ScriptName, role: str) -> bool:
    """Whether the table is used so; `'type'` decides where its use leaves it open."""
    table = relation.statement
    assert isinstance(table, CreateTable)
    declared = _property(table, "type")
    word = declared.value.value.lower() if declared else None
    if role == "sink":
        return relation.is_written
    return relation.is_source and (relation.is_read or not (word == "sink" or _looks_like_sink(table)))


def check_role(relation: ScriptName, table: CreateTable, diagnostics: Diagnostics) -> None:
    """Report a `'type'` that the script contradicts, and a sink that nothing goes into."""
    declared = _property(table, "type")
    role = declared.value.value.lower() if declared else None
    if declared and role not in ROLES:
        diagnostics.error("PEN2004", f"`{declared.value.value}` is neither `source` nor `sink`", declared.value.span())
    elif declared and role == "source" and relation.is_written:
        diagnostics.error(
            "PEN2011", f"`{relation.name}` is declared a source, and rows are inserted into it", declared.value.span()
        )
    elif declared and role == "sink" and relation.is_read:
        diagnostics.error("PEN2011", f"`{relation.name}` is read, and declared a sink", declared.value.span())
    if not relation.is_written and not relation.is_read and (role == "sink" or _looks_like_sink(table)):
        diagnostics.warning("PEN2009", f"nothing is inserted into `{relation.name}`", table.name.span())


def _looks_like_sink(table: CreateTable) -> bool:
    """Whether it has options that the connector's sink takes and its source does not."""
    source, sink = source_spec(_connector(table)), sink_spec(_connector(table))
    if connectors.source(_connector(table)) is None:
        return connectors.sink(_connector(table)) is not None
    keys = [property.key.value for property in table.properties]
    return any(named(sink, key) is not None and named(source, key) is None for key in keys)


def source_entries(relation: ScriptName, table: CreateTable, diagnostics: Diagnostics) -> Iterator[Entry]:
    spec = source_spec(_connector(table))
    if schema := schema_entry(table, diagnostics):
        yield schema
    yield from option_entries(spec, _options(relation, table, spec, sink_spec(_connector(table))), diagnostics)


def sink_entries(relation: ScriptName, table: CreateTable, diagnostics: Diagnostics) -> Iterator[Entry]:
    spec = sink_spec(_connector(table))
    written = _options(relation, table, spec, source_spec(_connector(table)))
    yield from option_entries(spec, written, diagnostics)
    given = {property.key.value for property in written}
    yield from _save_mode(relation, table, written, diagnostics)
    lists = {"partition_by": table.partitioned_by}
    lists["primary_keys"] = next((key.columns for key in table.keys if key.is_primary), ())
    for option, columns in lists.items():
        if not columns or option in given:
            continue
        if named(spec, option):
            yield entry(option, list_node(map(text_node, columns), columns[0]))
        elif option == "partition_by":
            message = f"`{_connector(table)}` has no `partition_by`"
            diagnostics.error("PEN2011", message, columns[0].span(), "leave PARTITIONED BY out")


def match_entries(relation: ScriptName, table: CreateTable) -> Iterator[Entry]:
    """How the columns of the rows behind the first are matched with those, where the table declares none: as in Spark,
    by position unless BY NAME or a list of columns is written."""
    if table.columns:
        return
    by_name = [bool(insert.by_name or insert.columns) for insert in relation.inserts]
    matches = [ColumnMatch.NAME if named else ColumnMatch.POSITION for named in by_name]
    matches = matches if table.query is not None else matches[1:]
    matches += [ColumnMatch.EXACT] * (len(relation.rejects) if relation.inserts or table.query else 0)
    if set(matches) - {ColumnMatch.EXACT}:
        words = [text_node(generated(match.value, table.name)) for match in matches]
        yield entry(MATCH_COLUMNS.name, words[0] if len(set(matches)) == 1 else list_node(words, table.name))


def declared_entries(table: CreateTable, insert: Insert) -> Iterator[Entry]:
    """The declared columns that the rows of an INSERT are stored in, for its query."""
    if not table.columns:
        return
    columns = [text_node(generated(definition(column), insert.target)) for column in table.columns]
    yield entry("columns", list_node(columns, insert.target))
    if policy := _property(table, STORE_ASSIGNMENT.name):
        yield entry(STORE_ASSIGNMENT.name, text_node(policy.value))


def _save_mode(
    relation: ScriptName, table: CreateTable, written: Sequence[Property], diagnostics: Diagnostics
) -> Iterator[Entry]:
    """What INSERT OVERWRITE says, as the option that says it."""
    overwriting = [insert for insert in relation.inserts if insert.overwrite]
    if not overwriting:
        return
    first = overwriting[0]
    if len(overwriting) < len(relation.inserts):
        message = f"INSERT INTO and INSERT OVERWRITE of one table, `{relation.name}`"
        diagnostics.error("PEN2011", message, first.target.span(), "all rows of a table are written in one way")
    option, value = ("write_mode", "overwrite_partitions") if first.partition else ("data_save_mode", "DROP_DATA")
    before = next((property for property in written if property.key.value == option), None)
    if named(sink_spec(_connector(table)), option) is None:
        what = "replaces no partitions" if first.partition else "keeps no rows that could be replaced"
        message = f"`{relation.name}` is a {_connector(table)}, which {what}"
        diagnostics.error("PEN2011", message, first.target.span(), "write INSERT INTO")
    elif before is None:
        yield entry(option, text_node(generated(value, first.target)))
    elif before.value.value.upper() != value.upper():
        message = f"`{option}` is `{before.value.value}`, and INSERT OVERWRITE means `{value}`"
        diagnostics.error("PEN2011", message, before.value.span())


def _options(
    relation: ScriptName, table: CreateTable, spec: Sequence[Option], other: Sequence[Option]
) -> list[Property]:
    """The WITH list without what is not the connector's; of a table both read and written, what is the other role's."""
    both = relation.is_source and relation.is_written
    return [
        property
        for property in table.properties
        if property.key.value.lower() not in ("connector", "type")
        and not (both and named(spec, property.key.value) is None and named(other, property.key.value) is not None)
    ]


def _property(table: CreateTable, name: str) -> Property | None:
    return next((property for property in table.properties if property.key.value.lower() == name), None)


def _connector(table: CreateTable) -> str:
    written = _property(table, "connector")
    return written.value.value if written else ""
