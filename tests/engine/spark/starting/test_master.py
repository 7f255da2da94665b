"""A master that is none, or does not answer, is reported before Java is started."""

import socket
import subprocess
import sys
import time

import pytest

from catalog.diagnostics.diagnostic import RunError
from engine.spark.starting.master import check_master
from tests.services.processes import free_port

JOB = "source { FakeSource { schema { fields { id = int } } } }\nsink { Console {} }\n"


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[2,3]", "yarn", "local-cluster[2,1,1024]"])
def test_masters_are_taken(master):
    check_master(master)


@pytest.mark.parametrize("master", ["locl[2]", "local[", "local[0]", "spark:/x", "", "mesos://h:1"])
def test_what_is_no_master_is_refused(master):
    with pytest.raises(RunError, match=r"PEN5402.*is no master of Spark"):
        check_master(master)


def test_a_master_that_does_not_answer_is_reported():
    port = free_port()
    for master in (f"spark://127.0.0.1:{port}", f"k8s://https://127.0.0.1:{port}"):
        with pytest.raises(RunError, match=r"PEN5402.*no master answers at .*Connection refused"):
            check_master(master)
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_master(f"spark://127.0.0.1:{port},127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.spark
def test_a_run_with_a_bad_master_says_so_at_once(tmp_path):
    (tmp_path / "job.conf").write_text(JOB)
    for master, said in (
        ("locl[2]", "is no master of Spark"),
        (f"spark://127.0.0.1:{free_port()}", "no master answers"),
    ):
        command = [sys.executable, "-m", "engine.cli", "run", "job.conf", "--master", master]
        started = time.monotonic()
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "error[PEN5402]" in done.stderr
        assert said in done.stderr
        assert "Ivy" not in done.stderr
        assert len(done.stderr.splitlines()) < 6
        assert time.monotonic() - started < 60
