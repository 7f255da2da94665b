"""The options that the sources of changes share, named as in Apache SeaTunnel's `MySQL-CDC` and `Postgres-CDC`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType, Value
from catalog.tables.table import TablePath
from connectors.interface.schema_option import SCHEMA_OPTION
from connectors.interface.source import STREAM
from connectors.jdbc.connection import CONNECTION_OPTIONS
from connectors.jdbc.table_names import parse_table_name

TABLES: Final = "table-names"
PATTERN: Final = "table-pattern"
ONE_TABLE: Final = "table"
"""The table of a set that a block has become; no job writes it."""

SCHEMA_CHANGES: Final = "schema-changes.enabled"
_NO_EFFECT: Final = "No effect; it is accepted for SeaTunnel's job files: "
_WITHOUT_EFFECT: Final = {
    "snapshot.split.size": "a snapshot is one consistent read.",
    "snapshot.fetch.size": "a snapshot is streamed.",
    "incremental.parallelism": "one reader reads the log.",
    "exactly_once": "each change is read once in any case.",
    "connect.timeout.ms": "`connection_check_timeout_sec` limits an attempt to connect.",
    "connect.timeout": "`connection_check_timeout_sec` limits an attempt to connect.",
    "connect.max-retries": "a lost connection is opened again five times.",
    "connection.pool.size": "a reader has one connection.",
    "chunk-key.even-distribution.factor.upper-bound": "a snapshot is one consistent read.",
    "chunk-key.even-distribution.factor.lower-bound": "a snapshot is one consistent read.",
    "sample-sharding.threshold": "a snapshot is one consistent read.",
    "inverse-sampling.rate": "a snapshot is one consistent read.",
    "server-time-zone": "values are read in UTC, whatever the server's time zone.",
    "debezium": "no Debezium runs: the log is read by Penstock.",
    "int_type_narrowing": "columns have the database's types.",
}

_OWN: Final = {
    "url": "The JDBC URL of the database. The log is read by a client of Python, a snapshot of a batch job by JDBC.",
}


def capture_options(table_example: str, *own: Option, start_modes: Sequence[str]) -> tuple[Option, ...]:
    """The options of a source of changes, with those of its own."""
    return (
        *_connection_options(),
        Option(TABLES, OptionType.ANY, f"The tables: a list of `{table_example}`, or one text, separated by commas.",
               alternatives=("table-name",)),
        Option(PATTERN, OptionType.STRING,
               "Instead of `table-names`, a regular expression: all tables whose name with its database matches, as "
               "`penstock schema sync` has recorded them."),
        Option("database-names", OptionType.ANY, "The databases of tables that are named without one.",
               alternatives=("database-name",)),
        Option("schema-names", OptionType.ANY, "The schemas of tables that are named without one."),
        Option("table-names-config", OptionType.LIST,
               f"What identifies the rows of a table without a primary key: `[{{ table = {table_example}, "
               "primaryKeys = [id] }}]`.".replace("}}", "}")),
        Option("startup.mode", OptionType.STRING,
               "Where a new stream starts: `initial`, with a snapshot of the tables; `latest`, with the changes from "
               "now on. Others by connector.", default="initial", choices=tuple(start_modes)),
        Option("stop.mode", OptionType.STRING,
               "`never`, or `latest`: the stream ends once it has read the changes that there are when it starts.",
               default="never", choices=("never", "latest", "specific", "timestamp")),
        Option("changes", OptionType.STRING,
               "`net`: a micro-batch has one row for each key of a table, what its changes make of it in all, as sinks "
               "need it that find rows by their key. `all`: each change. Tables without a key have all changes.",
               default="net", choices=("net", "all")),
        Option("max_changes", OptionType.INTEGER,
               "How many changes of a table the reader holds for the next micro-batch before it waits. A transaction "
               "is never split, and is held in the memory of the driver.", default=100_000, minimum=1),
        Option(SCHEMA_CHANGES, OptionType.BOOLEAN,
               "Whether columns that are added to a table are added to the rows. Otherwise such a change stops the "
               "stream, unless the job's `schema` names the columns to read.", default=False),
        Option("format", OptionType.STRING, "`default`: rows with their kinds.", default="default",
               choices=("default", "compatible_debezium_json")),
        *own,
        *(Option(name, OptionType.ANY, _NO_EFFECT + why) for name, why in _WITHOUT_EFFECT.items()),
        STREAM,
        SCHEMA_OPTION,
    )  # fmt: skip


def _connection_options() -> Iterator[Option]:
    for option in CONNECTION_OPTIONS:
        if option.name == "url":
            yield replace(option, doc=_OWN["url"], alternatives=("base-url",))
        else:
            yield option


def listed(value: Value) -> tuple[str, ...]:
    """The texts of a list or of one text, separated by commas outside of quotes."""
    texts = value if isinstance(value, Sequence) and not isinstance(value, str) else [] if value is None else [value]
    parts = (part.strip() for text in texts for part in re.findall(r'(?:"[^"]*"|`[^`]*`|[^,])+', str(text)))
    return tuple(dict.fromkeys(part for part in parts if part))


def tables_named(options: Options, diagnostics: Diagnostics) -> tuple[tuple[str, ...], ...]:
    """The names of the tables of a block, each of one to three parts; one that is none is reported (PEN2004)."""
    chosen = options.values.get(ONE_TABLE)
    found = []
    for text in (str(chosen),) if chosen else listed(options.get(TABLES)):
        try:
            found.append(parse_table_name(text))
        except ValueError:
            diagnostics.error("PEN2004", f"`{text}` is not the name of a table", options.span(TABLES))
    return tuple(found)


def keys_given(options: Options, diagnostics: Diagnostics) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """What identifies the rows of tables, by their names as written, where the job says so."""
    found = {}
    entries = options.get("table-names-config")
    for index, entry in enumerate(entries if isinstance(entries, Sequence) and not isinstance(entries, str) else ()):
        keys = listed(entry.get("primaryKeys")) if isinstance(entry, Mapping) else ()
        table = str(entry.get("table") or "") if isinstance(entry, Mapping) else ""
        try:
            name = parse_table_name(table)
        except ValueError:
            span = options.places.get(f"table-names-config.{index}") or options.span("table-names-config")
            diagnostics.error("PEN2004", "an entry is an object with `table` and `primaryKeys`", span)
            continue
        if keys:
            found[name] = keys
    return found


def pattern_given(options: Options) -> re.Pattern[str] | None:
    """The pattern of tables; None without one, or where it is invalid, which `check_capture` reports."""
    text = options.optional_string(PATTERN)
    if text is None or options.values.get(ONE_TABLE) or options.get(TABLES) is not None:
        return None
    try:
        return re.compile(text)
    except re.error:
        return None


def check_capture(options: Options, diagnostics: Diagnostics) -> None:
    """Report options of a source of changes that do not fit together."""
    pattern = options.optional_string(PATTERN)
    if options.get(TABLES) is None and pattern is None and not options.values.get(ONE_TABLE):
        diagnostics.error("PEN2005", f"`{TABLES}` is missing", options.span(), f'{TABLES} = ["shop.orders"]')
    elif not tables_named(options, diagnostics) and pattern is None and not diagnostics.has_errors:
        diagnostics.error("PEN2004", f"`{TABLES}` names no table", options.span(TABLES))
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as cause:
            message = f"`{pattern}` is not a regular expression: {cause}"
            diagnostics.error("PEN2004", message, options.span(PATTERN))
    keys_given(options, diagnostics)
    if str(options["format"]).lower() != "default":
        message = "records of Debezium are not written: rows have kinds, which sinks apply"
        help = "leave `format` out; the Kafka sink writes `format = debezium_json`"
        diagnostics.error("PEN4440", message, options.span("format"), help)
    stop = str(options["stop.mode"]).lower()
    if stop in ("specific", "timestamp"):
        message = f"`stop.mode = {stop}` is not supported: a stream ends at what is there when it starts, or never"
        diagnostics.error("PEN4441", message, options.span("stop.mode"), "stop.mode = latest")


def path_of_table(name: Sequence[str]) -> TablePath:
    return TablePath(name[-1], *reversed(name[:-1]))
