"""Every titled case, of `analyze` and of Spark's analyzer; `-k "using and key"` finds cases by their titles."""

from collections import Counter
from zlib import crc32

import pytest

from tests.oracle.spark_oracle import Accepted, SparkOracle
from tests.sql.query_cases import TABLES, all_cases, analysis_text, read, write

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_analyze(case, update):
    case.check(analysis_text(case.query), update)


@pytest.fixture(scope="module")
def oracle(spark):
    return SparkOracle(spark, TABLES.values())


def by_default(case):
    """Whether Spark is asked about the case in each run of the tests: of every twelve, one; `make soak` asks all."""
    return crc32(case.query.encode()) % 12 == 0


@pytest.mark.spark
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=str(case), marks=() if by_default(case) else pytest.mark.soak) for case in CASES],
)
def test_spark(case, oracle):
    """Where Spark refuses a query so does `analyze`; where Spark accepts it the columns agree."""
    answer = oracle.ask(case.query)
    if not isinstance(answer, Accepted):
        assert case.expected.startswith("! "), f"{case.query}\nis rejected: {answer.condition} {answer.message}"
    elif not case.expected.endswith("..."):
        assert case.expected == f"= {', '.join(map(str, answer.columns))}", case.query


def test_no_query_is_there_twice():
    counts = Counter(case.query for case in CASES)
    assert [query for query, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(
    "text",
    [
        "select 1\n= 1 int not null\n",
        "--\nselect 1\n= 1 int not null\n",
        f"-- {'long ' * 20}\nselect 1\n= 1 int not null\n",
        "-- one\nselect 1\n= 1 int not null\n\n-- one\nselect 2\n= 2 int not null\n",
    ],
    ids=["no title", "an empty title", "a long title", "the title of another case"],
)
def test_a_file_is_refused(tmp_path, text):
    path = tmp_path / "joins.test"
    path.write_text(text)
    with pytest.raises(ValueError, match="title"):
        read(path)


def test_an_update_keeps_titles_and_other_cases(tmp_path):
    path = tmp_path / "joins.test"
    path.write_text("-- a number\nselect 1\n= old\n\n-- a string\nselect\n'a'\n= old\n")
    number, string = read(path)
    string.check("= a string not null", update=True)
    number.check("= 1 int not null", update=True)
    assert path.read_text() == (
        "-- a number\nselect 1\n= 1 int not null\n\n-- a string\nselect\n'a'\n= a string not null\n"
    )
    write(path, read(path))
    assert [case.title for case in read(path)] == ["a number", "a string"]
