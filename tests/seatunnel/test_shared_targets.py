"""Tables of one set that a sink writes into one target: SeaTunnel writes them all, where their columns are equal."""

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.plan.nodes import Union, Write

JOB = """
source {{ FakeSource {{ tables_configs = [
  {{ schema {{ table = "a.t", fields {{ id = int, name = string }} }}
     rows = [{{ kind = INSERT, fields = [1, "a"] }}] }}
  {{ schema {{ table = "b.t", fields {{ {columns} }} }}, rows = [{{ kind = INSERT, fields = [2, "b"] }}] }}
  {{ schema {{ table = "c.u", fields {{ id = int }} }}, rows = [{{ kind = INSERT, fields = [3] }}] }}
] }} }}
sink {{ LocalFile {{ path = "{path}/${{table_name}}", file_format_type = json }} }}
"""


def compiled(tmp_path, columns, compat=Compat.SEATUNNEL_2):
    (tmp_path / "job.conf").write_text(JOB.format(columns=columns, path=tmp_path / "out"))
    diagnostics = Diagnostics()
    return compile_job(tmp_path / "job.conf", Settings(compat=compat), diagnostics), diagnostics


def test_tables_with_equal_columns_are_one_write(tmp_path):
    job, diagnostics = compiled(tmp_path, "id = int, name = string")
    assert job is not None, list(diagnostics)
    writes = [node for node in job.plan.nodes() if isinstance(node, Write)]
    assert sorted(str(write.options["path"]).rpartition("/")[2] for write in writes) == ["t", "u"]
    assert [len(write.input.inputs) for write in writes if isinstance(write.input, Union)] == [2]


@pytest.mark.parametrize("columns", ["id = int", "id = bigint, name = string", "id = int, title = string"])
def test_tables_with_other_columns_are_not(tmp_path, columns):
    job, diagnostics = compiled(tmp_path, columns)
    assert job is None
    assert "would both be written to" in " ".join(item.message for item in diagnostics)


def test_without_the_flag_they_are_never(tmp_path):
    assert compiled(tmp_path, "id = int, name = string", Compat.OFF)[0] is None


@pytest.mark.spark
def test_all_rows_are_written(spark, tmp_path, monkeypatch):
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest

    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job, _ = compiled(tmp_path, "id = int, name = string")
    result = run_job(spark, job, RunRequest("shared"))
    assert str(result.state).endswith("FINISHED"), result.diagnostics
    assert sorted(map(tuple, spark.read.json(str(tmp_path / "out" / "t")).collect())) == [(1, "a"), (2, "b")]
    assert spark.read.json(str(tmp_path / "out" / "u")).count() == 1


RULE = "{ rule_type = MIN_ROW, rule_value = 1 }"


@pytest.mark.parametrize("sink", ["Console {}", f"Assert {{ rules {{ row_rules = [{RULE}] }} }}"])
def test_a_sink_without_a_target_gets_each_table(tmp_path, sink):
    text = JOB.format(columns="id = int, name = string", path="unused")
    (tmp_path / "job.conf").write_text(f"{text[: text.index('sink {')]}\nsink {{ {sink} }}")
    job = compile_job(tmp_path / "job.conf", Settings(compat=Compat.SEATUNNEL_2), Diagnostics())
    assert job is not None
    assert len([node for node in job.plan.nodes() if isinstance(node, Write)]) == 3
