"""The options of a Jdbc sink, named as in Apache SeaTunnel, and the write that they describe."""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import EVOLUTION_OPTION, KEY_OPTIONS, SAVE_OPTIONS, Option, Options, OptionType
from catalog.outside import Fill
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.savemode import SchemaSaveMode, WriteMode
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import has_unknown
from connectors.interface.sink import refuse_plain_rows, refuse_unknown_columns, refuse_without_key
from connectors.jdbc.connection import CONNECTION_OPTIONS, check_connection, connection_of
from connectors.jdbc.database import ISOLATION_LEVELS
from connectors.jdbc.dialect import Dialect
from connectors.jdbc.known_dialects import dialect_of
from connectors.jdbc.source_options import check_table_name
from connectors.jdbc.table_location import check_place, in_own_database
from connectors.jdbc.table_names import parse_table_name
from connectors.jdbc.writing.sql_text import count_placeholders, insert_from, named_placeholders, split_statements
from connectors.jdbc.writing.staged_rows import Keyed
from connectors.jdbc.writing.target_names import check_names
from connectors.jdbc.writing.write_plan import WritePlan

_INTO: Final = re.compile(r"\s*insert\s+(?:ignore\s+)?into\s+([^\s(]+)", re.IGNORECASE)
_NO_EFFECT: Final = "No effect; it is accepted for SeaTunnel's job files: "
_WITHOUT_EFFECT: Final = (
    ("generate_sink_sql", "statements are generated unless `query` is given."),
    ("support_upsert_by_query_primary_key_exist", "an upsert needs no unique index anyway."),
    ("is_exactly_once", "every write is."),
    ("xa_data_source_class_name", "one transaction commits all sinks of a database."),
    ("max_commit_attempts", "a commit that was cut off is finished by `--resume`."),
    ("transaction_timeout_sec", "`lock_timeout_sec` says how long a commit waits."),
    ("auto_commit", "all rows of a run are committed together."),
    ("max_retries", "`job.retry.times` says how often a job is tried again."),
    ("use_copy_statement", "rows are loaded by COPY where that is possible."),
    ("multi_table_sink_replica", "Spark's tasks load in parallel."),
)

SINK_OPTIONS: Final = (
    *CONNECTION_OPTIONS,
    Option("database", OptionType.STRING, "The database, where `table` does not name it.", fill=Fill.NAME),
    Option(
        "table",
        OptionType.STRING,
        "The table: `schema.table`, `database.schema.table` or `table`.",
        fill=Fill.TABLE,
    ),
    Option("table_prefix", OptionType.STRING, "What the table's name begins with.", alternatives=("tablePrefix",)),
    Option("table_suffix", OptionType.STRING, "What the table's name ends with.", alternatives=("tableSuffix",)),
    Option(
        "query",
        OptionType.STRING,
        "An INSERT in the database's own SQL with a `?` for each column of the rows, or `:name` for the column `name`, "
        "instead of a generated one.",
        fill=Fill.SQL,
    ),
    *KEY_OPTIONS,
    Option(
        "enable_upsert",
        OptionType.BOOLEAN,
        "Whether `primary_keys` make upserts of the rows where no `write_mode` is given.",
        default=True,
    ),
    Option(
        "create_index",
        OptionType.BOOLEAN,
        "Whether a new table gets its primary key. Without it, loads are faster and upserts slower.",
        default=True,
    ),
    Option(
        "field_ide",
        OptionType.STRING,
        "The case of the table's name and its columns' names: as they are, or in upper or lower case.",
        default="ORIGINAL",
        choices=("ORIGINAL", "UPPERCASE", "LOWERCASE"),
    ),
    Option(
        "custom_sql",
        OptionType.STRING,
        "Statements of data_save_mode CUSTOM_PROCESSING, with `;` between.",
        fill=Fill.SQL,
    ),
    EVOLUTION_OPTION,
    Option("batch_size", OptionType.INTEGER, "Rows that are sent at a time.", default=5000, minimum=1),
    Option("isolation_level", OptionType.STRING, "Isolation of the commit.", choices=tuple(ISOLATION_LEVELS)),
    Option(
        "lock_timeout_sec",
        OptionType.INTEGER,
        "Seconds after which a commit gives up that waits for another transaction.",
        default=60,
        minimum=1,
    ),
    *(Option(name, OptionType.ANY, _NO_EFFECT + reason) for name, reason in _WITHOUT_EFFECT),
    *SAVE_OPTIONS,
)


