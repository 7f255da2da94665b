"""Rows with row kinds whose key is that of their table: inserts, updates and deletes are applied by it."""

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from connectors.interface.source import ScanTask
from engine.cli import main
from tests.connectors.given_options import options_of

JOB = """
env {{ job.mode = BATCH }}
source {{ FakeSource {{
  plugin_output = changes
  schema {{
    fields {{ id = bigint, name = string }}
    primaryKey {{ name = pk, columnNames = [id] }}
  }}
  rows = [
    {{ kind = INSERT, fields = [1, "a"] }}, {{ kind = INSERT, fields = [2, "b"] }}
    {{ kind = UPDATE_BEFORE, fields = [1, "a"] }}, {{ kind = UPDATE_AFTER, fields = [1, "c"] }}
    {{ kind = DELETE, fields = [2, "b"] }}
  ]
}} }}
sink {{ {name} {{ {address} }} }}
"""


def written(tmp_path, name):
    """The options of the table's address, once the job is there."""
    given = {"path": str(tmp_path / "t")} if name == "Delta" else {"warehouse": str(tmp_path / "w"), "table": "d.t"}
    address = ", ".join(f'{option} = "{value}"' for option, value in given.items())
    (tmp_path / "job.conf").write_text(JOB.format(name=name, address=address))
    return given


@pytest.mark.parametrize("name", ["Delta", "Iceberg", "Paimon"])
def test_explain_shows_that_changes_are_applied_by_the_key_of_the_rows(tmp_path, capsys, name):
    written(tmp_path, name)
    assert main(["explain", str(tmp_path / "job.conf")]) == 0
    assert "CREATE_SCHEMA_WHEN_NOT_EXIST, APPEND_DATA, changelog" in capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.parametrize("name", ["Delta", "Iceberg", "Paimon"])
def test_a_new_table_of_a_seatunnel_job_gets_the_key_of_the_rows(spark, tmp_path, monkeypatch, name):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    given = written(tmp_path, name)
    for _ in range(2):
        assert main(["run", "--compat", "seatunnel", str(tmp_path / "job.conf")]) == 0
    source = connectors.source(name)
    options = options_of(source.source_options, **given)
    (table,) = source.tables(options, Diagnostics())
    found = source.read(spark.newSession(), ScanTask(options, table)).select("id", "name").collect()
    assert sorted(map(tuple, found)) == [(1, "c")]
