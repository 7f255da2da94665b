"""The predicates of Spark's grammar."""

import pytest

from sql.recognizer.cursor import NotSparkError
from sql.recognizer.predicates import predicate
from tests.sql.recognizer.rule_rest import rest


@pytest.mark.parametrize(
    "text",
    [
        "is not null",
        "in (1, 2)",
        "in (select 1)",
        "in (select 'a' from t)",
        "not between 1 and 2",
        "like any ('a', 'b')",
        "like 'a' escape '!'",
    ],
)
def test_a_predicate_is_read_to_its_end(text: str) -> None:
    assert rest(predicate, f"{text} then") == "then"


def test_a_query_after_in_begins_like_a_literal() -> None:
    assert rest(predicate, "in (select 'a' from t) then") == "then"


@pytest.mark.parametrize("text", ["! in (1)", "not in 1", "between 1 or 2", "in (select 'a')", "in (values (1), 2)"])
def test_a_predicate_that_spark_refuses(text: str) -> None:
    with pytest.raises(NotSparkError):
        rest(predicate, text)