def check_sink(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report errors of the options for the incoming rows."""
    is_known = check_connection(options, diagnostics)
    query = options.optional_string("query")
    if options.get("table") is not None:
        check_table_name(options, "table", diagnostics)
    elif query is None:
        diagnostics.error("PEN2011", "neither `table` nor `query` says where to write", options.span(), 'table = "t"')
    if query is not None:
        _check_query(query, options, table, diagnostics)
    _check_custom_sql(options, diagnostics)
    _check_keys(options, table, diagnostics)
    dialect = dialect_of(options.string("url"))
    if is_known and dialect is not None:
        if options.get("table") is not None:
            check_place(dialect, options, "table", diagnostics)
            with suppress(ValueError):  # reported with the name
                check_names(dialect, _written_name(options), options, table, diagnostics)
        _check_isolation(dialect, options, diagnostics)
        _check_ddl(dialect, options, diagnostics)
        _check_types(dialect, options, table, diagnostics)
        if dialect.set_type is None and options.string("schema_evolution").lower() == SchemaEvolution.WIDEN.value:
            message = f"{dialect.name} cannot change the type of a column"
            help = "schema_evolution = add_columns"
            diagnostics.error("PEN2011", message, options.span("schema_evolution"), help)


def _check_isolation(dialect: Dialect, options: Options, diagnostics: Diagnostics) -> None:
    level = options.optional_string("isolation_level")
    if level is not None and level.upper() not in dialect.isolation_levels:
        message = f"{dialect.name} has no isolation level {level.upper()}"
        help = f"isolation_level = {' or '.join(dialect.isolation_levels)}"
        diagnostics.error("PEN2004", message, options.span("isolation_level"), help)


def _check_ddl(dialect: Dialect, options: Options, diagnostics: Diagnostics) -> None:
    """Refuse changes of tables that a failed commit could not take back."""
    if dialect.undoes_created_tables:
        return
    what = f"{dialect.name} commits each change of a table at once: a failed commit could not take it back"
    if str(options["schema_save_mode"]).upper() == SchemaSaveMode.RECREATE_SCHEMA.value:
        help = "schema_save_mode = ERROR_WHEN_SCHEMA_NOT_EXIST keeps the table that is there"
        diagnostics.error("PEN4004", what, options.span("schema_save_mode"), help)
    if options.string("schema_evolution").lower() != SchemaEvolution.FAIL.value:
        diagnostics.error("PEN2011", what, options.span("schema_evolution"), "add the columns to the table first")


def target_of(options: Options) -> tuple[str, ...]:
    """The name of the table that is written to, as a connection of the job addresses it."""
    return in_own_database(connection_of(options), _written_name(options))


def _written_name(options: Options) -> tuple[str, ...]:
    name = options.optional_string("table")
    if name is None:
        match = _INTO.match(options.string("query"))
        return parse_table_name(match[1]) if match else ()
    *path, table = parse_table_name(name)
    if options.seatunnel is not None:  # it takes a schema and a table from the end of the name (JdbcSinkFactory)
        path = path[-1:]
    prefix, suffix = (options.optional_string(f"table_{part}") or "" for part in ("prefix", "suffix"))
    parts = (*path, in_case(f"{prefix}{table}{suffix}", options))
    database = options.optional_string("database")
    dialect = dialect_of(options.string("url"))
    if database is not None and dialect is not None and dialect.quotes == "``":
        return (database, parts[-1])
    return (database, *parts) if database is not None and len(parts) == 2 else parts


def in_case(name: str, options: Options) -> str:
    """The name of a table or column as `field_ide` says; a `query` has its own names."""
    if name == ROW_KIND or options.get("query") is not None:
        return name
    match options.string("field_ide").upper():
        case "UPPERCASE":
            return name.upper()
        case "LOWERCASE":
            return name.lower()
        case _:
            return name


def cased(table: CatalogTable, options: Options) -> CatalogTable:
    """The table with its names as `field_ide` says."""
    schema, key = table.schema, table.schema.primary_key
    columns = tuple(replace(column, name=in_case(column.name, options)) for column in schema.columns)
    if key is not None:
        key = replace(key, columns=tuple(in_case(name, options) for name in key.columns))
    return replace(table, schema=replace(schema, columns=columns, primary_key=key))


def completed(options: Options) -> Options:
    """The options, with the incoming table's name as that of the target if a job of SeaTunnel names none."""
    is_sink = "generate_sink_sql" in options.values
    if not is_sink or options.seatunnel is None or any(options.get(name) for name in ("table", "query")):
        return options
    return replace(options, values={**options.values, "table": "${table_name}"})


def default_write_mode(options: Options, table: CatalogTable) -> WriteMode:
    """As in Apache SeaTunnel: upsert if there are keys; under its flag also those of the rows' own primary key, and a
    `query` alone says what happens to a row."""
    keys, key = options.strings("primary_keys"), table.schema.primary_key
    if options.seatunnel is not None:
        if options.get("query") is not None:
            return WriteMode.APPEND
        keys = keys or (key.columns if key else ())
    return WriteMode.UPSERT if keys and options.flag("enable_upsert") else WriteMode.APPEND


def plan_of(options: Options, table: CatalogTable, keys: tuple[str, ...], is_keyed: bool) -> WritePlan:
    """The write that the options describe; `is_keyed`: rows are matched by their key."""
    sequence = options.optional_string("sequence_field") if is_keyed else None
    sequence = None if sequence is None else in_case(sequence, options)
    keys = tuple(in_case(name, options) for name in keys)
    deletes = options.optional_string("delete_condition") if is_keyed else None
    custom = options.optional_string("custom_sql")
    return WritePlan(
        connection_of(options),
        Keyed(keys, sequence, deletes, is_keyed),
        options.optional_string("query"),
        split_statements(custom) if custom else (),
        options.integer("batch_size"),
        cased(table, options),
        options.string("schema_evolution").lower() == SchemaEvolution.WIDEN.value,
        options.flag("create_index"),
    )


def _check_custom_sql(options: Options, diagnostics: Diagnostics) -> None:
    mode, is_given = str(options["data_save_mode"]).upper(), bool(options.get("custom_sql"))
    if mode == "CUSTOM_PROCESSING" and not is_given:
        help = """custom_sql = "delete from t where day = '2026-01-31'\""""
        diagnostics.error("PEN2011", "CUSTOM_PROCESSING needs `custom_sql`", options.span("data_save_mode"), help)
    elif is_given and mode != "CUSTOM_PROCESSING" and options.seatunnel is None:
        message, help = f"data_save_mode {mode} runs no `custom_sql`", "data_save_mode = CUSTOM_PROCESSING"
        diagnostics.warning("PEN2011", message, options.span("custom_sql"), help)


def _check_query(query: str, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    count, named = count_placeholders(query), named_placeholders(query)
    names = named or tuple(f"c{index}" for index in range(count))
    unknown = [] if table.is_open else [name for name in named if name not in table.schema.names]
    if _INTO.match(query) is None or insert_from(query, dict(zip(names, names, strict=True)), "s") is None:
        help = 'query = "insert into t (a, b) values (?, ?)"; `write_mode` and `table` do updates and deletes'
        message = "`query` is not an INSERT INTO … VALUES with one row of values"
        diagnostics.error("PEN2004", message, options.span("query"), help)
    elif unknown:
        message = f"`query` has the placeholder `:{unknown[0]}`, and the rows have no such column"
        diagnostics.error("PEN2004", message, options.span("query"), did_you_mean(unknown[0], table.schema.names))
    elif not named and not table.is_open and count != len(table.columns):
        message = f"`query` has {count} placeholders, the rows have {len(table.columns)} columns"
        diagnostics.error("PEN2004", message, options.span("query"), "select the columns in the query's order")


def _check_keys(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    sequence = options.get("sequence_field")
    refuse_unknown_columns(options.strings("primary_keys"), "primary_keys", options, table, diagnostics)
    refuse_unknown_columns(() if sequence is None else (str(sequence),), "sequence_field", options, table, diagnostics)
    is_given = options.get("write_mode") is not None
    mode = options.choice("write_mode", WriteMode) if is_given else default_write_mode(options, table)
    refuse_without_key(mode, "primary_keys", options, table, diagnostics)
    if mode in (WriteMode.UPSERT, WriteMode.CHANGELOG) and options.get("query") is not None:
        message = "`query` adds rows; it excludes write_mode upsert and changelog"
        diagnostics.error("PEN2011", message, options.span("query"), "write to a `table` instead")
    refuse_plain_rows(mode, options, table, diagnostics)


def _check_types(dialect: Dialect, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    for column in table.columns:
        if not has_unknown(column.type) and dialect.column_type(column.type) is None:
            message = f"{dialect.name} has no type for the column `{column.name}` of type {column.type}"
            diagnostics.error("PEN4003", message, options.span("table"), "cast it to string")
