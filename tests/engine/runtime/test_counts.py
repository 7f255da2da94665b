"""Counts come out of the graph of operators that Spark kept."""

import pytest

from engine.runtime.counting.counts import Execution, Operator, ScanIdentity, count_reads, count_write, number
from engine.runtime.counting.executions import executions, last_execution

SCAN = "FileScan csv [id#1,amount#2] Format: CSV, Location: InMemoryFileIndex(1 paths)[file:/data/orders.csv]"
BROADCAST = "FileScan csv [id#7] Format: CSV, Location: InMemoryFileIndex(1 paths)[file:/data/customers.csv]"


def execution() -> Execution:
    """AdaptiveSparkPlan <- Insert <- Project <- Join <- (Filter <- Scan, Exchange <- Filter(isnotnull) <- Scan)."""
    operators = (
        Operator(0, "Execute InsertIntoHadoopFsRelationCommand", "…", {"number of output rows": "40"}),
        Operator(1, "Project", "Project [id#1]", {}),
        Operator(2, "BroadcastHashJoin", "…", {"number of output rows": "40"}),
        Operator(3, "Filter", "Filter (isnotnull(amount#2) AND (amount#2 > 10))", {"number of output rows": "60"}),
        Operator(
            4, "Scan csv", SCAN, {"number of output rows": "1,000", "size of files read": "total (min)\n2.0 KiB (1 B)"}
        ),
        Operator(5, "BroadcastExchange", "…", {}),
        Operator(6, "Filter", "Filter isnotnull(id#7)", {"number of output rows": "3"}),
        Operator(7, "Scan csv", BROADCAST, {"number of output rows": "5", "size of files read": "70.0 B"}),
        Operator(8, "WholeStageCodegen (1)", "…", {"duration": "1 s"}),
        Operator(9, "AdaptiveSparkPlan", "AdaptiveSparkPlan isFinalPlan=true", {}),
    )
    return Execution(operators, {9: (0,), 0: (1,), 1: (2,), 2: (3, 5), 3: (4,), 5: (6,), 6: (7,)})


def test_reads_are_known_by_column_ids_and_else_by_path():
    scans = [
        ScanIdentity("orders", frozenset({1, 2})),
        ScanIdentity("customers", frozenset({99}), ("/data/customers.csv",)),
    ]
    orders, customers = count_reads([execution(), execution()], scans)
    assert (orders.source, orders.rows, orders.bytes, orders.passes) == ("orders", 1000, 2048, 2)
    assert (customers.source, customers.rows, customers.bytes, customers.passes) == ("customers", 5, 70, 2)


def test_a_write_counts_its_rows_and_what_the_users_filters_dropped():
    count = count_write("out", [execution()])
    assert (count.rows, count.filtered) == (40, 940)


def test_the_check_of_json_files_filters_no_rows():
    check = "Filter if (…) raise_error(USER_RAISED_EXCEPTION, map(errorMessage, more than one JSON value in the file …"
    operators = (
        Operator(0, "Execute InsertIntoHadoopFsRelationCommand", "…", {"number of output rows": "2"}),
        Operator(1, "Union", "Union", {}),
        Operator(2, "Scan json", "…", {"number of output rows": "2"}),
        Operator(3, "Filter", check, {"number of output rows": "0"}),
        Operator(4, "Scan text", "…", {"number of output rows": "1"}),
    )
    count = count_write("out", [Execution(operators, {0: (1,), 1: (2, 3), 3: (4,)})])
    assert (count.rows, count.filtered) == (2, 0)


def test_rows_pass_through_operators_that_do_not_count_them():
    root = (Operator(0, "OverwriteByExpression", "…", {}), Operator(1, "AdaptiveSparkPlan", "…", {}))
    below = (Operator(2, "Sort", "…", {}), Operator(3, "HashAggregate", "…", {"number of output rows": "7"}))
    assert count_write("out", [Execution(root + below, {0: (1,), 1: (2,), 2: (3,)})]).rows == 7


def test_rows_behind_a_limit_are_not_guessed():
    operators = (Operator(0, "CollectLimit", "…", {}), Operator(1, "Scan", "…", {"number of output rows": "7"}))
    assert count_write("out", [Execution(operators, {0: (1,)})]).rows is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("336,776", 336_776),
        ("229.0 B", 229),
        ("7.8 MiB", round(7.8 * 2**20)),
        ("total (min, med, max (stageId: taskId))\n1.5 KiB (512.0 B, 1.0 KiB)", 1536),
        ("", None),
        ("n/a", None),
    ],
)
def test_numbers_as_spark_prints_them(text, value):
    assert number(text) == value


@pytest.mark.spark
def test_a_later_run_looks_at_none_of_the_queries_before_it(spark):
    def collect():
        spark.sparkContext.setJobDescription("counted")
        spark.range(3).collect()
        spark.sparkContext.setJobDescription(None)

    collect()
    assert len(executions(spark, "counted".__eq__)["counted"]) == 1
    asked = []
    before = last_execution(spark)
    assert not executions(spark, lambda text: bool(asked.append(text)), after=before)
    collect()
    collect()
    ran = executions(spark, lambda text: text == "counted" and not asked.append(text), after=before)
    assert asked == ["counted", "counted"]
    assert len(ran["counted"]) == 2
