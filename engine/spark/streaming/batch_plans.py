"""What the micro-batches of a stream use again: the sessions of its pipelines, and the plan of their rows.

Spark analyzes a query at each step in which it is built. Where the same steps follow for each micro-batch, they are
built once, and the records of the next one take the place of the first one's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from connectors.shared.java_names import java_named
from engine.plan.nodes import Node, Query, Scan, Union, Write, below
from engine.plan.streams import streaming_source
from engine.spark.lower import Arrived, Lowered
from engine.spark.session import pipeline_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BETWEEN: Final = "\u001f"


@dataclass(frozen=True, eq=False, slots=True)
class _Built:
    """The rows that were built for one micro-batch, of the `records` (a plan of Spark's) with these `columns`."""

    session: "SparkSession"
    inputs: tuple[Node, ...]
    lowered: Lowered
    records: Any
    columns: str


@dataclass(eq=False)
class BatchPlans:
    """The sessions and plans of the pipelines of one stream, by their names; see `JobExecution`."""

    sessions: "dict[str, SparkSession]" = field(default_factory=dict)
    built: dict[str, _Built] = field(default_factory=dict)

    def session(self, spark: "SparkSession", name: str, settings: Mapping[str, str]) -> "SparkSession":
        if name not in self.sessions:
            self.sessions[name] = pipeline_session(spark, settings)
        return self.sessions[name]

    def lowered(
        self, name: str, writes: Sequence[Write], arrived: Mapping[Node, Arrived], build: Callable[[], Lowered]
    ) -> Lowered:
        """The rows of a micro-batch: those that `build` lowers, or what it lowered before, of the new records."""
        (head, new), *others = arrived.items()
        if others or new.batch is None or not _is_fixed(head, writes):
            return build()
        session, inputs = self.sessions[name], tuple(write.input for write in writes)
        records: Any = new.batch._jdf.logicalPlan()
        columns = str(records.output().mkString(_BETWEEN))  # with Spark's ids, by which the steps refer to them
        before = self.built.get(name)
        if before and (before.session, before.inputs, before.columns) == (session, inputs, columns):
            return _of_records(before, records, head, new)
        lowered = build()
        if all(_reads_once(lowered.dataframes[node], records) for node in inputs):
            self.built[name] = _Built(session, inputs, lowered, records, columns)
        return lowered

    def forget(self, name: str) -> None:
        """Build anew, in a new session: an attempt has failed."""
        self.sessions.pop(name, None)
        self.built.pop(name, None)


def _is_fixed(head: Node, writes: Sequence[Write]) -> bool:
    """Whether the steps are the same for each micro-batch: queries of nothing but its records, which compute nothing
    at random. Spark would draw the numbers of all micro-batches from the seed of the first one."""
    nodes = [node for write in writes for node in below(write.input)]
    return (
        isinstance(head, Scan)
        and streaming_source(head).has_stable_batch_plan(head.options)
        and all(node is head or isinstance(node, Query | Union) for node in nodes)
        and all(node.analysis.is_deterministic for node in nodes if isinstance(node, Query))
        and all(node.persisted is None for node in nodes if isinstance(node, Scan | Query | Union))
    )


def _reads_once(df: "DataFrame", records: Any) -> bool:
    """Whether the rows are of the records alone, read once: Spark renames the columns of what is read twice."""
    plan: Any = df._jdf.queryExecution().analyzed()
    return bool(plan.subqueriesAll().isEmpty()) and int(plan.collectLeaves().size()) == int(
        records.collectLeaves().size()
    )


def _of_records(built: _Built, records: Any, head: Node, arrived: Arrived) -> Lowered:
    from pyspark.sql import DataFrame

    session = built.session
    jvm: Any = session.sparkContext._jvm
    place = java_named(jvm, "java.util.HashMap")()
    place.put(built.records, records)
    replaced = java_named(jvm, "org.apache.spark.api.python.PythonUtils.toScalaMap")(place)  # a partial function
    of_rows = java_named(jvm, "org.apache.spark.sql.classic.Dataset.ofRows")
    dataframes = dict(built.lowered.dataframes)
    for node in built.inputs:
        plan = dataframes[node]._jdf.queryExecution().analyzed().transformDown(replaced)
        dataframes[node] = DataFrame(of_rows(session._jsparkSession, plan), session)
    position = arrived.positions.get(head) if isinstance(head, Scan) else None
    positions = {head: position} if isinstance(head, Scan) and position is not None else {}
    return Lowered(dataframes, positions=positions)
