"""Columns traced through every kind of node, and the command that shows it."""

import json

import pytest

from engine.cli import main

JOB = """
CREATE TABLE a (id bigint, x int, y int) WITH ('connector' = 'FakeSource');
CREATE TABLE b (id bigint, z int) WITH ('connector' = 'FakeSource');
CREATE VIEW summed AS SELECT id, x + y AS xy FROM a WHERE y > 0;
CREATE VIEW copied WITH ('transform' = 'Copy', 'input' = 'summed', 'fields.again' = 'xy');
CREATE VIEW joined (CONSTRAINT c EXPECT (total > 0) ON VIOLATION DROP) AS
  SELECT b.z, sum(again) AS total FROM copied JOIN b ON copied.id = b.id GROUP BY b.z;
CREATE TABLE out WITH ('connector' = 'Console');
INSERT INTO out SELECT * FROM joined;
"""


@pytest.fixture
def job(tmp_path):
    (tmp_path / "job.sql").write_text(JOB)
    return str(tmp_path / "job.sql")


def test_a_column_through_filter_copy_join_and_aggregate(job, capsys):
    assert main(["lineage", job, "--column", "joined.total", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    origins = {(each["source"], each["column"], each["direct"]): each["dependency"] for each in found["origins"]}
    assert origins[("a", "x", True)] == "aggregation"
    assert origins[("a", "y", True)] == "aggregation"
    assert origins[("a", "y", False)] == "filter"
    assert origins[("a", "id", False)] == "join"
    assert origins[("b", "id", False)] == "join"
    assert origins[("b", "z", False)] == "group_by"


def test_text(job, capsys):
    assert main(["lineage", job]) == 0
    said = capsys.readouterr().out
    assert said.startswith("out.z\n  <- b.z (identity)\n")
    assert "out.total\n  <- a.x (aggregation)\n" in said


def test_openlineage(job, capsys):
    assert main(["lineage", job, "--format", "openlineage"]) == 0
    event = json.loads(capsys.readouterr().out)
    assert {each["name"] for each in event["inputs"]} == {"a", "b"}
    fields = event["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert fields["z"]["inputFields"][0] == {
        "namespace": "fakesource", "name": "b", "field": "z",
        "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}],
    }  # fmt: skip


@pytest.mark.parametrize(("column", "code"), [("joind.total", "PEN2301"), ("joined.totl", "PEN2301")])
def test_an_unknown_column_is_a_error(job, column, code, capsys):
    assert main(["lineage", job, "--column", column]) == 2
    assert code in capsys.readouterr().err
