"""A changed job against its checkpoint: each kind of change goes on as it should, or is refused with the reason."""

import json
import re

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from engine.compile import Settings, compile_job
from engine.plan.streams import streams_of
from engine.runtime.streaming.checkpoint import folder_of, open_checkpoint
from engine.state.layout import layout_at

JOB = """
env { job.mode = STREAMING, job.name = job, stream.trigger = once }
source {
  Kafka {
    plugin_output = k, bootstrap.servers = "b:9092", topic = "a,b", consumer.group = g, start_mode = earliest
    schema { fields { id = bigint, name = string } }
  }
}
transform { Sql { plugin_input = k, plugin_output = q, query = "select * from k where id > 1" } }
sink { Delta { plugin_input = q, path = "out/one", write_mode = upsert, primary_keys = [id] } }
"""
OFFSETS = {"a": {"0": 5, "1": 7}, "b": {"0": 3}}
TO_ANOTHER = '\nsink { Delta { plugin_input = q, path = "out/two" } }'


def all_streams(folder, text):
    path = folder / "job.conf"
    path.write_text(text)
    diagnostics = Diagnostics()
    job = compile_job(path, Settings(), diagnostics)
    assert job is not None, list(diagnostics)
    return streams_of(job.plan)


def all_opened(folder, text):
    streams = all_streams(folder, text)
    folders = {folder_of(stream) for stream in streams}
    return [open_checkpoint(None, layout_at(None, str(folder / "state")), stream, others=folders) for stream in streams]


def opened(folder, text):
    (checkpoint,) = all_opened(folder, text)
    return checkpoint


@pytest.fixture
def checkpoint(tmp_path):
    """What a run of JOB leaves that has ended its micro-batches 0 and 1."""
    made = opened(tmp_path, JOB)
    made.begin()
    for batch in (0, 1):
        for log, text in (("offsets", f"v1\n{{}}\n{json.dumps(OFFSETS)}"), ("commits", "v1\n{}")):
            made.files.write(f"{made.folder}/checkpoint/{log}/{batch}", text)
    return made


def test_a_checkpoint_is_where_the_job_says(tmp_path):
    text = JOB.replace("stream.trigger", f'stream.checkpoint = "{tmp_path}/kept", stream.trigger')
    assert opened(tmp_path, text).folder.startswith(f"{tmp_path}/kept/")


def test_a_stream_that_ended_before_its_first_micro_batch_starts_again(tmp_path):
    opened(tmp_path, JOB).begin([0])
    again = opened(tmp_path, JOB)
    assert (again.is_new, again.has_batches, again.kept, again.warnings) == (False, False, None, ())


