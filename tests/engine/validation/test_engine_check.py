"""`validate --engine-check`: no word where Spark agrees, PEN9004 with all that a report needs where it does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.spark_version import NEWEST
from engine.compile import Settings
from engine.validation.engine_check import engine_check
from sql.functions import catalogue

ROOT = Path(__file__).parents[3]
JOB = """\
env { job.name = "check" }
source { FakeSource { plugin_output = "t", row.num = 1, schema { fields { id = bigint, name = string } } } }
transform {
  Sql { plugin_input = "t", plugin_output = "u", query = \"\"\"
    select id, upper(name) as loud,
           to_json(struct(id)) as js
    from t\"\"\" }
}
sink { Console { plugin_input = "u" } }
"""


@pytest.fixture
def job(tmp_path):
    path = tmp_path / "check.conf"
    path.write_text(JOB)
    return path


@pytest.fixture
def catalogue_says(monkeypatch):
    """Puts another line into the catalogue of functions for as long as the test lasts."""

    def says(line):
        lines = {**catalogue._lines(NEWEST), line.split("\t")[0]: [line]}
        monkeypatch.setattr(catalogue, "_lines", lambda spark: lines)
        catalogue.signatures.cache_clear()

    yield says
    catalogue.signatures.cache_clear()


@pytest.mark.spark
def test_where_spark_agrees_nothing_is_said(spark, job):
    checked = engine_check([job], Settings())
    assert (checked.diagnostics, checked.asked, checked.queries) == ((), 1, 1)


@pytest.mark.spark
def test_functions_that_penstock_registers_are_known(spark, tmp_path):
    path = tmp_path / "own.conf"
    path.write_text(JOB.replace("upper(name)", "penstock_json_path(name, '$..a')"))
    checked = engine_check([path], Settings())
    assert (checked.diagnostics, checked.asked) == ((), 1)


@pytest.mark.spark
def test_a_type_that_spark_does_not_give(spark, job, catalogue_says):
    catalogue_says("upper\tscalar\tstring\tint\tany\t")
    (found,) = engine_check([job], Settings()).diagnostics
    assert found.code == "PEN9004"
    assert found.message == "Spark and validation disagree about a column of `u`: loud: type int for Spark's string"
    assert "bug of Penstock" in found.help
    assert found.notes == ("t(id bigint, name string)",)
    assert found.span.line == 4


@pytest.mark.spark
def test_a_query_that_spark_takes(spark, job, catalogue_says):
    catalogue_says("to_json\tscalar\tstring\tstring\tyes\t")
    (found,) = engine_check([job], Settings()).diagnostics
    assert found.code == "PEN9004"
    assert found.message.startswith("Spark accepts this query, validation rejects it: `to_json` does not take struct")
    assert (found.span.line, found.span.column) == (6, 20)


@pytest.mark.spark
def test_a_query_that_spark_refuses(spark, job, catalogue_says):
    catalogue_says("no_such\tscalar\tany\tstring\tyes\t")
    job.write_text(JOB.replace("upper(", "no_such("))
    (found,) = engine_check([job], Settings()).diagnostics
    assert found.message.startswith("Spark rejects this query, validation accepts it: [UNRESOLVED_ROUTINE]")
    assert (found.span.line, found.span.column) == (5, 16)


@pytest.mark.spark
def test_a_query_that_both_refuse_is_no_disagreement(spark, job):
    job.write_text(JOB.replace("upper(name)", "upper(nam)"))
    checked = engine_check([job], Settings())
    assert (checked.diagnostics, checked.asked) == ((), 1)


@pytest.mark.spark
def test_a_table_of_unknown_columns_is_not_asked_about(spark, job, catalogue_says):
    catalogue_says("upper\tscalar\tstring\t@unknown\tany\t")
    more = 'Sql { plugin_input = "u", plugin_output = "v", query = "select loud from u" }\n}\nsink'
    job.write_text(JOB.replace("}\nsink", more).replace('plugin_input = "u" }\n}\n', 'plugin_input = "v" }\n}\n'))
    checked = engine_check([job], Settings())
    assert (checked.diagnostics, checked.asked, checked.queries) == ((), 1, 2)


def _validate(job, **environment):
    return subprocess.run(
        [sys.executable, "-m", "engine.cli", "validate", "--engine-check", str(job)],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}, check=False,
    )  # fmt: skip


def test_without_java_it_says_so(job, tmp_path):
    pytest.importorskip("pyspark")
    ended = _validate(job, JAVA_HOME=str(tmp_path))
    assert ended.returncode == 1
    assert "PEN5002" in ended.stderr + ended.stdout
    assert "Spark needs Java" in ended.stderr + ended.stdout


def test_without_pyspark_it_says_so(job, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\n"
        "found = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'pyspark' else found(name, *more)\n"
    )
    ended = _validate(job, PYTHONPATH=str(tmp_path))
    assert ended.returncode == 1
    assert "PEN9003" in ended.stderr + ended.stdout
    assert "pip install 'penstock-etl[spark]'" in ended.stderr + ended.stdout
