"""Clauses and operators of other systems that sqlglot parses and Spark does not have."""

import pytest

from tests.sql.analyzed import error


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("select a as 'x' from t", "PEN3001", "a name is expected here, this is a string"),
        ("select a from t for update", "PEN3017", "Spark has no FOR UPDATE"),
        ("select a from t limit 3 by a", "PEN3017", "Spark has no LIMIT BY"),
        ("select a from t limit 10, 2", "PEN3001", "Spark has no `LIMIT offset, count`"),
        ("select a from t qualify a > 1", "PEN3017", "Spark has no QUALIFY"),
        ("select a into z from t", "PEN3017", "Spark has no SELECT INTO"),
        ("from t where a = 1", "PEN3001", "a query with WHERE needs SELECT"),
        ("select * from t natural join u on true", "PEN3001", "a NATURAL JOIN takes no condition"),
        ("select * from t natural semi join u", "PEN3017", "Spark has no NATURAL SEMI JOIN"),
        ("select [1, 2]", "PEN3001", "Spark has no array in brackets"),
        ("select 1 from t where a = any (select 1)", "PEN3001", "Spark has no ANY over a subquery"),
        ("select count(t.*) from t", "PEN3017", "Spark allows no `count(t.*)`"),
        ("select * from t where *", "PEN3017", "`*` is not allowed here"),
        ("select * from t tablesample (101 percent)", "PEN3017", "TABLESAMPLE takes 0 to 100 PERCENT"),
        ("select * from t tablesample (bucket 3 out of 2)", "PEN3017", "there are only 2 buckets"),
        ("select :x", "PEN3001", "a query here has no parameters"),
        ("select a from t fetch first 3 rows only", "PEN3017", "Spark has no FETCH FIRST"),
    ],
)
def test_what_spark_does_not_have(query, code, message):
    found, _, said = error(query)
    assert (found, said) == (code, message)
