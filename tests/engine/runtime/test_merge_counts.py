"""What a merge reports: rows inserted, updated, deleted, and those that changed nothing.

`PENSTOCK_TEST_RESTARTS=all` asks every database.
"""

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.cli import main

pytestmark = [pytest.mark.spark, pytest.mark.delta]

JOB = """
source {{ LocalFile {{ path = "{0}/in.csv", file_format_type = csv, csv_use_header_line = true
  schema {{ fields {{ id = int, v = string, seq = int }} }} }} }}
sink {{ {1} {{ {2}
  write_mode = upsert, primary_keys = [id], sequence_field = seq, delete_condition = "v = 'gone'" }} }}
"""
FIRST = "id,v,seq\n1,a,1\n2,b,1\n3,c,1\n4,d,9\n5,e,1\n"
NEXT = "id,v,seq\n1,A,2\n2,B,2\n3,gone,2\n4,old,1\n6,f,2\n7,g,2\n8,h,2\n9,gone,2\n"
SINKS = {
    "Delta": 'path = "{}/lake"',
    "Iceberg": 'warehouse = "{}/warehouse", table = "db.t"',
    "Paimon": 'path = "{}/shop.db/t", count_changes = true',
    "postgres": "",
    "mariadb": "",
    "sqlite": "",
}


@pytest.mark.parametrize(
    "kind", SINKS if os.environ.get("PENSTOCK_TEST_RESTARTS") else ["Delta", "Iceberg", "Paimon", "postgres"]
)
def test_merges_count_inserted_updated_deleted_and_unchanged_rows(spark, tmp_path, request, capsys, kind):
    sink, options = kind, SINKS[kind].format(tmp_path)
    if not options:
        database = request.getfixturevalue(kind)
        database.clear()
        sink, options = (
            "Jdbc",
            'table = "t", ' + ", ".join(f'{key} = "{text}"' for key, text in database.options.items()),
        )
    job, source = tmp_path / "job.conf", tmp_path / "in.csv"
    job.write_text(JOB.format(tmp_path, sink, options))
    state = ("--state-dir", str(tmp_path / "state"))
    source.write_text(FIRST)
    assert main(["run", str(job), "--quiet", *state]) == 0
    Path(source).write_text(NEXT)
    assert main(["run", str(job), "--run-id", "next", *state]) == 0
    out = capsys.readouterr().out
    assert "3 inserted, 2 updated, 1 deleted, 2 unchanged" in out, out
    assert main(["runs", "next", "--format", "json", *state]) == 0
    (counts,) = json.loads(capsys.readouterr().out)["counts"]["sinks"].values()
    assert counts["rows"] == 8
    assert [counts[name] for name in ("inserted", "updated", "deleted", "unchanged")] == [3, 2, 1, 2]
