"""Tables of Spark's catalogs by name; rows are written through what the table is: Delta or Iceberg."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Option, Options, OptionType
from catalog.outside import Fill
from catalog.quoting import quote, quote_text, short_name
from catalog.tables.savemode import Action, TargetState
from catalog.tables.table import CatalogTable, TablePath
from connectors.delta.connector import connector as delta
from connectors.delta.delta_options import SINK_OPTIONS as DELTA_OPTIONS
from connectors.delta.delta_staged import DeltaStaged
from connectors.delta.statements import table_syntax
from connectors.iceberg.connector import connector as iceberg
from connectors.iceberg.iceberg_options import SINK_OPTIONS as ICEBERG_OPTIONS
from connectors.iceberg.iceberg_staged import IcebergStaged
from connectors.interface.incremental import INCREMENTAL
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import SCHEMA_OPTION, declared_table
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.sink_abilities import SupportsCounts, SupportsStatements
from connectors.interface.source import ScanTask, Source, SourceCapabilities
from connectors.interface.source_abilities import SupportsIncremental, SupportsTablePatterns
from connectors.lakehouse.statements import planned
from connectors.lakehouse.write_modes import CAPABILITIES
from connectors.matching.catalog_tables import SESSION_CATALOG, catalog_pattern, full_name, matching_tables
from connectors.matching.table_patterns import as_table, check_pattern, pattern_in, use_regex_option
from connectors.shared.active_session import active_session
from connectors.shared.staged import Staged
from connectors.table.named_table import NamedTable, look_up

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TABLE: Final = Option(
    "table",
    OptionType.STRING,
    "The table: `db.table` or `catalog.db.table`.",
    required=True,
    fill=Fill.FOLDER_TABLE,
)
_SOURCE_TABLE: Final = replace(_TABLE, doc="The table, or a pattern of tables: `db.table` or `catalog.db.table`.")
_PROVIDER: Final = Option(
    "provider",
    OptionType.STRING,
    "What the table is; by default `delta` in Spark's own catalog, `iceberg` in another.",
    choices=("delta", "iceberg"),
)
_SHARED: Final = tuple(option for option in ICEBERG_OPTIONS if option.name not in ("table", "table_path", "warehouse"))
_CLUSTER_BY: Final = tuple(option for option in DELTA_OPTIONS if option.name == "cluster_by")


@dataclass(frozen=True, slots=True)
class TableStaged(Staged):
    """What the format's own connector has staged; `registers`: the DDL by which the catalog learns of a new table."""

    delta: DeltaStaged | None
    iceberg: IcebergStaged | None
    registers: str | None = None


class Table(
    Source,
    SupportsTablePatterns,
    SupportsIncremental,
    Sink[TableStaged],
    SupportsStatements,
    SupportsCounts[TableStaged],
):
    name: ClassVar[str] = "Table"
    doc: ClassVar[str] = (
        "Reads tables of Spark's catalogs by name, and writes those of Delta and Iceberg as their connectors do."
    )
    maven: ClassVar[tuple[str, ...]] = delta.maven
    session_settings = delta.session_settings
    source_options: ClassVar[tuple[Option, ...]] = (
        _SOURCE_TABLE,
        use_regex_option("`table`", "as `penstock schema sync` has recorded them"),
        _PROVIDER,
        SCHEMA_OPTION,
        INCREMENTAL,
    )
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True)
    sink_options: ClassVar[tuple[Option, ...]] = (_TABLE, _PROVIDER, *_CLUSTER_BY, *_SHARED)
    staged_type: ClassVar[type[Staged]] = TableStaged
    sink_capabilities: ClassVar[SinkCapabilities] = CAPABILITIES

    def jars(self, options: Options) -> tuple[str, ...]:
        return (*delta.maven, *iceberg.maven) if _is_iceberg(options) else delta.maven

    def staged_jars(self, staged: TableStaged) -> tuple[str, ...]:
        return (*delta.maven, *iceberg.maven) if staged.iceberg is not None else delta.maven

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        if not _check_name(options, diagnostics):
            return (CatalogTable.unknown("table"),)
        if declared := declared_table(options, "table", diagnostics):
            return (declared,)
        help = "name its columns: `schema { fields { name = type } }`, or lock them: `penstock schema sync`"
        message = f"the columns of `{options['table']}` are not known: its catalog is not asked before the run"
        diagnostics.error("PEN4002", message, options.span("table"), help)
        return (CatalogTable.unknown("table"),)

    def table_path(self, options: Options) -> TablePath | None:
        if options.flag("use_regex") or not _check_name(options, Diagnostics()):
            return None
        catalog, *levels, name = full_name(options.string("table"))
        return TablePath(name, None, ".".join(levels) or None, None if catalog == SESSION_CATALOG else catalog)

    def table_pattern(self, options: Options) -> re.Pattern[str] | None:
        return pattern_in(options, "table") if _check_name(options, Diagnostics()) else None

    def matching_tables(self, spark: "SparkSession", options: Options) -> tuple[str, ...]:
        catalog, names = catalog_pattern(options.string("table"))
        shown = () if catalog == SESSION_CATALOG else (catalog,)
        return tuple(short_name((*shown, *name)) for name in matching_tables(spark, catalog, names))

    def of_table(self, options: Options, path: str) -> Options:
        return as_table(options, "table", path)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        with active_session(spark, spark._jsparkSession):  # whose setting says that `${…}` in a name is no variable
            df = spark.table(".".join(map(quote, full_name(task.options.string("table")))))
        return task.selected(df)

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        if not _check_name(options, diagnostics):
            return
        other, own = ("cluster_by", "sort_by") if _is_iceberg(options) else ("sort_by", "cluster_by")
        if options.strings(other):
            message = f"`{other}` has no meaning for {'an Iceberg' if _is_iceberg(options) else 'a Delta'} table"
            diagnostics.error("PEN2011", message, options.span(other), f'{own} = ["column"]')
        if _is_iceberg(options):
            iceberg.validate(_iceberg_options(options), table, diagnostics)
        else:
            delta.validate(_delta_options(options, f"catalog://{options['table']}"), table, diagnostics)

    def target(self, options: Options) -> str | None:
        return f"catalog:{'.'.join(full_name(options.string('table'))).lower()}"

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return self.target(options)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        if _is_iceberg(task.options):
            return iceberg.inspect(spark, _of_iceberg(task))
        return delta.inspect(spark, _of_delta(task, _delta_table(spark, task.options)))

    def statements(
        self, spark: "SparkSession", task: WriteTask, state: TargetState, actions: Sequence[Action]
    ) -> tuple[str, ...]:
        if _is_iceberg(task.options):
            return iceberg.statements(spark, _of_iceberg(task), state, actions)
        found = _delta_table(spark, task.options)
        inner = _of_delta(task, found)
        return tuple(planned(inner, state, actions, table_syntax(inner, found.sql)))

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> TableStaged:
        if _is_iceberg(task.options):
            return TableStaged(None, iceberg.prepare(spark, _of_iceberg(task), actions))
        found = _delta_table(spark, task.options)
        ddl = f"CREATE TABLE IF NOT EXISTS {found.sql} USING delta LOCATION {quote_text(found.location)}"
        return TableStaged(delta.prepare(spark, _of_delta(task, found), actions), None, None if found.exists else ddl)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: TableStaged) -> TableStaged:
        if prepared.iceberg is not None:
            return replace(prepared, iceberg=iceberg.stage(spark, df, _of_iceberg(task), prepared.iceberg))
        assert prepared.delta is not None
        inner = _of_delta(task, _delta_table(spark, task.options))
        return replace(prepared, delta=delta.stage(spark, df, inner, prepared.delta))

    def written(self, staged: TableStaged) -> tuple[int, int] | None:
        sink, inner = _inner(staged)
        found: tuple[int, int] | None = sink.written(inner)
        return found

    def commit(self, spark: "SparkSession", staged: TableStaged, run: RunContext) -> None:
        sink, inner = _inner(staged)
        sink.commit(spark, inner, run)
        if staged.registers is not None:
            spark.sql(staged.registers)

    def abort(self, spark: "SparkSession", staged: TableStaged, run: RunContext) -> None:
        sink, inner = _inner(staged)
        sink.abort(spark, inner, run)


