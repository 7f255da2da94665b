"""What a streaming job cannot do is reported before it runs, with the reason."""

import pytest

from catalog.diagnostics import Diagnostics
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


def test_two_streams_into_one_sink_are_refused(tmp_path):
    two = f"{STREAM}\n{STREAM.replace('plugin_output = s', 'plugin_output = r')}"
    [(code, message)] = errors(tmp_path, sources=two, sinks='Console { plugin_input = ["s", "r"] }')
    assert (code, message) == (
        "PEN2032", "`s` and `r` are two streams that come together: each has micro-batches of its own",
    )  # fmt: skip


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
