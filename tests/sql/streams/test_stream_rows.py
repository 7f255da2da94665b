"""Which queries can be computed batch by batch over a stream `s`, and why others cannot."""

import pytest

from sql.streams.stream_rows import StreamQueryError, StreamRows, stream_rows


@pytest.mark.parametrize(
    "query",
    [
        "select id, upper(name) from s where id > 1",
        "select s.id, t.name from s left join t on s.id = t.id",
        "select * from s semi join t on s.id = t.id",
        "select * from t right join s on s.id = t.id",
        "select * from (select id from s) q, t",
        "with c as (select * from s) select id from c",
        "select id from s union all select id + 1 from s",
        "select count(*) from t",
        "select id from s where id in (select max(id) from t)",
    ],
)
def test_a_query_row_by_row(query):
    assert stream_rows(query, {"S": []}) in (StreamRows(), None)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("select distinct id from s", "DISTINCT compares"),
        ("select id from s group by id", "GROUP BY needs all rows"),
        ("select count(*) from s", "an aggregate needs all rows"),
        ("select row_number() over (order by id) from s", "a window function compares rows"),
        ("select * from s order by id", "ORDER BY needs all rows"),
        ("select * from s limit 3", "LIMIT counts"),
        ("select * from s join s as z on s.id = z.id", "a join of two streams"),
        ("select * from s full join t on s.id = t.id", "FULL JOIN yields"),
        ("select * from s right join t on s.id = t.id", "RIGHT JOIN yields"),
        ("select * from t left join s on s.id = t.id", "LEFT JOIN has the stream on its right"),
        ("select * from t anti join s on s.id = t.id", "ANTI JOIN has the stream on its right"),
        ("select id from s union select id from t", "UNION compares"),
        ("select id from s except select id from t", "EXCEPT compares"),
        ("select id from s union all select id from t", "UNION ALL of a stream and a table"),
        ("select * from t where id in (select id from s)", "a subquery over the stream"),
        ("select (select max(id) from s) from t", "a subquery over the stream"),
        ("with c as (select * from s) select count(*) from c", "an aggregate needs all rows"),
        ("from s |> where id > 1", "`|>` cannot be checked"),
    ],
)
def test_a_query_that_needs_more_than_a_row(query, reason):
    with pytest.raises(StreamQueryError) as error:
        stream_rows(query, {"s": []})
    assert str(error.value).startswith(reason)


def test_a_cte_hides_the_stream_of_its_name():
    assert stream_rows("with s as (select * from t) select count(*) from s", {"s": []}) is None
