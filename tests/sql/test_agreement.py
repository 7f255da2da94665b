"""`analyze` against Spark's analyzer on random questions.

`PENSTOCK_ORACLE=full` asks 20,000 expressions and queries and 5,000 mutants; otherwise a sample of them is asked.
"""

import os

import pytest

from tests.oracle import agreement

FULL = os.environ.get("PENSTOCK_ORACLE") == "full"


@pytest.fixture(scope="module")
def oracle(spark):
    return agreement.oracle(spark)


def _assert_agrees(found):
    wrong = [problem for problem in found.problems if not problem.startswith(("accepted:", "place:"))]
    assert not wrong, "\n".join([str(found), *wrong[:40]])
    assert found.unknown <= 0.03 * found.columns, found


@pytest.mark.spark
@pytest.mark.slow
def test_random_expressions(oracle):
    found = agreement.expressions(oracle, 17_000 if FULL else 3_000)
    _assert_agrees(found)


@pytest.mark.spark
@pytest.mark.slow
def test_random_queries(oracle):
    found = agreement.queries(oracle, 5_000 if FULL else 600)
    _assert_agrees(found)


@pytest.mark.spark
@pytest.mark.slow
def test_mutants(oracle):
    found = agreement.mutants(oracle, 5_000 if FULL else 600)
    _assert_agrees(found)
    assert found.rejected_here >= 0.98 * found.rejected, "\n".join([str(found), *found.problems[:40]])
    assert found.placed >= 0.98 * found.rejected_here, "\n".join([str(found), *found.problems[:40]])
