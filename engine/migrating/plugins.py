"""What plugins do otherwise under `--compat seatunnel`, written out as options of a strict job."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Final

import connectors
from catalog.options import Options
from catalog.types.datatypes import has_unknown
from connectors.files.file_types import can_hold
from engine.job.model.job import BlockKind
from engine.job.model.tree import Entry, ListNode, MapNode, Node, TextNode, plain
from engine.migrating.draft import Draft, as_node
from engine.migrating.file_globs import as_glob

_MOST_ROWS: Final = 1_000
"""The most rows of `rows` that are written out, since each reader generates all of them."""

_CSV_ONLY: Final = ("csv_use_header_line", "field_delimiter", "quote_char", "escape_char", "null_format")


def migrate_plugin(draft: Draft) -> None:
    """Change the options of one block so that they mean the same without the flag."""
    plugin = draft.block.plugin.lower()
    _schema(draft)
    if plugin == "fakesource":
        _fake_source(draft)
    elif plugin == "assert":
        _assert(draft)
    elif plugin == "http":
        _http(draft)
    elif plugin == "jdbc" and draft.block.kind is BlockKind.SINK:
        _jdbc_sink(draft)
    elif plugin in ("llm", "embedding"):
        _escape(draft, ("model", "prompt", "input"))
    elif _is_of_files(draft) and draft.block.kind is BlockKind.SOURCE:
        _file_source(draft)
    elif _is_of_files(draft) and draft.block.kind is BlockKind.SINK:
        _file_sink(draft)


def _is_of_files(draft: Draft) -> bool:
    names = {option.name for option in getattr(connectors.source(draft.block.plugin), "source_options", ())}
    return {"file_format_type", "parse_partition_from_path"} <= names


def _schema(draft: Draft) -> None:
    """`schema { columns { id = int } }` is `fields`."""
    schema = draft.options.get("schema")
    if isinstance(schema, MapNode) and isinstance(schema.get("columns"), MapNode) and schema.get("fields") is None:
        entries = (replace(entry, key="fields") if entry.key == "columns" else entry for entry in schema.entries)
        draft.put("schema", replace(schema, entries=tuple(entries)))


def _fake_source(draft: Draft) -> None:
    options, readers = draft.block.options, _readers(draft.block.options)
    for name in ("tables_configs", "table_list"):
        tables = draft.options.get(name)
        if isinstance(tables, ListNode) and readers > 1:
            items = tuple(_multiplied(item, readers) for item in tables.items)
            draft.put(name, replace(tables, items=items), f"row.num: as many for each of {readers} readers")
            return
    if not draft.block.options.is_valid or draft.block.tables:
        return
    rows = draft.options.get("rows")
    if isinstance(rows, ListNode):
        copies = _copies(options, readers)
        if copies > 1 and len(rows.items) * copies <= _MOST_ROWS:
            draft.put("rows", replace(rows, items=rows.items * copies),
                      f"SeaTunnel generates the rows {copies} times, once for each split of each reader")  # fmt: skip
        elif copies != 1:
            draft.refused.append(f"SeaTunnel generates the rows {copies} times (parallelism, split.num, row.num)")
    else:
        if readers > 1:
            number = options.integer("row.num")
            draft.put("row.num", number * readers, f"row.num: {number} for each of {readers} readers")
        types = " ".join(str(column.type) for column in (draft.table.columns if draft.table else ()))
        if ("date" in types or "timestamp" in types) and not options.get("date.year.template"):
            draft.put("date.year.template", [date.today().year], "SeaTunnel's random dates are of the current year")


def _readers(options: Options) -> int:
    return options.seatunnel.parallelism if options.seatunnel else 1


def _copies(options: Options, readers: int) -> int:
    rows, splits = options.integer("row.num"), options.integer("split.num")
    return readers * -(-rows // -(-rows // splits)) if rows else 0


def _multiplied(table: Node, readers: int) -> Node:
    """The table of a list with so many times its rows."""
    if not isinstance(table, MapNode) or table.get("rows") is not None:
        return table
    number = table.get("row.num")
    value = plain(number) if number is not None else 5
    entries = [entry for entry in table.entries if entry.key not in ("row.num", "row")]
    entries.append(Entry("row.num", table.place, as_node(int(str(value)) * readers, table.place)))
    return replace(table, entries=tuple(entries))


def _assert(draft: Draft) -> None:
    """Rules with `equals_to = null` check nothing; NULL equals every value there."""
    rules = draft.options.get("rules")
    if rules is None:
        return
    draft.options["rules"] = _with_rules(rules)
    if any(name == "equals_to" and value is not None for name, value in _leaves(plain(rules))):
        draft.put("null_equals_all", True, "in SeaTunnel, NULL equals every value of `equals_to`")


def _with_rules(node: Node) -> Node:
    match node:
        case ListNode(items):
            return replace(node, items=tuple(map(_with_rules, items)))
        case MapNode(entries):
            value = plain(node)
            if isinstance(value, Mapping) and str(value.get("field_type")).lower() == "null":
                rule = as_node([{"rule_type": "NULL"}], node.place)
                return replace(node, entries=tuple(
                    replace(entry, value=rule) if entry.key == "field_value" else entry
                    for entry in entries if entry.key != "field_type"
                ))  # fmt: skip
            if isinstance(value, Mapping) and "equals_to" in value and value["equals_to"] is None:
                kept = tuple(entry for entry in entries if entry.key != "equals_to")
                return replace(node, entries=kept) if kept else as_node(
                    {"rule_type": "MIN_LENGTH", "rule_value": 0}, node.place)  # fmt: skip
            return replace(node, entries=tuple(replace(e, value=_with_rules(e.value)) for e in entries))
        case _:
            return node


def _leaves(value: object) -> list[tuple[str, object]]:
    if isinstance(value, Mapping):
        return [pair for name, inner in value.items() for pair in [(str(name), inner), *_leaves(inner)]]
    return [pair for item in value for pair in _leaves(item)] if isinstance(value, list) else []


def _http(draft: Draft) -> None:
    """Placeholders of pages are escaped: `${page}` is a variable in a strict job."""
    if not draft.block.options.get("pageing.use_placeholder_replacement"):
        return
    names = [draft.block.options.get(f"pageing.{name}") for name in ("page_field", "cursor_field")]
    _escape(draft, [str(name) for name in names if name])


def _jdbc_sink(draft: Draft) -> None:
    """A table without a name has that of the rows."""
    table = draft.block.options.get("table")
    if table is not None and draft.options.get("table") is None:
        draft.put("table", str(table))


def _escape(draft: Draft, names: Iterable[str]) -> None:
    """Escape the plugin's own placeholders of these names: `$${input}` is no variable in a strict job."""
    for name in names:
        pattern = re.compile(r"(?<!\$)\$\{" + re.escape(name) + r"\}")
        draft.options = {key: _escaped(value, pattern) for key, value in draft.options.items()}


