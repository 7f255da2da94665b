"""A changed job against its checkpoint: each kind of change goes on as it should, or is refused with the reason."""

import json
import re

import pytest

from catalog.diagnostics import Diagnostics, RunError
from engine.compile import Settings, compile_job
from engine.plan.streams import streams_of
from engine.runtime.streaming.checkpoint import folder_of, open_checkpoint

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


def opened(folder, text):
    path = folder / "job.conf"
    path.write_text(text)
    diagnostics = Diagnostics()
    job = compile_job(path, Settings(), diagnostics)
    assert job is not None, list(diagnostics)
    (stream,) = streams_of(job.plan)
    return open_checkpoint(None, str(folder / "state"), stream, "new", others={folder_of(stream)})


@pytest.fixture
def checkpoint(tmp_path):
    """What a run of JOB leaves that has ended its micro-batches 0 and 1."""
    made = opened(tmp_path, JOB)
    made.begin()
    for batch in (0, 1):
        for log, text in (("offsets", f"v1\n{{}}\n{json.dumps(OFFSETS)}"), ("commits", "v1\n{}")):
            made.files.write(f"{made.folder}/checkpoint/{log}/{batch}", text)
    return made


ALLOWED = {
    "nothing": ("", "", None),
    "a topic is added": ('"a,b"', '"a,b,c"', None),
    "the topics are a pattern": ('topic = "a,b"', 'topic = "[a-c]", pattern = true', None),
    "another group": ("group = g", "group = h", None),
    "another start": ("earliest", "latest", None),
    "another filter": ("id > 1", "id > 2", None),
    "another schema": ("name = string", "name = string, more = int", None),
    "another key": ("[id]", "[name]", None),
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
    "one source": (
        "once on some.id = once.id and some.at = once.at",
        "some as once on some.id = once.id and some.at = once.at",
        "reads Kafka `b:9092`, but its checkpoint",
    ),
    "another source": ("c:9092", "d:9092", "reads Kafka `b:9092` and Kafka `d:9092`, but its checkpoint"),
    "another topic": ('"c:9092", topic = "a"', '"c:9092", topic = "b"', "no longer reads `a`, and joins or unites"),
}


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
