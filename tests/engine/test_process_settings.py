"""The settings of a process belong to its owner: compiling, validating and running jobs from Python change none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
JOB = """
env { job.name = "rows", parallelism = 1 }
source { FakeSource { plugin_output = f, row.num = 3, schema { fields { id = bigint, name = string } } } }
transform { Sql { plugin_input = f, plugin_output = q, query = "select id, upper(name) as name from f" } }
sink { LocalFile { plugin_input = q, path = "%s", file_format_type = parquet } }
"""
SETTINGS = """
import gc, locale, logging, os, resource, signal, sys, threading, warnings

def settings():
    names = ("", "sqlglot", "py4j", "pyspark", "SQLQueryContextLogger", "DataFrameQueryContextLogger")
    loggers = [logging.getLogger(name) for name in names]
    return {
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "timers": [signal.getitimer(timer) for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF)],
        "garbage": (gc.get_threshold(), gc.isenabled(), gc.get_freeze_count()),
        "stack": (sys.getrecursionlimit(), threading.stack_size()),
        "folder": os.getcwd(),
        # PySpark itself passes settings to its own code by SPARK_…, and adds a folder for files of jobs to the path
        "environment": {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")},
        "locale": locale.setlocale(locale.LC_ALL),
        "limits": [resource.getrlimit(limit) for limit in (resource.RLIMIT_DATA, resource.RLIMIT_AS)],
        "streams": (sys.stdin, sys.stdout, sys.stderr, sys.excepthook, sys.displayhook),
        "path": [folder for folder in sys.path if "/userFiles-" not in folder],
        "warnings": list(warnings.filters),
        "logging": [(logger.level, logger.disabled, list(logger.filters)) for logger in loggers],
    }

def check_same(before, now):
    for name, value in now.items():
        assert value == before[name], f"{name}: {added(value, before[name])}"

def added(now, before):
    return dict(now.items() - before.items()) if isinstance(now, dict) else (now, before)

import sqlglot
from pathlib import Path
from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import compile_job
from engine.job.model.settings import Settings
from engine.validation.check_jobs import check_jobs

files = [Path(name) for name in sys.argv[1:]]
"""
VALIDATE = """
before = settings()
for processes in (1, 2):
    checked = check_jobs(files, Settings(), processes)
    assert [len(job.diagnostics) for job in checked] == [0, 1], checked
check_same(before, settings())
"""
RUN = """
import pyspark.sql  # sets what it sets, before
from engine.runtime.application import application
from engine.runtime.execute import run_job
from engine.runtime.run_request import RunRequest

before = settings()
job = compile_job(files[0], Settings(reads_secrets=True, state_dir=str(files[0].parent / "state")), Diagnostics())
with application([job], "local[1]") as spark:
    assert run_job(spark, job, RunRequest("one")).errors == ()
    check_same(before, settings())
check_same(before, settings())
"""


def files(folder: Path, count: int) -> list[str]:
    found = []
    for number in range(count):
        path = folder / f"job{number}.conf"
        text = JOB % (folder / f"out{number}")
        path.write_text(text if number % 2 == 0 else text.replace("upper(", "uppper("))
        found.append(str(path))
    return found


def run(program: str, jobs: list[str], folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    done = subprocess.run(
        [sys.executable, "-c", SETTINGS + program, *jobs], cwd=folder, check=False, capture_output=True, text=True,
        env=environment | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_validating_leaves_the_settings_of_the_process(tmp_path):
    run(VALIDATE, files(tmp_path, 2), tmp_path)


@pytest.mark.spark
def test_running_leaves_the_settings_of_the_process(tmp_path):
    run(RUN, files(tmp_path, 1), tmp_path)


def test_only_the_command_line_and_child_processes_change_the_folder():
    files = [path for name in ("catalog", "sql", "connectors", "engine") for path in (ROOT / name).rglob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in files if "chdir(" in path.read_text(encoding="utf-8")}
    assert found == {"engine/project/enter.py", "engine/child_processes.py"}
