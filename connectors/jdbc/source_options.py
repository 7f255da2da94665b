"""The options of a Jdbc source, named as in Apache SeaTunnel, and the read that they describe."""

from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable
from connectors.interface.incremental import INCREMENTAL
from connectors.interface.schema_option import SCHEMA_OPTION
from connectors.jdbc.connection import CONNECTION_OPTIONS, connection_of
from connectors.jdbc.known_dialects import dialect_of
from connectors.jdbc.old_times import EXACT_TIMES
from connectors.jdbc.partitions import Partitioning
from connectors.jdbc.reading import Reading
from connectors.jdbc.table_location import check_place
from connectors.jdbc.table_names import parse_table_name, path_of
from connectors.matching.table_patterns import check_pattern, use_regex_option
from connectors.shared.tolerated import report_without_effect

_NO_EFFECT: Final = "No effect; it is accepted for SeaTunnel's job files: "
_WITHOUT_EFFECT: Final = (
    ("split.even-distribution.factor.lower-bound", "ranges are even between the bounds."),
    ("split.even-distribution.factor.upper-bound", "ranges are even between the bounds."),
    ("split.sample-sharding.threshold", "no rows are sampled."),
    ("split.inverse-sampling.rate", "no rows are sampled."),
    ("split.string_split_mode", "string columns are split by hash."),
    ("split.string_split_mode_collate", "string columns are split by hash."),
    ("use_select_count", "rows are counted only for `split.size`."),
    ("skip_analyze", "no table is analyzed."),
    ("compatible_mode", "the dialect follows from the URL."),
    ("max_retries", "`job.retry.times` says how often a job is tried again."),
)

SOURCE_OPTIONS: Final = (
    *CONNECTION_OPTIONS,
    Option("table_path", OptionType.STRING, "The table: `schema.table`, `database.schema.table` or `table`."),
    use_regex_option("`table_path`", "as `penstock schema sync` has recorded them"),
    Option("query", OptionType.STRING, "A query in the database's own SQL; `table_path` then only names its rows."),
    Option("where_condition", OptionType.STRING, "A condition in the database's own SQL that holds for all rows read."),
    Option("partition_column", OptionType.STRING, "Column by which the read is split: a number, date or string."),
    Option("partition_num", OptionType.INTEGER, "Partitions of the read; by default one for each core.", minimum=1),
    Option(
        "partition_lower_bound",
        OptionType.STRING,
        "The column's least value, if it is known: else it is asked for. It limits no rows.",
    ),
    Option("partition_upper_bound", OptionType.STRING, "The column's greatest value, as `partition_lower_bound`."),
    Option("split.size", OptionType.INTEGER, "Rows of a partition, instead of `partition_num`.", minimum=1),
    Option(
        "max_connections",
        OptionType.INTEGER,
        "The most connections by which the job's sources read the database at once; pipelines queue for them.",
        minimum=1,
    ),
    Option("fetch_size", OptionType.INTEGER, "Rows that the driver fetches at a time.", default=10_000, minimum=0),
    Option(
        EXACT_TIMES,
        OptionType.BOOLEAN,
        "Whether the database writes dates and times as texts, which Spark reads: what is before 1582-10-25 is then "
        "what the database has. Slower, and filters on these columns are not pushed into the database.",
        default=False,
    ),
    *(Option(name, OptionType.ANY, _NO_EFFECT + reason) for name, reason in _WITHOUT_EFFECT),
    INCREMENTAL,
    SCHEMA_OPTION,
)


def check_source(options: Options, diagnostics: Diagnostics) -> None:
    """Report errors that the option spec cannot express."""
    named = [name for name in ("table_path", "query") if options.get(name) is not None]
    if not named:
        help = 'table_path = "schema.table"'
        diagnostics.error("PEN2011", "neither `table_path` nor `query` says what to read", options.span(), help)
    if options.flag("use_regex"):
        _check_pattern(options, diagnostics)
    elif options.get("table_path") is not None:
        check_table_name(options, "table_path", diagnostics)
        dialect = dialect_of(options.string("url"))
        if dialect is not None and dialect.url_shape.fullmatch(options.string("url").strip()):
            check_place(dialect, options, "table_path", diagnostics)
    if options.get("partition_column") is None:
        for name in ("partition_num", "partition_lower_bound", "partition_upper_bound", "split.size"):
            if options.get(name) is not None:
                message = f"`{name}` has no effect without `partition_column`"
                report_without_effect(name, message, "name the column that splits the read", options, diagnostics)
    elif options.get("split.size") is not None and options.get("partition_num") is not None:
        message = "`split.size` has no effect beside `partition_num`"
        report_without_effect("split.size", message, "leave one of them out", options, diagnostics)


def _check_pattern(options: Options, diagnostics: Diagnostics) -> None:
    if options.get("query") is not None:
        message = "`use_regex` reads tables, and `query` reads none"
        diagnostics.error("PEN2011", message, options.span("use_regex"), "remove `query`, or `use_regex`")
    check_pattern(options, "table_path", "public.orders_\\\\d+", diagnostics)


def named_table(options: Options, table: CatalogTable) -> CatalogTable:
    """The table under the name that `table_path` gives it, unless its `schema` names it."""
    name = options.optional_string("table_path")
    if name is None or options.mapping("schema").get("table") is not None:
        return table
    return replace(table, path=path_of(parse_table_name(name)))


def check_table_name(options: Options, name: str, diagnostics: Diagnostics) -> None:
    try:
        parse_table_name(options.string(name))
    except ValueError:
        message = f"`{options[name]}` is not the name of a table: one to three names with dots between"
        diagnostics.error("PEN2004", message, options.span(name), 'quote a name that holds a dot: "my.table"')


def partitions(options: Options) -> int | None:
    """The number of partitions of the read; None where the number of cores or of rows decides it."""
    return 1 if options.get("partition_column") is None else options.optional_integer("partition_num")


def reading_of(options: Options, cores: int) -> Reading:
    """The read that checked options describe; `cores`: the number of partitions if the job names none."""
    table, query = options.optional_string("table_path"), options.optional_string("query")
    partitioning = None
    if (column := options.optional_string("partition_column")) is not None:
        number = options.get("partition_num")
        rows = options.get("split.size") if number is None else None
        partitioning = Partitioning(
            column,
            number if isinstance(number, int) else cores,
            rows if isinstance(rows, int) else None,
            options.optional_string("partition_lower_bound"),
            options.optional_string("partition_upper_bound"),
        )
    return Reading(
        connection_of(options),
        parse_table_name(table) if table is not None and query is None else None,
        query,
        _condition(options.optional_string("where_condition")),
        options.integer("fetch_size"),
        partitioning,
        times_as_text=options.flag(EXACT_TIMES),
    )


def _condition(text: str | None) -> str | None:
    """The condition without the `where` that SeaTunnel's begin with."""
    stripped = (text or "").strip()
    return (stripped[5:].strip() if stripped.lower().startswith("where ") else stripped) or None