ALLOWED = {
    "nothing": ("", "", None),
    "a topic is added": ('"a,b"', '"a,b,c"', None),
    "the topics are a pattern": ('topic = "a,b"', 'topic = "[a-c]", pattern = true', None),
    "another group": ("group = g", "group = h", None),
    "another start": ("earliest", "latest", None),
    "another filter": ("id > 1", "id > 2", None),
    "another projection": ("select * from", "select id, upper(name) as name from", None),
    "an aggregation of each row": ("select * from k", "select id, transform(array(name), x -> x) as n from k", None),
    "another schema": ("name = string", "name = string, more = int", None),
    "another type": ("name = string", "name = binary", None),
    "another format": ("start_mode =", "format = csv, start_mode =", None),
    "a change log": ("start_mode =", "format = debezium_json, start_mode =", None),
    "a lenient format": ("start_mode =", "format_error_handle_way = skip, start_mode =", None),
    "a watermark": (
        "start_mode =",
        'metadata_columns = [timestamp], watermark { column = _timestamp, delay = "1 hour" }, start_mode =',
        None,
    ),
    "another limit of a micro-batch": ("start_mode =", "max_offsets = 5, start_mode =", None),
    "another key": ("[id]", "[name]", None),
    "another write mode": ("write_mode = upsert, primary_keys = [id]", "write_mode = append", None),
    "another name of the sink": ("sink { Delta {", "sink { Delta { uid = renamed,", None),
    "another connector of the sink": (
        'Delta { plugin_input = q, path = "out/one", write_mode = upsert, primary_keys = [id]',
        'LocalFile { plugin_input = q, path = "out/four", file_format_type = json',
        "`four` is new: it receives what arrives from now on",
    ),
    "a source that is a table": (
        "\ntransform {",
        '\nsource { Delta { plugin_output = d, path = "d", stream = false, schema { fields { id = bigint } } } }\n'
        'transform { Sql { plugin_input = [k, d], plugin_output = both, query = "select k.* from k join d using (id)" '
        "} }\ntransform {",
        None,
    ),
    "one more broker": ("b:9092", "c:9092,b:9092", None),
    "another trigger": ("once", '"5 seconds"', None),
    "other shuffle partitions": ("env {", "env { spark.sql.shuffle.partitions = 7,", None),
    "another target": ("out/one", "out/three", "`three` is new: it receives what arrives from now on"),
    "one more target": ("\nsink {", TO_ANOTHER + "\nsink {", "`two` is new: it receives what arrives from now on"),
    "a topic is left out": ('"a,b"', '"b"', "`k` no longer reads `a`: where reading ended there is forgotten"),
}
REFUSED = {
    "other brokers": ("b:9092", "c:9092", "reads Kafka `c:9092`, but its checkpoint"),
    "another name": ("= k\\b", "= renamed", "`renamed` has no checkpoint, and that of `k`, which reads the same"),
}


@pytest.mark.parametrize(("old", "new", "warning"), ALLOWED.values(), ids=ALLOWED)
def test_changes_with_which_a_stream_goes_on(tmp_path, checkpoint, old, new, warning):
    changed = opened(tmp_path, JOB.replace(old, new, 1) if old else JOB)
    assert not changed.is_new
    assert changed.record.stream == checkpoint.record.stream
    assert [each.message for each in changed.warnings] == ([warning] if warning else [])


@pytest.mark.parametrize(("old", "new", "reason"), REFUSED.values(), ids=REFUSED)
def test_changes_with_which_it_cannot(tmp_path, checkpoint, old, new, reason):
    text = re.sub(old, new, JOB).replace("from k", "from renamed" if "renamed" in new else "from k")
    with pytest.raises(RunError, match=reason) as refused:
        opened(tmp_path, text)
    assert refused.value.diagnostics[0].code == "PEN5060"


def test_a_source_that_keeps_its_uid_may_be_renamed(tmp_path, checkpoint):
    renamed = JOB.replace("plugin_output = k,", "plugin_output = r, uid = k,").replace("_input = k", "_input = r")
    assert not opened(tmp_path, renamed.replace("from k", "from r")).is_new


def test_a_source_of_other_topics_begins_anew(tmp_path, checkpoint):
    other = JOB.replace("plugin_output = k,", "uid = second, plugin_output = k,").replace('"a,b"', '"c"')
    assert opened(tmp_path, other).is_new


def test_topics_that_are_left_out_are_dropped_from_the_checkpoint_once(tmp_path, checkpoint):
    without = opened(tmp_path, JOB.replace('"a,b"', '"b"'))
    without.begin()
    assert json.loads(without.offsets(1)[0]) == {"b": {"0": 3}}
    assert json.loads(without.offsets(0)[0]) == OFFSETS
    assert opened(tmp_path, JOB.replace('"a,b"', '"b"')).warnings == ()
    without.files.write(f"{without.folder}/checkpoint/offsets/2", 'v1\n{}\n{"b":{"0":9}}')
    without.begin()  # the stream starts again after a transient error
    assert json.loads(without.offsets(2)[0]) == {"b": {"0": 9}}


