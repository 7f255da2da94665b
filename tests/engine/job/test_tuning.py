"""What replaces parts of Hadoop and Java is off unless a job asks for it, and never on where it does harm."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.job.load import load
from engine.job.model.job import Tuning

JOB = "env { %s }\nsource { FakeSource { schema { fields { id = int } } } }\nsink { Console {} }"


def env_of(settings: str):
    diagnostics = Diagnostics()
    job = load(SourceFile("job.conf", JOB % settings), diagnostics)
    assert job is not None
    return job.env, [(item.code, item.message) for item in diagnostics]


def test_nothing_is_replaced_by_default():
    env, found = env_of("")
    assert (env.tuning, env.reuses_batch_plans, found) == (frozenset(), True, [])


@pytest.mark.parametrize("part", Tuning)
def test_each_part_is_turned_on_by_its_name(part):
    env, found = env_of(f"tuning {{ {part.value} = true }}")
    assert (env.tuning, found) == ({part}, [])


def test_a_stream_has_javas_own_compiler():
    _, found = env_of("job.mode = STREAMING, tuning.late_compiler = true")
    assert found == [
        ("PEN2011", "`tuning.late_compiler` is for batch jobs: a stream runs long enough for Java's compiler")
    ]


def test_the_reuse_of_plans_can_be_turned_off():
    env, found = env_of("reuse_batch_plans = false")
    assert (env.reuses_batch_plans, found) == (False, [])


def test_an_accelerator_is_for_batch_jobs():
    env, found = env_of("accelerator = comet")
    assert (env.accelerator.value, found) == ("comet", [])
    env, found = env_of("accelerator = comet, job.mode = STREAMING")
    assert env.accelerator.value == "none"
    assert [code for code, _ in found] == ["PEN2011"]


def test_an_accelerator_that_there_is_not_is_an_error():
    _, found = env_of("accelerator = gluten")
    assert [code for code, _ in found] == ["PEN2004"]


def test_sessions_of_jobs_without_an_accelerator_have_it_off():
    assert env_of("accelerator = comet")[0].session_settings == {}
    assert env_of("")[0].session_settings == {"spark.comet.enabled": "false"}
