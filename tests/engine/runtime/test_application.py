"""Several jobs in one Spark application."""

import subprocess
import threading
from pathlib import Path

import pytest

from connectors.commits import run_owner as owner
from connectors.delta.connector import connector as delta
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
    printed = capsys.readouterr().err
    assert f"error[PEN2014]: `{setting}` is `x.Z`, but `x.Y` in the job `a`" in printed
    assert "b.conf:2:23" in printed
    assert "a.conf:2:23" in printed


def test_jars_of_several_jobs_are_put_together_but_for_two_versions_of_one(tmp_path, capsys):
    """Files of equal content are one jar, wherever they are and whatever version their names say."""
    pytest.importorskip("pyspark")
    from engine.compile import Settings, compile_jobs
    from engine.job.model.shared_jars import shared_jars

    jars = {"driver-1.2.jar": "old", "driver-1.10.jar": "new", "copy/driver-1.2.1.jar": "old", "other.jar": "other"}
    for name, content in jars.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)

    def job(name, *files):
        return write_job(tmp_path, name, f'jars = "{";".join(str(tmp_path / file) for file in files)}"')

    a, b, c = job("a", "driver-1.2.jar"), job("b", "copy/driver-1.2.1.jar", "other.jar"), job("c", "driver-1.10.jar")
    envs = [compiled.plan.env for compiled in compile_jobs([a, b], Settings())]
    assert shared_jars(envs) == f"{tmp_path}/driver-1.2.jar,{tmp_path}/other.jar"
    assert main(["run", a, c]) == 2
    printed = capsys.readouterr().err
    version = f"`{tmp_path}/driver-1.10.jar` is another version of `{tmp_path}/driver-1.2.jar`, a jar of the job `a`"
    assert f"error[PEN2014]: {version}" in printed
    assert "c.conf:2:30" in printed
    assert "a.conf:2:30" in printed


def test_settings_of_each_jobs_own_session_may_differ(tmp_path, capsys):
    pytest.importorskip("pyspark")
    from engine.compile import Settings, compile_jobs
    from engine.runtime.application import refuse_differing_settings

    files = [write_job(tmp_path, name, f"spark.sql.shuffle.partitions = {n}") for name, n in (("a", 1), ("b", 2))]
    refuse_differing_settings(compile_jobs(files, Settings()))


def test_progress_says_that_spark_starts_and_which_jars_it_fetches(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyspark")
    from engine.runtime import application

    def ends_here(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(application, "has_session", lambda: False)
    monkeypatch.setattr(application, "open_session", ends_here)
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job = write_job(tmp_path, "a", "parallelism = 1")
    assert main(["run", job]) == 130
    assert capsys.readouterr().err == "starting Spark\ninterrupted\n"
    Path(job).write_text(Path(job).read_text().replace("Console {}", f'Delta {{ path = "{tmp_path}/t" }}'))
    assert main(["run", job]) == 130
    said = capsys.readouterr().err
    assert said.startswith(f"starting Spark; it fetches {delta.maven[0]} if they are not here yet\n")
    assert main(["run", job, "--quiet"]) == 130
    assert "starting Spark" not in capsys.readouterr().err


def test_a_run_whose_java_process_is_dying_is_one_to_recover(tmp_path):
    """Python was killed, and its Java process notices a moment later: what ends the run needs its connectors' jars."""
    pytest.importorskip("pyspark")
    from engine.spark.writing.recover import connectors_to_recover
    from engine.state.journal import journal_in
    from engine.state.layout import layout_at

    python, java = subprocess.Popen(["sleep", "60"]), subprocess.Popen(["sleep", "60"])
    try:
        mark = owner.with_jvm({**owner.this_process(), "pid": python.pid, "start": owner._start(python.pid)}, java.pid)
        journal_in(layout_at(None, str(tmp_path)), "run").begin(mark, {"w": "Delta"}, "job")
        assert connectors_to_recover(layout_at(None, str(tmp_path))) == {}  # it lives
        python.kill()
        python.wait()
        threading.Timer(0.5, lambda: (java.kill(), java.wait())).start()
        assert [each.name for each in connectors_to_recover(layout_at(None, str(tmp_path)))] == ["Delta"]
    finally:
        for process in (python, java):
            process.kill()
            process.wait()
