"""Rows of a web service, fetched page by page: Apache SeaTunnel's Http source."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Option, Options
from catalog.quoting import quote, quote_text
from catalog.secret_names import redacted_text
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import STRING, Field, Struct
from catalog.types.typenames import to_ddl
from connectors.http_.http_options import HTTP_OPTIONS
from connectors.http_.http_pages import row_texts
from connectors.http_.http_requests import check_url
from connectors.http_.json_paths import is_json_path
from connectors.http_.poll_source import polls
from connectors.http_.staged_lines import staged_lines
from connectors.interface.schema_option import declared_table
from connectors.interface.source import ScanTask, Source, SourceCapabilities
from connectors.interface.source_abilities import SupportsStreaming
from connectors.shared.loose_json import LOCALE, as_text, unrounded, would_be_rounded
from connectors.shared.tolerated import report_without_effect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_INTERVAL_MS: Final = 1_000
_CONTENT: Final = CatalogTable.of("http", [Column("content", STRING)])


class HttpSource(Source, SupportsStreaming):
    tested_against: ClassVar[tuple[str, ...] | None] = ("HTTP servers of the tests",)
    doc: ClassVar[str] = (
        "Rows of a web service, as JSON or text. The driver fetches one page after another and stages the "
        "rows on disk; a page must fit in its memory."
    )
    source_options: ClassVar[tuple[Option, ...]] = HTTP_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_cheap=False, is_deterministic=False)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        _check_request(options, diagnostics)
        _check_paging(options, diagnostics)
        table = declared_table(options, "http", diagnostics)
        _check_fields(options, table, diagnostics)
        if table is None:
            return (_CONTENT,)
        if options.get("format") == "text" and (len(table.columns) != 1 or table.columns[0].type != STRING):
            help = "`format = json`, or a `schema` of one string column"
            diagnostics.error("PEN2011", "`format = text` yields one string column", options.span("format"), help)
        return (table,)

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        """The declared table, since a web service does not describe its columns."""
        return self.tables(options, Diagnostics())[0]

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return redacted_text(options.string("url"))

    def completed(self, options: Options) -> Options:
        """Only a block with `poll_interval_millis` is a stream; others are tables, which each micro-batch reads."""
        if "stream" in options.places or "stream" not in options.values:
            return options
        is_polled = options.get("poll_interval_millis") is not None
        return replace(options, values={**options.values, "stream": is_polled})

    def stream_identity(self, options: Options) -> str:
        return redacted_text(options.string("url"))

    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        """Polls: each micro-batch asks the service once, and has the rows that it answers then."""
        return polls(spark, _interval_ms(task.options))

    def arrived(self, spark: "SparkSession", task: ScanTask, batch: "DataFrame") -> "DataFrame":
        """The rows of one answer, which may be so few that none has a field which the service leaves out for NULL."""
        options = replace(task.options, values={**task.options.values, "missing_columns": "allow"})
        return self.read(spark, replace(task, options=options))

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        columns = task.table.columns or _CONTENT.columns
        is_text = not task.options.mapping("schema") or task.options.get("format") == "text"
        row = Struct(tuple(Field(column.name, column.type) for column in columns))
        column = columns[0].name if is_text else None
        lines = staged_lines(spark, row_texts(task.options, column, row, needs_fields=_needs_fields(task.options)))
        texts = [Column(column.name, as_text(column.type)) for column in columns]
        settings = f"map('mode', 'FAILFAST', 'locale', '{LOCALE}')"
        parsed = f"from_json(value, {quote_text(columns_to_ddl(texts))}, {settings}) as row"
        names = [column.name for column in columns] if task.columns is None else task.columns
        by_name = {column.name: column for column in columns}
        typed = (f"{_value(by_name[name], task.options)} as {quote(name)}" for name in names)
        return lines.selectExpr(parsed).selectExpr(*typed)


def _needs_fields(options: Options) -> bool:
    """Whether each declared field must be in some row; SeaTunnel reads what is missing as NULL."""
    return str(options.get("missing_columns")).lower() != "allow" and options.seatunnel is None


def _value(column: Column, options: Options) -> str:
    """Spark SQL for a column of the parsed row."""
    value = f"row.{quote(column.name)}"
    if would_be_rounded(column.type, options):
        return unrounded(value, column, options)
    return f"cast({value} as {to_ddl(column.type)})"


def _interval_ms(options: Options) -> int:
    """Milliseconds between two polls."""
    return options.optional_integer("poll_interval_millis") or _INTERVAL_MS


def _check_request(options: Options, diagnostics: Diagnostics) -> None:
    check_url(options, diagnostics)
    is_post = str(options["method"]).upper() == "POST"
    if options.get("body") is not None and not is_post:
        report_without_effect("body", "a GET has no `body`", "method = POST", options, diagnostics)
    if options.get("body") is not None and options.flag("keep_params_as_form") and options.mapping("params"):
        help = "leave `body` or `keep_params_as_form` out"
        message = "`body` and `params` as a form are two bodies of one request"
        diagnostics.error("PEN2011", message, options.span("keep_params_as_form"), help)


def _check_paging(options: Options, diagnostics: Diagnostics) -> None:
    is_cursor = str(options["pageing.page_type"]).lower() == "cursor"
    needed = ("pageing.cursor_field", "pageing.cursor_response_field") if is_cursor else ()
    for name in needed:
        if not options.get(name):
            message = f"paging by a cursor needs `{name}`"
            diagnostics.error("PEN2011", message, options.span("pageing.page_type"))
    if not is_cursor and options.get("pageing.cursor_field"):
        help = "pageing.page_type = Cursor"
        message = "`pageing.cursor_field` is for paging by a cursor"
        diagnostics.error("PEN2011", message, options.span("pageing.cursor_field"), help)
    if not is_cursor and options.get("pageing.total_page_size") and not options.get("pageing.page_field"):
        message = "`pageing.total_page_size` needs `pageing.page_field`"
        diagnostics.error("PEN2011", message, options.span("pageing.total_page_size"), 'pageing.page_field = "page"')


def _check_fields(options: Options, table: CatalogTable | None, diagnostics: Diagnostics) -> None:
    """Check the JSON paths, and that `json_field` names declared columns."""
    paths = {f"json_field.{name}": path for name, path in options.texts_by_key("json_field").items()}
    paths |= {name: str(options[name]) for name in ("content_field", "pageing.cursor_response_field") if options[name]}
    for name, path in paths.items():
        if not is_json_path(path):
            help = "a path is `$` and names, indexes, slices, `*` and `..`: `$.store.book[*].title`"
            diagnostics.error("PEN2004", f"`{path}` is no JSON path that can be read", options.span(name), help)
    fields = options.texts_by_key("json_field")
    if fields and options.get("content_field"):
        message = "`json_field` has no effect beside `content_field`, which names the rows"
        diagnostics.warning("PEN2011", message, options.span("json_field"), "leave one of them out")
    if fields and table is None:
        help = "schema { fields { title = string } }"
        diagnostics.error("PEN2005", "`json_field` needs a `schema`", options.span("json_field"), help)
    names = table.schema.names if table else ()
    for name in fields:
        if table is not None and name not in names:
            message = f"`schema` has no column `{name}`"
            diagnostics.error("PEN2004", message, options.key_span(f"json_field.{name}"), did_you_mean(name, names))