connector = Table()


def _inner(staged: TableStaged) -> tuple[Any, Staged]:
    if staged.delta is not None:
        return delta, staged.delta
    assert staged.iceberg is not None
    return iceberg, staged.iceberg


def _is_iceberg(options: Options) -> bool:
    given = options.optional_string("provider")
    if given is not None:
        return given.lower() == "iceberg"
    try:
        return _names(options)[0] != SESSION_CATALOG
    except (ValueError, re.error):
        return False


def _names(options: Options) -> tuple[object, ...]:
    """The catalog, and what is in it. Raises ValueError, and `re.error` for a pattern."""
    name = options.string("table")
    return catalog_pattern(name) if options.get("use_regex") else full_name(name)


def _check_name(options: Options, diagnostics: Diagnostics) -> bool:
    try:
        _names(options)
    except re.error:
        check_pattern(options, "table", "shop.orders_\\\\d+", diagnostics)
        return False
    except ValueError:
        if options.get("use_regex"):
            message = f"`{options['table']}` does not begin with the plain name of a catalog"
            help = 'table = "lake.shop.\\\\.*"'
        else:
            message, help = f"`{options['table']}` is no name of a table", 'table = "catalog.db.table"'
        diagnostics.error("PEN2004", message, options.span("table"), help)
        return False
    return True


def _delta_table(spark: "SparkSession", options: Options) -> NamedTable:
    """Raises `RunError` PEN5005 for a table of another format: its writes cannot be staged."""
    found = look_up(spark, options.string("table"), options.span("table"))
    if found.exists and found.provider != "delta":
        message = f"the table `{options['table']}` is of the format `{found.provider}`, whose writes cannot be staged"
        help = "write it with the connector `Spark`, or write a Delta or Iceberg table"
        raise run_error("PEN5005", message, options.span("table"), help)
    return found


def _of_delta(task: WriteTask, found: NamedTable) -> WriteTask:
    return replace(task, options=_delta_options(task.options, found.location))


def _of_iceberg(task: WriteTask) -> WriteTask:
    return replace(task, options=_iceberg_options(task.options))


def _delta_options(options: Options, path: str) -> Options:
    return _translated(options, delta.sink_options, "path", path)


def _iceberg_options(options: Options) -> Options:
    name = ".".join(map(quote, full_name(options.string("table"))))
    return _translated(options, iceberg.sink_options, "table_path", name)


def _translated(options: Options, spec: Sequence[Option], key: str, value: str) -> Options:
    """The options as the format's own connector takes them."""
    values = {option.name: options.values.get(option.name, option.default) for option in spec}
    places = dict(options.places)
    if (span := options.span("table")) is not None:
        places[key] = span
    return replace(options, values={**values, "table": None, key: value}, places=places)
