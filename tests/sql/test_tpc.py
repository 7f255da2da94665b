"""TPC-DS and TPC-H over decimal money: every output column as Spark's analyzer says, nothing refused."""

import pytest

from catalog.diagnostics.diagnostic import Severity
from catalog.diagnostics.source import PlacedText
from sql.analyze import analyze
from tests.oracle.spark_oracle import Accepted, SparkOracle, differences
from tests.oracle.tpc import benchmark


@pytest.mark.spark
@pytest.mark.parametrize("name", ["tpch", "tpcds"])
def test_every_column_is_as_spark_says(spark, name):
    tables, queries = benchmark(name)
    oracle = SparkOracle(spark, tables)
    inputs = {table.path.table: table for table in tables}
    problems = []
    for number, query in queries:
        expected = oracle.ask(query)
        assert isinstance(expected, Accepted), (number, expected)
        analysis = analyze(PlacedText.bare(query), inputs)
        problems += [
            f"q{number}: {found.code} {found.message}"
            for found in analysis.diagnostics
            if found.severity is Severity.ERROR
        ]
        problems += [f"q{number}: {problem}" for problem in differences(expected, analysis)]
        problems += [f"q{number}: {each.name} unknown" for each in analysis.columns if "unknown" in str(each.type)]
        if analysis.table.is_open:
            problems.append(f"q{number}: columns unknown")
    assert not problems, "\n".join(problems)
