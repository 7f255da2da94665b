"""Read from a running Spark the graphs of the queries it ran, with their counters."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from engine.runtime.counting.counts import Execution, Operator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def last_execution(spark: "SparkSession") -> int:
    """The id of the newest query that Spark knows of; -1 where it has run none."""
    listed = _listed(spark)
    return int(listed.last().executionId()) if listed.size() else -1


def executions(spark: "SparkSession", wanted: Callable[[str], bool], after: int = -1) -> Mapping[str, list[Execution]]:
    """The queries whose job description is wanted, by it, in the order in which they were run.

    Only those whose id is above `after` are looked at, so that of many jobs in one application none looks at those of
    all before it. The counters reach Spark's store through its listener bus, which is waited for (at most ten seconds).
    """
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(10_000)
    store = _store(spark)
    by_description: dict[str, list[Execution]] = defaultdict(list)
    listed = _listed(spark)  # in the order of ids
    for index in reversed(range(listed.size())):
        execution = listed.apply(index)
        if (execution_id := execution.executionId()) <= after:
            break
        if wanted(description := execution.description()):
            by_description[description].insert(0, _execution(store, execution_id))
    return by_description


def _store(spark: "SparkSession") -> Any:
    session: Any = spark._jsparkSession
    return session.sharedState().statusStore()


def _listed(spark: "SparkSession") -> Any:
    return _store(spark).executionsList()


def attributes_of(df: "DataFrame") -> frozenset[int]:
    """The ids of the columns that the leaves of a DataFrame's plan yield."""
    leaves: Any = df._jdf.queryExecution().analyzed().collectLeaves()
    ids = set()
    for index in range(leaves.size()):
        output = leaves.apply(index).output()
        ids |= {output.apply(column).exprId().id() for column in range(output.size())}
    return frozenset(ids)


def _execution(store: Any, execution_id: int) -> Execution:
    graph = store.planGraph(execution_id)
    values = store.executionMetrics(execution_id)
    nodes, edges = graph.allNodes(), graph.edges()
    operators = tuple(_operator(nodes.apply(index), values) for index in range(nodes.size()))
    inputs: dict[int, tuple[int, ...]] = {}
    for index in range(edges.size()):
        edge = edges.apply(index)
        inputs[edge.toId()] = (*inputs.get(edge.toId(), ()), edge.fromId())
    return Execution(operators, inputs)


def _operator(node: Any, values: Any) -> Operator:
    metrics = node.metrics()
    counters = {}
    for index in range(metrics.size()):
        metric = metrics.apply(index)
        value = values.get(metric.accumulatorId())
        if value.isDefined():
            counters[metric.name()] = value.get()
    return Operator(node.id(), node.name(), node.desc(), counters)
