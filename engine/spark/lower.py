"""Lower plan nodes to DataFrames, each node once for all its readers.

Spark gets a user's query as written: its inputs are bound as views of DataFrames under the names that it uses, right
before it is analyzed. Spark resolves a view's name at that moment: two queries may use one name for two inputs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, TypeAlias

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from catalog.diagnostics.diagnostic import Diagnostic, run_error
from catalog.diagnostics.source import PlacedText
from catalog.exhaustive import assert_never
from catalog.quoting import quote, quote_text
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.row_kind import ROW_KIND, RowKind
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import STRING, DataType, has_unknown
from catalog.types.typenames import to_ddl
from connectors.interface.incremental import NewRows, Since, incremental_of
from connectors.interface.source import ScanTask
from connectors.interface.source_abilities import SupportsAcknowledgement, SupportsIncremental
from connectors.shared.java_names import java_named
from connectors.shared.spark_types import columns_of
from connectors.shared.staged import Staged
from engine.functions.register import register_functions
from engine.plan.nodes import (
    Expect,
    Native,
    Node,
    PersistableNode,
    Persisted,
    Query,
    Rejects,
    Scan,
    Shuffle,
    Union,
    Watermark,
    Write,
    below,
    children,
)
from engine.plan.streams import streaming_source
from engine.spark.catalyst import without_nulls
from engine.spark.expect import Watched, rejected, watch
from engine.spark.failures.errors import as_run_error
from engine.spark.pace import UNPACED, Pace, paced
from engine.spark.persist import persist
from sql.rewrite.row_kinds import with_row_kinds
from sql.rewrite.select_query import Projection, Select

Persist: TypeAlias = Callable[[Node, Persisted, DataFrame], DataFrame]
"""Computes and persists the rows of a node for its readers."""


@dataclass(frozen=True, eq=False, slots=True)
class Arrived:
    """A micro-batch of a stream (None: nothing has arrived), and the positions to acknowledge once it is committed."""

    batch: DataFrame | None
    positions: Mapping[Scan, Staged] = field(default_factory=dict)


@dataclass(eq=False)
class Lowered:
    """The DataFrame of every lowered node, and what is counted when the rows are written: expectations, and how far
    incremental scans go. `since`: where these begin, by their names; the first run where it has none. `positions`: what
    the scans cover, of sources that are notified after the commit. `arrived`: micro-batches of streams, which are read
    instead of their sources, or of the nodes that keep state over them. `staged_table`: the rows of a scan that reads
    what a write of the plan has staged; None for others."""

    dataframes: dict[Node, DataFrame] = field(default_factory=dict)
    watched: list[Watched] = field(default_factory=list)
    positions: dict[Scan, Staged] = field(default_factory=dict)
    arrived: Mapping[Node, Arrived] = field(default_factory=dict)
    persist: Persist = lambda node, persisted, df: persist(df, persisted.cache)
    staged_table: Callable[[Scan], DataFrame | None] = lambda scan: None
    pace: Pace = UNPACED
    since: Mapping[str, Since] = field(default_factory=dict)
    new_rows: dict[Scan, NewRows] = field(default_factory=dict)
    views: dict[str, tuple[str, DataFrame]] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)


def lower(
    spark: SparkSession,
    writes: Iterable[Write],
    persist: Persist | None = None,
    since: Mapping[str, Since] | None = None,
    arrived: Mapping[Node, Arrived] | None = None,
    *,
    pace: Pace = UNPACED,
    staged_table: Callable[[Scan], DataFrame | None] = lambda scan: None,
) -> Lowered:
    """Lower every node that the writes read, but for those that read what a write of the pipeline has staged (see
    `lower_write`); `spark` is the pipeline's own session.

    Rows that several readers share are computed here, by `persist`; nothing else is. Raises `RunError` at
    the node, and for SQL at the place in the job file.
    """
    lowered = Lowered(since=since or {}, arrived=arrived or {}, pace=pace, staged_table=staged_table)
    lowered.persist = persist or lowered.persist
    for write in takewhile(lambda write: not reads_staged(write), writes):
        _lower(spark, write.input, lowered)
    return lowered


def lower_write(spark: SparkSession, write: Write, lowered: Lowered) -> DataFrame:
    """The rows of a write, once the writes before it have been staged."""
    _lower(spark, write.input, lowered)
    return lowered.dataframes[write.input]


def reads_staged(write: Write) -> bool:
    """Whether it reads what another write of the plan stages."""
    scans = (node for node in below(write) if isinstance(node, Scan))
    return any(scan.of_group is not None and scan.of_group.is_staged for scan in scans)


def lower_nodes(
    spark: SparkSession,
    nodes: Iterable[Node],
    given: Mapping[Node, DataFrame],
    persist: Persist | None = None,
    *,
    since: Mapping[str, Since] | None = None,
) -> Mapping[Node, DataFrame]:
    """Lower some nodes over given DataFrames of others; `since` as for `lower`."""
    lowered = Lowered(dict(given), since=since or {})
    lowered.persist = persist or lowered.persist
    for node in nodes:
        _lower(spark, node, lowered)
    return lowered.dataframes


def _lower(spark: SparkSession, root: Node, lowered: Lowered) -> None:
    stack = [root]
    while stack:
        node = stack[-1]
        needed = () if node in lowered.arrived else children(node)
        missing = [child for child in needed if child not in lowered.dataframes]
        stack.extend(reversed(missing))
        if not missing:
            stack.pop()
            if node not in lowered.dataframes:
                lowered.dataframes[node] = _lower_one(spark, node, lowered)


def _lower_one(spark: SparkSession, node: Node, lowered: Lowered) -> DataFrame:
    try:
        df = _dataframe(spark, node, lowered)
    except (PySparkException, Py4JError) as error:
        raise as_run_error(error, node) from error
    persisted = node.persisted if isinstance(node, PersistableNode) else None
    if persisted is None:
        return df
    try:
        return lowered.persist(node, persisted, df)
    except (PySparkException, Py4JError) as error:
        raise as_run_error(error, node, below(node)) from error


def _dataframe(spark: SparkSession, node: Node, lowered: Lowered) -> DataFrame:
    if (arrived := lowered.arrived.get(node)) is not None:
        lowered.positions.update(arrived.positions)
        if not isinstance(node, Scan):
            return _no_rows(spark, node) if arrived.batch is None else _of_session(spark, arrived.batch)
    match node:
        case Scan():
            return _scan(spark, node, lowered)
        case Query():
            return _query(spark, node, lowered)
        case Native():
            return node.plugin.apply(lowered.dataframes[node.input], node.table, node.options)
        case Union():
            return _union([_with_kinds(input, lowered, node.table.has_row_kind) for input in node.inputs])
        case Expect():
            df, watched = watch(lowered.dataframes[node.input], node)
            lowered.watched.append(watched)
            return df
        case Rejects():
            return rejected(lowered.dataframes[node.input], node)
        case Watermark():
            df = lowered.dataframes[node.input]
            return df.withWatermark(node.column, node.delay) if df.isStreaming else df
        case Shuffle():
            return _shuffled(lowered.dataframes[node.input], node)
        case _:
            assert_never(node)


def _shuffled(df: DataFrame, node: Shuffle) -> DataFrame:
    """The rows that are of a table; where each table reads its input by itself, its own query sees to that."""
    if node.persisted is None:
        return df
    return df.where(f"{quote(node.column)} IN ({', '.join(map(quote_text, node.values))})")


def _scan(spark: SparkSession, scan: Scan, lowered: Lowered) -> DataFrame:
    arrived = lowered.arrived.get(scan)
    position = _position(spark, scan) if arrived is None else arrived.positions.get(scan)
    if position is not None:
        lowered.positions[scan] = position
    task = ScanTask(scan.options, scan.table, scan.columns, scan.filters, position, lowered.warnings.append)
    if arrived is not None and arrived.batch is not None:
        df = streaming_source(scan).arrived(spark, task, _of_session(spark, arrived.batch))
    elif arrived is not None:
        df = _no_rows(spark, scan)
    elif (staged := lowered.staged_table(scan)) is not None:
        df = staged
    elif incremental_of(scan.options) is None:
        df = scan.connector.read(spark, task)
    else:
        assert isinstance(scan.connector, SupportsIncremental), f"`{scan.name}` has the option `incremental`"
        lowered.new_rows[scan] = scan.connector.read_new(spark, task, lowered.since.get(scan.name, Since()))
        df = lowered.new_rows[scan].df
    return as_declared(paced(df, scan, lowered.pace), scan)


def _position(spark: SparkSession, scan: Scan) -> Staged | None:
    source = scan.connector
    return source.position(spark, scan.options) if isinstance(source, SupportsAcknowledgement) else None


def _of_session(spark: SparkSession, df: DataFrame) -> DataFrame:
    """The rows of a DataFrame of another session, in this one."""
    of_rows = java_named(spark.sparkContext._jvm, "org.apache.spark.sql.classic.Dataset.ofRows")
    plan: Any = df._jdf.logicalPlan()
    return DataFrame(of_rows(spark._jsparkSession, plan), spark)


def _no_rows(spark: SparkSession, node: Node) -> DataFrame:
    kept = frozenset(node.columns) if isinstance(node, Scan) and node.columns is not None else None
    columns = [column for column in node.table.columns if kept is None or column.name in kept]
    kinds = [Column(ROW_KIND, STRING)] if node.table.has_row_kind else []
    return spark.createDataFrame([], columns_to_ddl([*columns, *kinds]))


def _query(spark: SparkSession, query: Query, lowered: Lowered) -> DataFrame:
    for given in query.inputs:
        _bind(given.name, lowered.dataframes[given.node], lowered)
    carrying = [input.name for input in query.inputs if input.node.table.has_row_kind]
    text = _text(query, carrying)
    register_functions(spark, text)
    df = spark.sql(text)
    return df if query.table.has_row_kind or not carrying else df.drop(ROW_KIND)


def _bind(name: str, df: DataFrame, lowered: Lowered) -> None:
    """Make the rows a view of the session, unless they are: each view is a query of its own to Spark."""
    bound = name, df
    if lowered.views.get(name.lower()) != bound:  # whatever the case of names means to the session
        df.createOrReplaceTempView(quote(name))
        lowered.views[name.lower()] = bound


def _text(query: Query, carrying: Sequence[str]) -> str:
    """The query for Spark; with the hidden column if its rows carry kinds."""
    match query.body:
        case Select(projections=()) as select:
            return select.to_sql()
        case Select() as select if carrying and query.table.has_row_kind:
            hidden = Projection(ROW_KIND, quote(ROW_KIND))
            return replace(select, projections=(*select.projections, hidden)).to_sql()
        case Select() as select:
            return select.to_sql()
        case PlacedText() as text:
            return with_row_kinds(text, carrying).value if carrying else text.value


def _with_kinds(node: Node, lowered: Lowered, has_row_kind: bool) -> DataFrame:
    """The rows of a node; as inserts if only the other inputs of the union have kinds."""
    df = lowered.dataframes[node]
    if not has_row_kind or node.table.has_row_kind:
        return df
    return df.selectExpr("*", f"{quote_text(RowKind.INSERT.value)} as {quote(ROW_KIND)}")


def _union(inputs: list[DataFrame]) -> DataFrame:
    first, *others = inputs
    for other in others:
        names = [name.lower() for name in first.columns]
        if sorted(names) == sorted(name.lower() for name in other.columns):
            first = first.unionByName(other)
        else:
            first = first.union(other)
    return first


def as_declared(df: DataFrame, scan: Scan) -> DataFrame:
    """The rows of a scan that its filters leave, checked against its table: names and types must be equal, and NOT NULL
    columns without NULLs."""
    if not scan.table.is_open:
        df = _checked(df, scan)
    for predicate in scan.filters:
        df = df.where(predicate)
    return df


def _checked(df: DataFrame, scan: Scan) -> DataFrame:
    found = CatalogTable.of("found", columns_of(df.schema))
    kept = None if scan.columns is None else frozenset(scan.columns)
    wanted = [column for column in scan.table.columns if kept is None or column.name in kept]
    strict, clocks = [], {}
    for column in wanted:
        there = found.column(column.name)
        if there is None:
            raise run_error("PEN5004", f"`{scan.written_name}` has no column `{column.name}`", scan.span)
        if scan.options.seatunnel is not None and _have_one_clock(there.type, column.type):
            clocks[there.name] = column.type
        elif str(there.type) != str(column.type) and not has_unknown(column.type):
            name = f"`{column.name}` of `{scan.written_name}`"
            message = f"the column {name} is {there.type}, not {column.type} as the schema says"
            raise run_error("PEN5004", message, scan.span)
        if there.nullable and not column.nullable:
            strict.append(there.name)
    if clocks:
        df = df.selectExpr(*(_in_type(name, clocks.get(name)) for name in df.columns))
    return without_nulls(df, strict) if strict else df


def _have_one_clock(found: DataType, declared: DataType) -> bool:
    """Whether two types differ by whether their timestamps are of UTC: SeaTunnel's only one has no zone."""
    texts = (str(found), str(declared))
    return texts[0] != texts[1] and len({text.replace("timestamp_ntz", "timestamp") for text in texts}) == 1


def _in_type(name: str, type: DataType | None) -> str:
    return quote(name) if type is None else f"cast({quote(name)} as {to_ddl(type)}) as {quote(name)}"