def _escaped(node: Node, pattern: re.Pattern[str]) -> Node:
    match node:
        case TextNode() if pattern.search(node.value):
            return as_node(pattern.sub(lambda found: f"${found.group()}", node.value), node.place)
        case ListNode(items):
            return replace(node, items=tuple(_escaped(item, pattern) for item in items))
        case MapNode(entries):
            return replace(node, entries=tuple(replace(e, value=_escaped(e.value, pattern)) for e in entries))
        case _:
            return node


def _file_source(draft: Draft) -> None:
    options = draft.block.options
    if not options.is_valid or draft.block.tables:
        for member in draft.members:
            _schema(member)
            _file_source(member)
        if draft.members:
            draft.gather()
        return
    pattern = options.optional_string("file_filter_pattern")
    if pattern is not None:
        _file_pattern(draft, pattern)
    for name in ("field_delimiter", "row_delimiter"):
        delimiter = draft.options.get(name)
        if isinstance(delimiter, TextNode) and delimiter.value != options.get(name):
            draft.put(name, str(options[name]))
    table = draft.table
    kind = options.string("file_format_type").lower()
    if not options.get("schema") and table is not None and table.schema.names[:1] == ("content",):
        if kind == "csv":
            for name in _CSV_ONLY:
                draft.drop(name)
            draft.put("file_format_type", "text", "a csv file without header and schema: each line is one text")
            draft.drop("format")
        draft.put("schema", {"fields": {"content": "string"}})
    keys = table.partition_keys if table is not None else ()
    if keys:
        _partitions(draft, keys)
    elif options.flag("parse_partition_from_path") and "." not in options.string("path").rpartition("/")[2]:
        draft.put("parse_partition_from_path", False, "SeaTunnel also reads the folders below `path`")
    if table is not None and options.strings("read_columns"):
        draft.put("read_columns", list(table.schema.names))
    _types(draft)


def _types(draft: Draft) -> None:
    """Types that the format lacks are texts in SeaTunnel."""
    kind = draft.block.options.string("file_format_type").lower()
    lacking = [column.name for column in (draft.table.columns if draft.table else ())
               if not has_unknown(column.type) and not can_hold(kind, column.type)]  # fmt: skip
    if lacking and kind not in ("binary", "text"):
        draft.put("types_as_text", True, f"{kind} files have no type for {', '.join(f'`{name}`' for name in lacking)}")


def _file_pattern(draft: Draft, pattern: str) -> None:
    glob = as_glob(pattern)
    if glob is None:
        draft.refused.append(f"`file_filter_pattern` is a regular expression, and no glob means `{pattern}`")
        draft.drop("file_filter_pattern")
    else:
        draft.put("file_filter_pattern", glob, f"`file_filter_pattern` is a glob, not the expression `{pattern}`")


def _partitions(draft: Draft, keys: tuple[str, ...]) -> None:
    """The columns of directories are texts in SeaTunnel, and have the type of their values here."""
    schema = draft.options.get("schema")
    fields = schema.get("fields") if isinstance(schema, MapNode) else None
    if isinstance(schema, MapNode) and isinstance(fields, MapNode):
        known = {entry.key.lower() for entry in fields.entries}
        new = [Entry(key, schema.place, as_node("string", schema.place)) for key in keys if key.lower() not in known]
        entries = (replace(entry, value=replace(fields, entries=(*fields.entries, *new))) if entry.key == "fields"
                   else entry for entry in schema.entries)  # fmt: skip
        draft.put("schema", replace(schema, entries=tuple(entries)), "the columns of directories, as texts")
    else:
        draft.notes.append(f"the columns of directories ({', '.join(keys)}) have the type of their values, not string")


def _file_sink(draft: Draft) -> None:
    options = draft.block.options
    if not options.is_valid:
        return
    if options.strings("partition_by") and not options.flag("have_partition"):
        draft.drop("partition_by", "`partition_by` left out: it has no effect without `have_partition`")
    draft.drop("have_partition")
    if options.string("file_format_type").lower() == "text" and not options.get("datetime_format"):
        draft.put("datetime_format", "yyyy-MM-dd HH:mm:ss")
    _types(draft)
