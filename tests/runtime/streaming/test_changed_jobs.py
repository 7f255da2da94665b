"""A changed job against its checkpoint: each kind of change goes on as it should, or is refused with the reason."""

import json
import re

import pytest

from catalog.diagnostics import Diagnostics, RunError
from engine.compile import Settings, compile_job
from engine.plan.building.stream_checks import stream_of
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
    scan = stream_of(job.plan)
    return open_checkpoint(None, str(folder / "state"), job.plan, scan, "new", others={folder_of(scan)})


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
    assert json.loads(without.offsets(1)) == {"b": {"0": 3}}
    assert json.loads(without.offsets(0)) == OFFSETS
    assert opened(tmp_path, JOB.replace('"a,b"', '"b"')).warnings == ()
    without.files.write(f"{without.folder}/checkpoint/offsets/2", 'v1\n{}\n{"b":{"0":9}}')
    without.begin()  # the stream starts again after a transient error
    assert json.loads(without.offsets(2)) == {"b": {"0": 9}}


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