def test_topics_are_not_left_out_while_a_micro_batch_has_not_ended(tmp_path, checkpoint):
    checkpoint.files.delete(f"{checkpoint.folder}/checkpoint/commits/1")
    with pytest.raises(RunError, match="its last micro-batch, which did, has not ended") as refused:
        opened(tmp_path, JOB.replace('"a,b"', '"b"'))
    assert refused.value.diagnostics[0].help == "run the job once as it was; then leave them out"


def test_a_checkpoint_without_its_sinks_is_read(tmp_path, checkpoint):
    path = f"{checkpoint.folder}/stream.json"
    values = json.loads(checkpoint.files.read(path))
    del values["sinks"]
    checkpoint.files.write(path, json.dumps(values))
    assert opened(tmp_path, JOB.replace("out/one", "out/three")).warnings == ()


STATE = """
env { job.mode = STREAMING, job.name = job, stream.trigger = once, spark.sql.shuffle.partitions = 4 }
source {
  Kafka {
    plugin_output = k, bootstrap.servers = "b:9092", topic = "a", start_mode = earliest
    schema { fields { id = bigint, at = timestamp } }, watermark { column = at, delay = "1 hour" }
  }
  Kafka {
    plugin_output = l, bootstrap.servers = "c:9092", topic = "a", start_mode = earliest
    schema { fields { id = bigint, at = timestamp } }, watermark { column = at, delay = "1 hour" }
  }
}
transform {
  Sql { plugin_input = k, plugin_output = some, query = "select * from k where id > 1" }
  Deduplicate { plugin_input = l, plugin_output = once, keys = [id] }
  Sql { plugin_input = [some, once], plugin_output = j,
        query = "select some.id, some.at from some join once on some.id = once.id and some.at = once.at" }
}
sink { Delta { plugin_input = j, path = "out/one" } }
"""
OF_STATE = {
    "nothing": ("", "", None),
    "a filter before the state": ("id > 1", "id > 2", None),
    "a later watermark": ("1 hour", "2 hours", None),
    "fewer partitions": (
        "partitions = 4",
        "partitions = 2",
        "the state of `j` is in 4 partitions, and stays so: `spark.sql.shuffle.partitions = 2` has no effect",
    ),
}
NOT_OF_STATE = {
    "another query": ("some.id, some.at from", "some.id from", "what keeps state for `j` has changed"),
    "other keys": ("keys = [id]", "keys = [at]", "what keeps state for `j` has changed"),
    "another kind of join": ("some join once", "some left join once", "what keeps state for `j` has changed"),
    "another bound of the join": (
        "some.at = once.at",
        "some.at between once.at and once.at + interval 1 hour",
        "what keeps state for `j` has changed",
    ),
    "one source": (
        "once on some.id = once.id and some.at = once.at",
        "some as once on some.id = once.id and some.at = once.at",
        "reads Kafka `b:9092`, but its checkpoint",
    ),
    "another source": ("c:9092", "d:9092", "reads Kafka `b:9092` and Kafka `d:9092`, but its checkpoint"),
    "another topic": ('"c:9092", topic = "a"', '"c:9092", topic = "b"', "no longer reads `a`, and joins or unites"),
}


MORE = """
source {
  Kafka {
    plugin_output = m, bootstrap.servers = "b:9092", topic = "m", start_mode = earliest
    schema { fields { id = bigint, at = timestamp } }, watermark { column = at, delay = "1 hour" }
  }
}
"""


def test_a_source_is_added_with_a_sink_of_its_own_and_left_out_again(tmp_path, checkpoint):
    sink = '\nsink { Delta { plugin_input = m, path = "out/m" } }'
    first, added = all_opened(tmp_path, JOB.replace("\ntransform", MORE + "transform") + sink)
    assert (first.is_new, added.is_new) == (False, True)
    added.begin()
    assert not opened(tmp_path, JOB).is_new


