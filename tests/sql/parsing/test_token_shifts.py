"""Tokens that are put in another order, or become of another kind, for sqlglot."""

import pytest
from sqlglot.dialects.spark import Spark

from sql.parsing.token_shifts import bare_words, clustered_windows, names_of_digits, samples_last


def texts(tokens) -> str:
    return " ".join(token.text for token in tokens)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("from (select 1) tablesample (1 rows) as t", "from ( select 1 ) as t tablesample ( 1 rows )"),
        ("from (select 1) tablesample (1 rows) t (a), u", "from ( select 1 ) t ( a ) tablesample ( 1 rows ) , u"),
        ("from (values (1)) tablesample (1 rows) t", "from ( values ( 1 ) ) t"),
        ("from (select 1) tablesample (1 rows) where a", "from ( select 1 ) tablesample ( 1 rows ) where a"),
        ("from t tablesample (1 rows) u", "from t tablesample ( 1 rows ) u"),
    ],
)
def test_the_sample_of_a_subquery_follows_its_alias(query, expected):
    assert texts(samples_last(Spark().tokenize(query))).lower() == expected


def test_cluster_by_in_a_window_is_partition_by():
    assert "PARTITION BY" in texts(clustered_windows(Spark().tokenize("sum(a) over (cluster by b)")))
    assert "PARTITION BY" not in texts(clustered_windows(Spark().tokenize("select a from t cluster by b")))


def test_digits_of_other_bases_are_names():
    assert texts(names_of_digits(Spark().tokenize("0xFF, 0b01, 12"))) == "0xFF , 0b01 , 12"


def test_a_word_without_brackets_is_a_name():
    tokens = bare_words(Spark().tokenize("current_date, current_date(), t.current_user"))
    kinds = [token.token_type.name for token in tokens if token.text.startswith("current")]
    assert kinds == ["VAR", "CURRENT_DATE", "VAR"]
