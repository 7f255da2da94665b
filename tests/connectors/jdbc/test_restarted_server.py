"""A database that is restarted before a step of a run: what the run says, and that no row is lost or doubled.

`PENSTOCK_TEST_RESTARTS=all` restarts it before every step, of every database.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("pyspark")

from connectors.jdbc import connector as jdbc
from connectors.jdbc.writing import commit
from engine.cli import main

pytestmark = pytest.mark.spark

JOB = """
env {{ job.name = "load", job.retry.times = 0 }}
source {{ FakeSource {{ rows = [{{ kind = INSERT, fields = [1] }}, {{ kind = INSERT, fields = [2] }}]
  schema {{ fields {{ id = int }} }} }} }}
sink {{ Jdbc {{ {options}, table = "t" }} }}
"""
STEPS = ("inspect", "prepare", "stage", "begin_commit", "finish")
DATABASES = ("postgres", "mariadb")
EVERY = [(name, step) for name in DATABASES for step in STEPS]
RESTARTER = ThreadPoolExecutor(1)
"""Its thread lives as long as the tests: a server ends with the thread that has started it."""
CASES = EVERY if os.environ.get("PENSTOCK_TEST_RESTARTS") else [("postgres", "stage"), ("postgres", "finish")]


def restart(database) -> None:
    """Kill the server, start it, and wait until it has read its log."""
    database.restart()
    until = time.monotonic() + 60
    while True:
        try:
            database.rows("select 1")
            return
        except Exception:  # noqa: BLE001 (whatever the driver says of a server that is starting)
            assert time.monotonic() < until
            time.sleep(0.1)


@pytest.mark.parametrize(("name", "step"), CASES)
def test_a_server_restarted_before_a_step_loses_no_row_and_its_message_says_what_to_do(
    spark, request, tmp_path, monkeypatch, capsys, name, step
):
    database = request.getfixturevalue(name)
    database.clear()
    database.run("create table t (id int)", "insert into t values (0)")
    options = ", ".join(f'{key} = "{value}"' for key, value in database.options.items())
    (tmp_path / "job.conf").write_text(JOB.format(options=options))
    owner = commit._OpenTransaction if step == "finish" else type(jdbc.connector)
    original, restarts = getattr(owner, step), []

    def restarted(*arguments, **named):
        if not restarts:
            restarts.append(step)
            RESTARTER.submit(restart, database).result()
        return original(*arguments, **named)

    command = ["run", str(tmp_path / "job.conf"), "--quiet", "--state-dir", str(tmp_path / "state"), "--run-id", "r"]
    with monkeypatch.context() as patched:
        patched.setattr(owner, step, restarted)
        code = main(command)
    err = capsys.readouterr().err
    assert restarts == [step]
    for word in ("PEN9001", "Traceback", "java.", "py4j"):
        assert word not in err
    if step == "finish":  # the transaction was open, and is lost
        assert code == 1
        assert "error[PEN5012]: the connection to the database was lost" in err
        assert "`penstock run --resume r`" in err
        assert database.rows("select id from t") == [(0,)]
        resume = ["run", "--resume", "r", str(tmp_path / "job.conf"), "--state-dir", str(tmp_path / "state")]
        assert main(resume) == 0, capsys.readouterr().err
    else:
        assert (code, err) == (0, "")
    assert main(command) == 0
    assert sorted(database.rows("select id from t")) == [(0,), (1,), (2,)]
