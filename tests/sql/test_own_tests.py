"""The queries of Spark's own SQL tests, of TPC-DS and of TPC-H: how many types of their columns are not known."""

import pytest

pytest.importorskip("pyspark")

from tests.oracle.own_tests import share_of_benchmarks, share_of_own_tests

pytestmark = [pytest.mark.spark, pytest.mark.soak]


def test_types_are_known_of_all_but_a_thousandth_of_the_columns(spark):
    benchmarks, own = share_of_benchmarks(spark), share_of_own_tests(spark)
    print(f"TPC-DS and TPC-H: {benchmarks}\nSpark's own tests: {own}")
    assert benchmarks.unknown_columns == 0, benchmarks.unknown
    assert own.queries > 8_000
    assert own.unknown_columns <= 0.001 * own.columns, "\n".join([str(own), *own.unknown])
