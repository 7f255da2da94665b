"""Names, scopes, joins, grouping and the rest of a query's structure, case by case, and Spark's word on each case."""

import pytest

from tests.oracle.spark_oracle import Accepted, SparkOracle
from tests.sql.structure_cases import FILES, TABLES, read, said


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_analyze_says_what_the_file_says(path, update):
    cases = list(read(path))
    if update:
        path.write_text("\n\n".join(f"{case.query}\n{said(case.query)}" for case in cases) + "\n")
        return
    wrong = [f"{case.query}\n{case.expected}\nbut:\n{said(case.query)}" for case in cases]
    wrong = [text for text, case in zip(wrong, cases, strict=True) if said(case.query) != case.expected]
    assert not wrong, "\n\n".join(wrong)


@pytest.fixture(scope="module")
def oracle(spark):
    return SparkOracle(spark, TABLES.values())


@pytest.mark.spark
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_spark_says_the_same(path, oracle):
    wrong = []
    for case in read(path):
        answer = oracle.ask(case.query)
        if not isinstance(answer, Accepted):
            if case.expected.startswith("="):
                wrong.append(f"{case.query}\nis rejected: {answer.condition} {answer.message}")
            continue
        columns = ", ".join(map(str, answer.columns))
        if case.expected != f"= {columns}" and not case.expected.endswith("..."):
            wrong.append(f"{case.query}\n{case.expected}\nbut: = {columns}")
    assert not wrong, "\n\n".join(wrong)
