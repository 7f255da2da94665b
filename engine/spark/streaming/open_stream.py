"""Opens a stream: the streaming DataFrame of its head, and what of it Spark reads in which order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from catalog.diagnostics.diagnostic import run_error
from catalog.quoting import quote, quote_text
from connectors.interface.incremental import duration
from connectors.interface.source import ScanTask, StreamState
from connectors.interface.source_abilities import SOURCE_PARTITION, SupportsPartitionTimes
from engine.expectations.rules import NODE, REASON
from engine.plan.nodes import Node, Persisted, Rejects, Scan, Watermark
from engine.plan.streams import StreamPlan, is_of_partitions, streaming_source
from engine.spark.lower import as_declared, lower_nodes
from engine.spark.streaming.late_rows import LateRows, late_rows, split, together


@dataclass(frozen=True, eq=False, slots=True)
class OpenStream:
    """`rows`: what the head yields, or where that is the source, what has arrived there as `Source.stream` gives it.
    `scans`: the sources in the order in which Spark's checkpoint and progress list them; one may be read twice.
    A source that is read once more for its late rows is in it once: to Spark it is the same."""

    rows: DataFrame
    scans: tuple[Scan, ...]


def open_stream(
    spark: SparkSession,
    stream: StreamPlan,
    *,
    is_new: bool,
    state: StreamState | None = None,
    late: Mapping[Watermark, LateRows] | None = None,
) -> OpenStream:
    """Open a stream, in the pipeline's own session. `state`: that of a stream whose head is its source. `late`: what
    counts the rows of its watermarks, where Penstock follows their event times. Raises PEN9003 where that lacks
    pyarrow."""
    if (scan := stream.scan) is not None:
        task = replace(_task(scan), state=state)
        return OpenStream(streaming_source(scan).stream(spark, task, is_new=is_new), (scan,))
    timed = {node.input for node in late or () if is_of_partitions(node)}
    opened: dict[Node, DataFrame] = {
        scan: _streamed(spark, scan, is_new=is_new, is_timed=scan in timed) for scan in stream.scans
    }
    for node, counted in (late or {}).items():
        opened[node] = _on_time(spark, node, opened, counted)
    late_of = [_late(opened, node) for node in stream.late]
    for source in timed:
        opened[source] = opened[source].drop(SOURCE_PARTITION)
    rows = lower_nodes(spark, (stream.head,), opened, _as_it_is)[stream.head]
    scans = _in_order(rows, {scan: opened[scan] for scan in stream.scans})
    return OpenStream(together([rows, *late_of]) if late_of else rows, scans)


def _streamed(spark: SparkSession, scan: Scan, *, is_new: bool, is_timed: bool) -> DataFrame:
    """The rows of a source; where `is_timed`, with the hidden column of their partitions."""
    if is_timed and isinstance(scan.connector, SupportsPartitionTimes):
        return as_declared(scan.connector.timed_rows(spark, _task(scan), is_new=is_new), scan)
    return as_declared(streaming_source(scan).streamed_rows(spark, _task(scan), is_new=is_new), scan)


def _on_time(spark: SparkSession, node: Watermark, opened: Mapping[Node, DataFrame], late: LateRows) -> DataFrame:
    """The rows of a watermark's node that are not late."""
    if find_spec("pyarrow") is None:
        source = node.input.written_name
        message = f"the watermark of `{source}` follows the partitions of its source, which needs pyarrow"
        raise run_error("PEN9003", message, node.span, "pip install pyarrow, also where Spark's executors are")
    delay = duration(node.delay)
    assert delay is not None, "is checked when the plan is built"
    rows = lower_nodes(spark, (node.input,), opened, _as_it_is)[node.input]
    partition = SOURCE_PARTITION if is_of_partitions(node) else None
    return split(rows, node.column, round(delay.total_seconds() * 1000), partition, late)


def _late(opened: Mapping[Node, DataFrame], node: Rejects) -> DataFrame:
    """The rows that come too late, as the table of the node has them."""
    watermark = node.input
    assert isinstance(watermark, Watermark), "a stream has late rows of watermarks alone"
    rows = late_rows(opened[watermark.input], watermark.column, SOURCE_PARTITION)
    own = [name for name in rows.columns if name.lower() not in (REASON, NODE)]
    more = (f"{quote_text(text)} as {name}" for text, name in ((LATE_REASON, REASON), (node.node, NODE)))
    return rows.selectExpr(*map(quote, own), *more)


LATE_REASON: Final = "later than the watermark allows"


def _task(scan: Scan) -> ScanTask:
    return ScanTask(scan.options, scan.table, scan.columns, scan.filters)


def _as_it_is(node: Node, persisted: Persisted, df: DataFrame) -> DataFrame:
    """A stream is not persisted: Spark reads its source once for each reader."""
    return df


def _in_order(rows: DataFrame, opened: Mapping[Scan, DataFrame]) -> tuple[Scan, ...]:
    known = [(scan, leaf) for scan, df in opened.items() for leaf in _streaming_leaves(df)]
    return tuple(
        scan for leaf in _streaming_leaves(rows) for scan in [next(scan for scan, own in known if leaf.sameResult(own))]
    )


def _streaming_leaves(df: DataFrame) -> Sequence[Any]:
    leaves: Any = df._jdf.queryExecution().analyzed().collectLeaves()
    every = (leaves.apply(index) for index in range(leaves.size()))
    return [leaf for leaf in every if leaf.isStreaming()]
