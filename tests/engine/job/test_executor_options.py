"""`slots` in `env`: the executors that a job asks a cluster for."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.cli import main
from engine.compile import Settings, compile_job

JOB = "env {{ {env} }}\nsource {{ FakeSource {{ schema {{ fields {{ id = int }} }} }} }}\nsink {{ Console {{}} }}"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ("slots { mode = fixed, max = 4 }", {"dynamicAllocation.enabled": "false", "executor.instances": "4"}),
        (
            "slots { mode = dynamic, min = 1, max = 8, idle_timeout = 30 }",
            {
                "dynamicAllocation.enabled": "true",
                "dynamicAllocation.shuffleTracking.enabled": "true",
                "dynamicAllocation.minExecutors": "1",
                "dynamicAllocation.maxExecutors": "8",
                "dynamicAllocation.executorIdleTimeout": "30s",
            },
        ),
        (  # what the job says of Spark itself wins
            "slots { mode = dynamic }, spark.dynamicAllocation.shuffleTracking.enabled = false",
            {"dynamicAllocation.enabled": "true", "dynamicAllocation.shuffleTracking.enabled": "false"},
        ),
        ("", {}),
    ],
)
def test_they_are_spark_settings_of_executors(tmp_path, env, expected):
    job = tmp_path / "job.conf"
    job.write_text(JOB.format(env=env))
    compiled = compile_job(job, Settings(), Diagnostics())
    assert compiled is not None
    assert compiled.plan.env.spark == {f"spark.{name}": value for name, value in expected.items()}


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ("slots.mode = elastic", "`slots.mode` must be `fixed` or `dynamic`"),
        ("slots.mode = fixed", "`slots.mode = fixed` needs `slots.max`"),
        ("slots.max = 4", "`slots.max` has no effect without `slots.mode = dynamic`"),
        ("slots { mode = fixed, max = 2, idle_timeout = 5 }", "`slots.idle_timeout` has no effect"),
        ("slots { mode = dynamic, min = 3, max = 2 }", "`slots.min` is 3, above `slots.max`, which is 2"),
    ],
)
def test_what_means_nothing_is_an_error_at_its_place(tmp_path, capsys, env, said):
    job = tmp_path / "job.conf"
    job.write_text(JOB.format(env=env))
    assert main(["validate", str(job)]) == 2
    assert said in capsys.readouterr().out
