"""Read from a running Spark the graphs of the queries it ran, with their counters."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from engine.runtime.counting.comet_operators import plain_counters, plain_description, plain_name
from engine.runtime.counting.counts import Execution, Operator
from engine.runtime.counting.native_share import native_share

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def last_execution(spark: "SparkSession") -> int:
    """The id of the newest query that Spark knows of; -1 where it has run none."""
    listed = _listed(spark)
    return int(listed.last().executionId()) if listed.size() else -1


def executions(
    spark: "SparkSession", wanted: Callable[[str], bool], after: int = -1, *, is_accelerated: bool = False
) -> Mapping[str, list[Execution]]:
    """The queries whose job description is wanted, by it, in the order in which they were run. `is_accelerated`: with
    what of them was native.

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
            found = _execution(spark, store, execution_id)
            if is_accelerated:
                found = replace(found, native=native_share(execution.physicalPlanDescription()))
            by_description[description].insert(0, found)
    return by_description


def _store(spark: "SparkSession") -> Any:
    session: Any = spark._jsparkSession
    return session.sharedState().statusStore()


def _listed(spark: "SparkSession") -> Any:
    return _store(spark).executionsList()


def attributes_of(df: "DataFrame") -> frozenset[int]:
    """The ids of the columns that the leaves of a DataFrame's plan yield."""
    leaves: Any = df._jdf.queryExecution().analyzed().collectLeaves()
    ids: set[int] = set()
    for index in range(leaves.size()):  # a column is shown as its name and id
        shown = str(leaves.apply(index).output().mkString(_BETWEEN)).split(_BETWEEN)
        ids |= {int(found[1]) for column in shown if (found := _ATTRIBUTE_ID.search(column))}
    return frozenset(ids)


_BETWEEN: Final = "\u001f"
_ATTRIBUTE_ID: Final = re.compile(r"#(\d+)L?$")


def _execution(spark: "SparkSession", store: Any, execution_id: int) -> Execution:
    """A query and its counters: three texts instead of a question for each operator and counter."""
    text = _json_writer(spark.sparkContext._jvm).writeValueAsString
    graph = store.planGraph(execution_id)
    values = json.loads(text(store.executionMetrics(execution_id)))
    operators = tuple(_operator(node, values) for node in json.loads(text(graph.allNodes())))
    inputs: dict[int, tuple[int, ...]] = {}
    for edge in json.loads(text(graph.edges())):
        inputs[edge["toId"]] = (*inputs.get(edge["toId"], ()), edge["fromId"])
    return Execution(operators, inputs)


def _operator(node: Mapping[str, Any], values: Mapping[str, str]) -> Operator:
    known = {metric["name"]: values.get(str(metric["accumulatorId"])) for metric in node["metrics"]}
    counters = {name: value for name, value in known.items() if value is not None}
    name, description = node["name"], node["desc"]
    return Operator(node["id"], plain_name(name), plain_description(name, description), plain_counters(name, counters))


@cache
def _json_writer(jvm: Any) -> Any:
    """Writes objects of Scala as JSON."""
    module = getattr(getattr(jvm.com.fasterxml.jackson.module.scala, "DefaultScalaModule$"), "MODULE$")
    return jvm.com.fasterxml.jackson.databind.ObjectMapper().registerModule(module)
