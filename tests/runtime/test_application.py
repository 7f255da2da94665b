"""Several jobs in one Spark application."""

import pytest

from engine.cli import main

JOB = """
env {{ job.name = "{name}", {settings} }}
source {{ FakeSource {{ row.num = 1, schema {{ fields {{ id = int }} }} }} }}
sink {{ Console {{}} }}
"""


def write_job(folder, name, settings):
    path = folder / f"{name}.conf"
    path.write_text(JOB.format(name=name, settings=settings))
    return str(path)


@pytest.mark.parametrize("setting", ["spark.executor.memory", "spark.sql.extensions"])
def test_differing_settings_of_one_application_are_refused(tmp_path, capsys, setting):
    pytest.importorskip("pyspark")
    jobs = [write_job(tmp_path, name, f'{setting} = "{value}"') for name, value in (("a", "x.Y"), ("b", "x.Z"))]
    assert main(["run", *jobs]) == 2
    told = capsys.readouterr().err
    assert f"error[PEN2014]: `{setting}` is `x.Z`, but `x.Y` in the job `a`" in told
    assert "b.conf:2:23" in told
    assert "a.conf:2:23" in told


def test_settings_of_each_jobs_own_session_may_differ(tmp_path, capsys):
    pytest.importorskip("pyspark")
    from engine.compile import Settings, compile_jobs
    from engine.runtime.application import refuse_differing_settings

    files = [write_job(tmp_path, name, f"spark.sql.shuffle.partitions = {n}") for name, n in (("a", 1), ("b", 2))]
    refuse_differing_settings(compile_jobs(files, Settings()))