def test_state_is_added_to_a_stream_and_left_out_again(tmp_path, checkpoint):
    """Offsets alone would be a state without the rows before them, and the other way round."""
    once = "Deduplicate { plugin_input = k, plugin_output = once, keys = [id] }\n"
    late = 'metadata_columns = [timestamp], watermark { column = _timestamp, delay = "1 hour" }\nstart_mode'
    keyed = JOB.replace("start_mode", late).replace("transform {", f"transform {{ {once}")
    keyed = keyed.replace("from k", "from once").replace("Sql { plugin_input = k", "Sql { plugin_input = once")
    with pytest.raises(RunError, match="`once` has no checkpoint, and that of `k`, which reads the same") as refused:
        opened(tmp_path, keyed)
    assert refused.value.diagnostics[0].code == "PEN5060"
    with pytest.raises(RunError, match="what keeps state for `once` has changed"):
        opened(tmp_path, keyed.replace("= once, keys", "= once, uid = k, keys"))


COUNTS = """
env { job.mode = STREAMING, job.name = job, stream.trigger = once }
source {
  Kafka {
    plugin_output = k, bootstrap.servers = "b:9092", topic = "a", start_mode = earliest
    schema { fields { id = bigint, page = string, at = timestamp, seen = timestamp, more = string } }
    watermark { column = at, delay = "1 hour" }
  }
}
transform {
  Sql { plugin_input = k, plugin_output = w, query = \"\"\"
    select window(at, '1 hour').start as start, page, count(*) as n, sum(id) as total from k where id > 1
    group by window(at, '1 hour'), page\"\"\" }
  Sql { plugin_input = w, plugin_output = after, query = "select * from w where n > 1" }
}
sink { Delta { plugin_input = after, path = "out/one" } }
"""
KEPT_COUNTS = {
    "nothing": ("", ""),
    "its layout": ("count(*) as n", "count( * )   as n /* rows */"),
    "a filter after it": ("n > 1", "n > 2"),
    "a projection after it": ("select * from w", "select start, page from w"),
    "a column that it does not read": ("more = string", "more = int, another = int"),
    "a topic": ('topic = "a"', 'topic = "a,b"'),
    "a sink": ('out/one" }', 'out/one", write_mode = upsert, primary_keys = [start] }'),
}
REFUSED_COUNTS = {
    "a window": ("'1 hour')", "'2 hours')"),
    "a slide": ("'1 hour')", "'1 hour', '30 minutes')"),
    "a session": ("window(at, '1 hour')", "session_window(at, '1 hour')"),
    "its event time": ("window(at", "window(seen"),
    "a key": ("'), page", "'), page, more"),
    "one key less": ("page, count", "max(page) as page, count"),
    "an aggregation": ("sum(id)", "max(id)"),
    "an aggregation more": ("sum(id)", "min(id) as least, sum(id)"),
    "a filter of it": ("id > 1", "id > 2"),
    "a type that it groups by": ("page = string", "page = int"),
    "a type that it adds up": ("id = bigint", "id = int"),
}


@pytest.fixture
def counts(tmp_path):
    """What a run of COUNTS leaves that has ended its micro-batch 0."""
    made = opened(tmp_path, COUNTS)
    made.begin([0])
    made.files.write(f"{made.folder}/checkpoint/offsets/0", 'v1\n{}\n{"a":{"0":5}}')
    made.files.write(f"{made.folder}/checkpoint/commits/0", "v1\n{}")
    return made


@pytest.mark.parametrize(("old", "new"), KEPT_COUNTS.values(), ids=KEPT_COUNTS)
def test_changes_with_which_groups_are_kept(tmp_path, counts, old, new):
    changed = opened(tmp_path, COUNTS.replace(old, new) if old else COUNTS)
    assert (changed.is_new, changed.warnings) == (False, ())


@pytest.mark.parametrize(("old", "new"), REFUSED_COUNTS.values(), ids=REFUSED_COUNTS)
def test_changes_with_which_groups_mean_nothing(tmp_path, counts, old, new):
    text = COUNTS.replace(old, new)
    if "seen" in new:
        text = text.replace("column = at", "column = seen")
    if new.startswith("max(page)"):
        text = text.replace("'), page", "')")
    with pytest.raises(RunError, match="what keeps state for `w` has changed") as refused:
        opened(tmp_path, text)
    assert refused.value.diagnostics[0].code == "PEN5060"


