"""What a streaming job cannot do is reported before it runs, with the reason."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.cli import main
from engine.compile import Settings, compile_job

STREAM = (
    'Kafka { plugin_output = s, bootstrap.servers = "b:9092", topic = t, '
    'schema { fields { id = bigint, name = string, tags = "array<string>" } } }'
)
TABLE = "FakeSource { plugin_output = d, schema { fields { id = bigint, area = string } } }"


def errors(folder, *, sources=STREAM, transform="", sinks="Console {}", env="job.mode = STREAMING"):
    path = folder / "job.conf"
    path.write_text(f"env {{ {env} }}\nsource {{ {sources} }}\ntransform {{ {transform} }}\nsink {{ {sinks} }}")
    diagnostics = Diagnostics()
    compile_job(path, Settings(), diagnostics)
    return [(each.code, each.message) for each in diagnostics if each.severity.value == "error"]


def query_errors(folder, query, sources=STREAM):
    inputs = '["s", "d"]' if "d" in sources.split("plugin_output = ")[-1][:1] else "s"
    transform = f'Sql {{ plugin_input = {inputs}, plugin_output = q, query = "{query}" }}'
    return errors(folder, sources=sources, transform=transform, sinks="Console { plugin_input = q }")


@pytest.mark.parametrize(
    "query",
    [
        "select id + 1 as n, upper(name) as name from s where id > 1",
        "select id, explode(tags) as tag from s",
        "with c as (select id from s) select * from c",
        "select id from s union all select id + 1 from s",
        "select s.id, d.area from s join d on s.id = d.id",
        "select s.id, d.area from s left join d on s.id = d.id",
        "select s.id, d.area from d right join s on s.id = d.id",
        "select id from s where id in (select id from d)",
        "select s.id from s left semi join (select id from d order by area limit 3) d on s.id = d.id",
    ],
)
def test_queries_that_need_one_row_of_the_stream_each(tmp_path, query):
    sources = f"{STREAM}\n{TABLE}" if " d" in query else STREAM
    assert query_errors(tmp_path, query, sources) == []


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("select count(*) as n from s", "an aggregate needs all rows"),
        ("select name, sum(id) as n from s group by name", "GROUP BY needs all rows of a group"),
        ("select distinct name from s", "DISTINCT compares each row with all rows before it"),
        ("select id from s order by id", "ORDER BY needs all rows"),
        ("select id from s limit 3", "LIMIT counts the rows of one micro-batch only"),
        ("select id, row_number() over (order by id) as n from s", "a window function compares rows"),
        ("select id from s union select id + 1 from s", "UNION compares each row with all others"),
        ("select id from s union all select id from d", "UNION ALL of a stream and a table"),
        ("select a.id from s a join s b on a.id = b.id", "a join of two streams"),
        ("select d.id from d left join s on s.id = d.id", "LEFT JOIN has the stream on its right"),
        ("select s.id from s full join d on s.id = d.id", "FULL JOIN yields rows of the table"),
        ("select area from d where id in (select id from s)", "a subquery over the stream needs all rows"),
    ],
)
def test_queries_that_need_more_are_refused_with_the_reason(tmp_path, query, reason):
    sources = f"{STREAM}\n{TABLE}" if " d" in query else STREAM
    [(code, message)] = query_errors(tmp_path, query, sources)
    assert code == "PEN2032"
    assert reason in message


def test_sources_that_are_no_streams_are_refused(tmp_path):
    assert errors(tmp_path, sources=TABLE)[0][0] == "PEN2030"
    delta = 'Delta { path = "t", version = 3, schema { fields { id = bigint } } }'
    assert "`version` reads one state of the table" in errors(tmp_path, sources=delta)[0][1]
    files = 'LocalFile { path = "data/*.json", file_format_type = json, schema { fields { id = bigint } } }'
    assert "`path` must be a folder" in errors(tmp_path, sources=files)[0][1]


def test_two_streams_into_one_sink_are_one_stream(tmp_path):
    two = f"{STREAM}\n{STREAM.replace('plugin_output = s', 'plugin_output = r')}"
    assert errors(tmp_path, sources=two, sinks='Console { plugin_input = ["s", "r"] }') == []
    three = f"{two}\n{TABLE.replace('area', 'name')}".replace(', tags = "array<string>"', "")
    [(code, message)] = errors(tmp_path, sources=three, sinks='Console { plugin_input = ["s", "r", "d"] }')
    assert code == "PEN2032"
    assert "unites a stream with a table" in message


TIMED = STREAM.replace("id = bigint", "id = bigint, at = timestamp")
LATE = 'watermark { column = at, delay = "10 minutes" }'


def timed(name, more=LATE):
    return TIMED.replace("plugin_output = s", f"plugin_output = {name}, {more}" if more else f"plugin_output = {name}")


def joined(query):
    return f'Sql {{ plugin_input = ["s", "r"], plugin_output = q, query = "{query}" }}'


def test_state_is_kept_where_a_watermark_says_how_long(tmp_path):
    hours = "select window(at, '1 hour') as hour, count(*) as n from s group by window(at, '1 hour')"
    assert query_errors(tmp_path, hours, timed("s")) == []
    [(code, message)] = query_errors(tmp_path, hours, timed("s", ""))
    assert code == "PEN2032"
    assert "group by a column with a `watermark`, or a window of it" in message
    join = "select s.id from s join r on s.id = r.id and r.at between s.at and s.at + interval 1 hour"
    both = f"{timed('s')}\n{timed('r')}"
    sink = "Console { plugin_input = q }"
    assert errors(tmp_path, sources=both, transform=joined(join), sinks=sink) == []
    [(_, message)] = errors(tmp_path, sources=both, transform=joined(join.split(" and ", maxsplit=1)[0]), sinks=sink)
    assert "bound their times, such as `r.at between s.at - interval 1 hour and s.at + interval 1 hour`" in message
    unmarked = f"{timed('s')}\n{timed('r', '')}"
    [(_, message)] = errors(tmp_path, sources=unmarked, transform=joined(join), sinks=sink)
    assert "`r` has no column with a `watermark`" in message


def test_a_query_can_make_the_event_time(tmp_path):
    """The watermark is that of a transform; one more after it, or at a sink, is refused."""
    made = f'Sql {{ plugin_input = s, plugin_output = t, query = "select to_timestamp(name) as at from s", {LATE} }}'
    hours = 'Sql { plugin_input = t, plugin_output = q, query = "select at, count(*) as n from t group by at" %s }'
    sink = "Console { plugin_input = q %s }"
    assert errors(tmp_path, transform=f"{made}\n{hours % ''}", sinks=sink % "") == []
    [(code, message)] = errors(tmp_path, transform=f"{made}\n{hours % (', ' + LATE)}", sinks=sink % "")
    assert (code, message) == ("PEN2011", "`t` has a watermark already: Spark follows one from there on")
    [(code, message)] = errors(tmp_path, transform=f"{made}\n{hours % ''}", sinks=sink % (", " + LATE))
    assert (code, message) == ("PEN2011", "a sink has no `watermark`")


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ("watermark { column = at }", "PEN2005", "`watermark` needs `delay`"),
        ('watermark { column = att, delay = "1 hour" }', "PEN4008", "no column `att` for the watermark"),
        ("watermark { column = at, delay = soon }", "PEN2004", "`delay` must be a duration, found `soon`"),
        ('watermark { column = at, delay = "1 day", lag = 1 }', "PEN2003", "`watermark` has no `lag`"),
        (
            'watermark { column = at, delay = "1 day", late = log }',
            "PEN2004",
            "`late` is `drop` or `sink`, found `log`",
        ),
        (
            'watermark { column = at, delay = "1 day", idle.timeout = soon }',
            "PEN2004",
            "`idle.timeout` must be a duration, found `soon`",
        ),
        (
            'watermark { column = id, delay = "1 day" }',
            "PEN4008",
            "the event time `id` must be a timestamp, and is bigint",
        ),
    ],
)
def test_watermarks_that_cannot_be_meant(tmp_path, given, code, message):
    for mode in ("STREAMING", "BATCH"):
        assert errors(tmp_path, sources=timed("s", given), env=f"job.mode = {mode}") == [(code, message)]


def test_what_lies_below_state_must_be_rows_of_a_stream(tmp_path):
    once = "Deduplicate { plugin_input = s, plugin_output = q, keys = [id]%s }"
    sink = "Console { plugin_input = q }"
    [(_, message)] = errors(tmp_path, sources=timed("s", ""), transform=once % "", sinks=sink)
    assert message == "`q` would have to remember all keys for ever: its rows have no `watermark`"
    rule = ', expectations = [{ name = r, condition = "id > 1", on_violation = DROP }]'
    assert errors(tmp_path, sources=timed("s"), transform=once % rule, sinks=sink) == []
    [(_, message)] = errors(tmp_path, sources=timed("s", f"{LATE}{rule}"), transform=once % "", sinks=sink)
    assert message == "the rules of `s` are checked in each micro-batch, and state is kept over its rows"
    book = f'LocalFile {{ plugin_output = s, path = "in", file_format_type = excel, {LATE}, '
    book += "schema { fields { id = bigint, at = timestamp } } }"
    [(_, message)] = errors(tmp_path, sources=book, transform=once % "", sinks=sink)
    assert (
        message == "`q` keeps state over `s`, whose rows Spark cannot read as a stream: workbooks are read as a whole"
    )


def test_explain_names_what_keeps_state(tmp_path, capsys):
    query = "select window(at, '1 hour') as hour, count(*) as n from s group by 1"
    sinks = "Console { plugin_input = q }\nConsole { plugin_input = s }"
    (tmp_path / "job.conf").write_text(
        f"env {{ job.mode = STREAMING, stream.trigger = once }}\nsource {{ {timed('s')} }}\n"
        f'transform {{ Sql {{ plugin_input = s, plugin_output = q, query = "{query}" }} }}\nsink {{ {sinks} }}'
    )
    assert main(["explain", str(tmp_path / "job.conf")]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(
        "stream of q, over s: once, then the job ends, with state from batch to batch: q\n"
        "stream of s: once, then the job ends\n"
    )
    assert "s_watermark: Watermark\n" in shown
    assert "rows may come 10 minutes after a later `at`" in shown


def test_a_table_that_grows_is_joined_as_a_table_where_the_job_says_so(tmp_path):
    table = "%s { plugin_output = d, schema { fields { id = bigint, area = string } }, %s }"
    for connector, where in (("Delta", "path = t"), ("Iceberg", 'warehouse = w, table = "a.b"')):
        found = table % (connector, where)
        join = "select s.id, d.area from s join d on s.id = d.id"
        assert query_errors(tmp_path, join, f"{STREAM}\n{found.replace(' }, ', ' }, stream = false, ', 1)}") == []
        [(_, message)] = query_errors(tmp_path, join, f"{STREAM}\n{found}")
        assert "a join of two streams would have to keep all rows of both" in message


def test_write_modes_that_replace_rows_are_refused(tmp_path):
    sink = 'Delta { path = "t", write_mode = overwrite_partitions, partition_by = [name] }'
    [(code, message)] = errors(tmp_path, sinks=sink)
    assert code == "PEN2032"
    assert "each micro-batch replace the rows of those before" in message


@pytest.mark.parametrize("trigger", ["available_now", "once", "10 seconds", "1 minute", "500 milliseconds"])
def test_triggers(tmp_path, trigger):
    assert errors(tmp_path, env=f'job.mode = STREAMING, stream.trigger = "{trigger}"') == []


def test_a_trigger_that_is_none_is_reported(tmp_path):
    [(code, message)] = errors(tmp_path, env='job.mode = STREAMING, stream.trigger = "often"')
    assert (code, message) == ("PEN2004", "`often` is neither `available_now`, `once` nor an interval")


def test_explain_says_what_is_a_stream_and_when_micro_batches_run(tmp_path, capsys):
    query = 'Sql { plugin_input = ["s", "d"], query = "select s.id, d.area from s join d on s.id = d.id" }'
    env = 'job.mode = STREAMING, stream.trigger = "1 minute"'
    (tmp_path / "job.conf").write_text(
        f"env {{ {env} }}\nsource {{ {STREAM}\n{TABLE} }}\ntransform {{ {query} }}\nsink {{ Console {{}} }}"
    )
    assert main(["explain", str(tmp_path / "job.conf")]) == 0
    assert capsys.readouterr().out.startswith(
        "stream of s: every 1 minute\n"
        "each micro-batch is staged, and committed in all sinks that read its stream\n"
        "read as a whole for each micro-batch: d\n\n"
        "write "
    )


SINKING = 'watermark { column = at, delay = "10 minutes", late = sink }'
HOURLY = """Sql { plugin_input = s, plugin_output = %s
    query = "select window(at, '1 hour') as hour, count(*) as n from s group by window(at, '1 hour')" }"""


def test_late_rows_of_a_kafka_source_are_an_output_for_sinks_of_their_own(tmp_path):
    """They are those of one stream with state; and no other source has partitions with times of their own."""
    sinks = "Console { plugin_input = q }\nConsole { plugin_input = %s }"
    assert errors(tmp_path, sources=timed("s", SINKING), transform=HOURLY % "q", sinks=sinks % "s_late") == []
    [(code, message)] = errors(tmp_path, sources=timed("s", SINKING), sinks="Console { plugin_input = s_late }")
    assert (code, message) == (
        "PEN2032",
        "`s_late` has the rows that come too late for windows, joins and `Deduplicate`",
    )
    both = f"{HOURLY % 'q'}\n{HOURLY % 'r'}"
    several = f"{sinks % 's_late'}\nConsole {{ plugin_input = r }}"
    [(code, message)] = errors(tmp_path, sources=timed("s", SINKING), transform=both, sinks=several)
    assert (code, message) == (
        "PEN2032",
        "`s` is read by `q` and `r`, each with a watermark and late rows of its own",
    )
    query = "select id from s union all select id from s_late"
    united = f'Sql {{ plugin_input = [s, s_late], plugin_output = u, query = "{query}" }}'
    [(code, message)] = errors(
        tmp_path, sources=timed("s", SINKING), transform=f"{HOURLY % 'q'}\n{united}", sinks=sinks % "u"
    )
    assert code == "PEN2032"
    assert message.endswith("reads late rows of `s`, and other rows of streams")
    fields = "schema { fields { at = timestamp } }"
    files = f'LocalFile {{ plugin_output = s, path = "in", file_format_type = json, {fields}, %s }}'
    for option, given in (("late", "late = sink"), ("idle.timeout", 'idle.timeout = "1 minute"')):
        source = files % f'watermark {{ column = at, delay = "1 minute", {given} }}'
        [(code, message), *_] = errors(tmp_path, sources=source, transform=HOURLY % "q", sinks=sinks % "s")
        assert code == "PEN2011"
        assert message.startswith(f"`{option}` is for the `watermark` of a Kafka source")
