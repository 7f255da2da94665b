"""The tokens are those of sqlglot's own tokenizer, but for comments."""

import pytest
from sqlglot.errors import TokenError

from sql.parsing.spark_tokens import SPARK, _plain_tokens, spark_tokens
from tests.oracle.mangled import mangled
from tests.oracle.queries import QueryGenerator
from tests.oracle.tpc import benchmark
from tests.sql.query_cases import all_cases


def described(tokens):
    return [(token.token_type, token.text, token.line, token.col, token.start, token.end) for token in tokens]


def is_as_of_sqlglot(text):
    found = _plain_tokens(text)
    return found is None or described(found) == described(SPARK.tokenize(text))


@pytest.mark.parametrize(
    "text",
    [
        "select a.b, `c d`, -1.5 from t -- all of them\n\n order by a",
        "select date'2020-01-01', \"x\" from t group  by b having count(*)>5",
        "select x from t where a<>b or a<=>c or a::int>=1 and not b!='x'",
        "select cast(x as array<array<int>>), a << 1, f(x -> x || 'a\nb') from t;",
    ],
)
def test_plain_texts_are_read_here(text):
    assert _plain_tokens(text) is not None
    assert is_as_of_sqlglot(text)


@pytest.mark.parametrize(
    "text",
    [
        "select 1L",
        r"select 'a\'b'",
        "select r'a'",
        "select X'1F'",
        "select `a``b`",
        "select a =- 1",
        "show x",
        "select é",
    ],
)
def test_rare_syntax_is_left_to_sqlglot(text):
    assert _plain_tokens(text) is None
    assert described(spark_tokens(text)) == described(SPARK.tokenize(text))


def test_a_hint_is_a_token():
    assert "HINT" in [token.token_type.name for token in spark_tokens("select /*+ broadcast(u) */ * from t")]


def test_a_quote_that_is_not_closed_raises():
    with pytest.raises(TokenError):
        spark_tokens("select 'a")


def test_all_cases():
    are_read_as_by_sqlglot([case.query for case in all_cases()])


@pytest.mark.spark  # for `duckdb`, which comes with it
def test_benchmark_queries():
    are_read_as_by_sqlglot([query for _, query in benchmark("tpcds")[1]])


def are_read_as_by_sqlglot(texts):
    assert [text for text in texts if not is_as_of_sqlglot(text)] == []
    assert sum(_plain_tokens(text) is None for text in texts) < len(texts) / 3


def test_random_queries_and_mangled_ones():
    texts = [QueryGenerator(seed).query() for seed in range(200)] + [mangled(seed) for seed in range(1500)]
    plain = [text for text in texts if "/*" not in text and "{" not in text]
    assert [text for text in plain if not is_as_of_sqlglot(text)] == []