@pytest.fixture
def state(tmp_path):
    """What a run of STATE leaves that has ended its micro-batch 0."""
    made = opened(tmp_path, STATE)
    made.begin([0, 1])
    conf = json.dumps({"conf": {"spark.sql.shuffle.partitions": "4"}})
    made.files.write(f"{made.folder}/checkpoint/offsets/0", f'v1\n{conf}\n{{"a":{{"0":5}}}}\n{{"a":{{"0":7}}}}')
    made.files.write(f"{made.folder}/checkpoint/commits/0", "v1\n{}")
    return made


@pytest.mark.parametrize(("old", "new", "warning"), OF_STATE.values(), ids=OF_STATE)
def test_changes_with_which_state_is_kept(tmp_path, state, old, new, warning):
    changed = opened(tmp_path, STATE.replace(old, new) if old else STATE)
    assert not changed.is_new
    assert [each.message for each in changed.warnings] == ([warning] if warning else [])


@pytest.mark.parametrize(("old", "new", "reason"), NOT_OF_STATE.values(), ids=NOT_OF_STATE)
def test_changes_with_which_state_means_nothing(tmp_path, state, old, new, reason):
    text = STATE.replace(old, new)
    with pytest.raises(RunError, match=reason) as refused:
        opened(tmp_path, text)
    assert refused.value.diagnostics[0].code == "PEN5060"


def test_a_micro_batch_that_the_job_wrote_before_its_change_is_written(tmp_path):
    """Each target once, whatever the write is now; a target that is new gets the micro-batch that comes again."""
    from engine.state.journal import RunOutcome, journal_in
    from engine.state.recorded_runs import unwritten

    def writes(text):
        return all_streams(tmp_path, text)[0].plan.writes

    two = JOB + TO_ANOTHER
    before, layout = writes(two), layout_at(None, str(tmp_path / "state"))
    log = journal_in(layout, "run.1")
    assert unwritten(layout, "run.1", before) == before
    log.begin({}, {write.id: "Delta" for write in before}, "job", targets={write.id: write.target for write in before})
    for write in before:
        log.committed(write.id)
    assert unwritten(layout, "run.1", before) == before  # it may have been killed before its end
    log.end(RunOutcome.FINISHED)
    assert unwritten(layout, "run.1", before) == ()
    assert unwritten(layout, "run.1", writes(two.replace("id > 1", "id > 2").replace("[id]", "[name]"))) == ()
    changed = writes(two.replace("id > 1", "id > 2").replace("out/two", "out/three"))
    assert [write.target.rpartition("/")[2] for write in unwritten(layout, "run.1", changed)] == ["three"]


@pytest.mark.parametrize(("one", "other"), [("orders eu", "orders_eu"), ("заказы", "данные")])
def test_sources_and_jobs_of_different_names_have_checkpoints_of_their_own(tmp_path, one, other):
    found = set()
    for job, source in ((one, "k"), (other, "k"), ("job", one), ("job", other)):
        named = JOB.replace("job.name = job", f'job.name = "{job}"').replace("= k", f'= "{source}"')
        found.add(opened(tmp_path, named.replace("from k", f"from `{source}`")).folder)
    assert len(found) == 4


def test_a_checkpoint_of_an_earlier_version_is_found_by_the_name_that_it_had(tmp_path, checkpoint):
    named = JOB.replace("job.name = job", 'job.name = "Nightly load"')
    earlier = tmp_path / "state" / "streams" / "Nightly_load"
    (tmp_path / "state" / "streams" / "job").rename(earlier)
    record = json.loads((earlier / "k" / "stream.json").read_text())
    (earlier / "k" / "stream.json").write_text(json.dumps({**record, "job": "Nightly load"}))
    assert opened(tmp_path, named).folder == str(earlier / "k")
    assert opened(tmp_path, named.replace("Nightly load", "Nightly_load")).is_new
