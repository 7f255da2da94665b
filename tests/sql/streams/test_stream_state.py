"""Queries that keep state over streams `s` and `r`, whose event time is `ts`, and a stream `u` without one.

What is accepted here, Spark accepts, too; of what it refuses, nothing is accepted.
"""

import pytest

from sql.streams.stream_rows import StreamQueryError, StreamRows, stream_rows

STREAMS = {"s": ["ts"], "r": ["ts"], "u": []}
WITHIN = "r.ts between s.ts and s.ts + interval 1 hour"
HOURS = "select window(ts, '5 minutes') as w, count(*) as n from s group by 1"

ACCEPTED = {
    HOURS: {"w"},
    "select window.start as st, count(*) as n from s group by window(ts, '10 minutes', '5 minutes')": set(),
    "select ts, id, count(*) as n from s group by ts, id having count(*) > 1": {"ts"},
    "select cast(ts as date) as d, ts, max(id) as n from s group by all": {"ts"},
    "select distinct id, ts from s": {"ts"},
    "select session_window.start, id, count(*) as n from s group by session_window(ts, '5 minutes'), id": set(),
    "select window(t, '5 minutes') as w, count(*) as n from (select ts as t from s) group by 1": {"w"},
    f"select window(window_time(w), '1 hour') as h, sum(n) as n from ({HOURS}) group by 1": {"h"},
    "with c as (select * from s) select ts as t, count(*) as n from c group by t": {"t"},
    "select ts, count(*) as n from (select * from s union all select * from r) group by ts": {"ts"},
    f"select s.id, s.ts from s join r on s.id = r.id and {WITHIN}": {"ts"},
    f"select s.id from s, r where s.id = r.id and {WITHIN}": set(),
    "select s.id from s join r on s.id = r.id and s.ts = r.ts": set(),
    f"select s.id, r.id as other from s left join r on s.id = r.id and {WITHIN}": set(),
    f"select s.id from s full join r on s.id = r.id and {WITHIN}": set(),
    f"select s.id from s left semi join r on s.id = r.id and {WITHIN}": set(),
    "select a.id from s a join s b on a.id = b.id and b.ts > a.ts - interval '10 minutes' and b.ts <= a.ts": set(),
    f"select window(s.ts, '5 minutes') as w, count(*) as n from s join r on s.id = r.id and {WITHIN} group by 1": {"w"},
}
REFUSED = {
    "select id, count(*) as n from s group by id": "group by `ts`, `window(ts, '1 hour')`, whose watermark says",
    "select window(ts, '5 minutes') as w, count(*) as n from u group by 1": "group by a column with a `watermark`",
    "select date(ts) as d, count(*) as n from s group by date(ts)": "GROUP BY needs all rows of a group",
    "select window(t, '1 hour') as w, count(*) as n from (select ts + interval 1 hour as t from s) group by 1": (
        "GROUP BY needs all rows of a group"
    ),
    "select count(*) as n from s": "an aggregate needs all rows",
    "select distinct id from s": "DISTINCT compares each row with all rows before it: it needs",
    "select ts, count(distinct id) as n from s group by ts": "Spark counts no distinct values over a stream",
    "select ts, count(*) as n from s group by ts order by ts": "ORDER BY needs all rows",
    "select ts, count(*) as n from s tablesample (10 percent) group by ts": "TABLESAMPLE is not allowed below groups",
    "select ts, count(*) as n from s group by ts limit 4": "LIMIT counts the rows",
    "select ts, id, count(*) as n from s group by rollup(ts, id)": "ROLLUP, CUBE and GROUPING SETS",
    "select * from (select *, row_number() over (partition by id order by ts) as n from s) where n = 1": (
        "a window function compares rows"
    ),
    "select s.id from s join r on s.id = r.id": "bound their times, such as `r.ts between s.ts - interval 1 hour",
    "select s.id from s left join r on s.id = r.id and r.ts >= s.ts": "bound their times",
    f"select s.id from s left join r on s.id = r.id where {WITHIN}": "bound their times",
    "select s.id from s join r on s.id = r.id and r.ts between s.ts and s.ts + interval 1 month": "bound their times",
    f"select s.id from s join r on {WITHIN}": "needs an equality",
    "select s.id from s join u on s.id = u.id": "`u` has no column with a `watermark`",
    f"select s.id from s left anti join r on s.id = r.id and {WITHIN}": "ANTI JOIN of two streams",
    "select s.id from s natural join r": "NATURAL JOIN of two streams",
    "select 1 as n from s join r on s.id = r.id and s.ts = r.ts join u on u.id = s.id": "more than two streams",
    "select ts, count(*) as n from (select * from s union all select * from u) group by ts": "GROUP BY needs all rows",
}


@pytest.mark.parametrize("query", ACCEPTED)
def test_state_that_is_forgotten_in_time(query):
    assert stream_rows(query, STREAMS) == StreamRows(frozenset(ACCEPTED[query]), keeps_state=True)


@pytest.mark.parametrize("query", REFUSED)
def test_state_that_would_be_kept_for_ever_or_that_spark_has_not(query):
    with pytest.raises(StreamQueryError) as error:
        stream_rows(query, STREAMS)
    assert REFUSED[query] in str(error.value)


def test_event_times_travel_with_rows_that_keep_no_state():
    assert stream_rows("select *, window(ts, '1 hour') as w from s", STREAMS) == StreamRows(frozenset({"ts", "w"}))
    assert stream_rows("select date(ts) as d, id from s", STREAMS) == StreamRows()
    assert stream_rows("select id from s union all select id from u", STREAMS) == StreamRows()


@pytest.mark.spark
def test_spark_accepts_what_is_accepted(spark):
    session = spark.newSession()
    jvm = session.sparkContext._jvm
    checker = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
    append = jvm.org.apache.spark.sql.streaming.OutputMode.Append()
    for name, event_times in STREAMS.items():
        rows = session.readStream.format("rate").load().selectExpr("value as id", "timestamp as ts")
        rows = rows.withWatermark("ts", "10 minutes") if event_times else rows
        rows.createOrReplaceTempView(name)
    for query in ACCEPTED:
        checker.checkForStreaming(session.sql(query)._jdf.queryExecution().analyzed(), append)
