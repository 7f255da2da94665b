"""Lineage, the graph page, the schema lock and `explain` know the tables of a set by name, also those of a stream."""

import json
from pathlib import Path

import pytest

from catalog.tables.schema_lock import parse_lock
from engine.cli import main

SET = """
source { LocalFile { plugin_output = "crm", file_format_type = csv, csv_use_header_line = true, tables_configs = [
  { path = "in/orders.csv", schema { table = "shop.orders" } }
  { path = "in/people.csv", schema { table = "shop.people" } }
] } }
transform {
  Sql { plugin_output = "named", table_transform = [
    { table_path = "people", query = "select id, upper(name) as name from dual" } ] }
}
sink { LocalFile { plugin_output = "lake", path = "out/${table_name}", file_format_type = parquet } }
"""
STREAM = """
source { LocalFile { plugin_output = "stream", path = "in/all.json", file_format_type = json
                     schema { fields { t = string, id = bigint, name = string } } } }
transform { TableRoute { plugin_output = "named", table_column = "t", tables_configs = [
  { schema { table = "shop.orders", fields { id = int } } }
  { schema { table = "shop.people", fields { id = bigint, name = string } } }
] } }
sink { LocalFile { plugin_output = "lake", path = "out/${table_name}", file_format_type = parquet } }
"""


@pytest.fixture(params=[SET, STREAM], ids=["set", "stream"])
def job(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "orders.csv").write_text("id,amount\n1,2\n")
    (tmp_path / "in" / "people.csv").write_text("id,name\n1,a\n")
    (tmp_path / "in" / "all.json").write_text('{"t": "shop.people", "id": 1, "name": "a"}\n')
    (tmp_path / "job.conf").write_text(request.param)
    return request.param


def test_lineage_of_one_table(job, capsys):
    assert main(["lineage", "job.conf", "--column", "lake.people.name", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    direct = [(each["source"], each["column"]) for each in found["origins"] if each["direct"]]
    assert direct == [("crm.people" if job is SET else "stream", "name")]


def test_the_graph_page_has_a_box_for_each_table(job, tmp_path):
    assert main(["graph", "job.conf", "-o", "plan.html"]) == 0
    page = (tmp_path / "plan.html").read_text()
    for name in ("named.people", "lake.orders", "lake.people"):
        assert name in page


def test_explain_as_json_names_the_routing_and_the_schedule(job, capsys):
    assert main(["explain", "job.conf", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    pipelines = [pipeline["writes"] for pipeline in found["schedule"]["pipelines"]]
    shuffles = [node for node in found["nodes"] if node["kind"] == "shuffle"]
    if job is SET:
        assert pipelines == [["lake.orders"], ["lake.people"]]
        assert shuffles == []
    else:
        assert pipelines == [["lake.orders", "lake.people"]]
        (shuffle,) = shuffles
        assert shuffle["values"] == ["shop.orders", "shop.people"]
        assert shuffle["routing"]["strategy"] == "independent branches"


def test_explain_prints_the_schedule_of_several_pipelines(job, capsys):
    assert main(["explain", "job.conf"]) == 0
    printed = capsys.readouterr().out
    schedule = "2 pipelines, 2 slots, first come, first served:\n  1: crm.orders (1 sink)\n  2: crm.people (1 sink)\n"
    assert printed.endswith(schedule) is (job is SET)


@pytest.mark.parametrize("job", [SET], indirect=True)
def test_the_schedule_names_the_time_out(job, capsys):
    text = Path("job.conf").read_text(encoding="utf-8")
    Path("job.conf").write_text(f"env {{ slot_timeout_seconds = 90 }}\n{text}", encoding="utf-8")
    assert main(["explain", "job.conf"]) == 0
    assert "2 slots, first come, first served, waiting at most 90 s:" in capsys.readouterr().out
    assert main(["explain", "job.conf", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["schedule"]["slot_timeout_seconds"] == 90


@pytest.mark.parametrize("job", [SET], indirect=True)
def test_the_schema_lock_has_each_table_and_names_the_one_that_drifted(job, tmp_path, capsys):
    assert main(["schema", "sync", "--no-types", "job.conf"]) == 0
    lock = parse_lock((tmp_path / "penstock.lock").read_text())
    assert lock.sources.keys() == {("job.conf", "crm.orders"), ("job.conf", "crm.people")}
    (tmp_path / "in" / "people.csv").write_text("id,called\n1,a\n")
    capsys.readouterr()
    assert main(["schema", "diff", "job.conf"]) == 1
    said = capsys.readouterr().out
    assert "crm.people" in said
    assert "crm.orders" not in said
