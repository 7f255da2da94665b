"""Incremental reads of Paimon tables without a column: each run reads what new snapshots have appended."""

import json

import pytest

pytest.importorskip("pypaimon")
pytest.importorskip("pyspark")

import pyarrow.parquet

from catalog.diagnostics.diagnostic import Diagnostics
from engine.cli import main
from engine.compile import Settings, compile_job
from tests.connectors.paimon.test_paimon_streams import Table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    return tmp_path


def job(folder, table, more="incremental {}", where=""):
    path = folder / "job.conf"
    query = f'transform {{ Sql {{ query = "select id from t where {where}" }} }}' if where else ""
    path.write_text(
        f'env {{ job.name = "load", job.retry.times = 0 }}\n'
        f'source {{ Paimon {{ plugin_output = "t", path = "{table.path}", {more} }} }}\n{query}\n'
        f'sink {{ LocalFile {{ path = "{folder}/out", file_format_type = parquet }} }}\n'
    )
    return path


def ids(folder):
    files = (folder / "out").glob("*.parquet")
    return sorted(id for file in files for id in pyarrow.parquet.ParquetFile(file).read()["id"].to_pylist())


@pytest.mark.spark
def test_each_run_reads_what_was_appended_since(spark, folder, capsys):
    table = Table(folder / "warehouse")
    path = job(folder, table, where="id <> 3")
    table.write(1, 2)
    table.write(3)
    expected = [1, 2]
    for number, new in enumerate(((), (4, 5), ()), start=1):
        if new:
            table.write(*new)
            table.write(9)
            expected += [*new, 9]
        assert main(["run", str(path), "--quiet", "--run-id", f"r{number}"]) == 0, capsys.readouterr().err
        assert ids(folder) == expected
    assert main(["run", str(path), "--quiet", "--run-id", "r2"]) == 0  # repeats nothing
    assert ids(folder) == expected
    capsys.readouterr()
    assert main(["state", str(path), "--format", "json"]) == 0
    (state,) = json.loads(capsys.readouterr().out)
    assert (state["column"], state["watermark"]["value"]["value"]) == ("snapshot_id", "4")
    table.write(7, overwrites=True)
    assert main(["run", str(path), "--quiet"]) == 1
    told = capsys.readouterr().err
    assert "PEN5004" in told
    assert "snapshot 5 of the Paimon table replaces or removes rows: OVERWRITE" in told
    assert ids(folder) == expected
    assert main(["state", str(path), "--reset", "t", "--to", "5"]) == 0
    table.write(8)
    assert main(["run", str(path), "--quiet"]) == 0, capsys.readouterr().err
    assert ids(folder) == [*expected[:-1], 8, 9]


@pytest.mark.parametrize(
    ("keys", "more", "told"),
    [
        ((), "incremental { initial = 2 }", None),
        ((), "incremental { column = id }", None),
        (("id",), "incremental { column = id }", None),
        (("id",), "incremental {}", "PEN2005 `incremental` needs `column`"),
        ((), "incremental { initial = a }", "PEN2004 `initial` must be a value of `snapshot_id` (bigint), found `a`"),
        ((), "incremental {}, snapshot_id = 1", "PEN2011 `snapshot_id` reads one state of the table, `incremental` "
         "without `column` its new snapshots"),
        ((), "incremental {}, table = t", "PEN2011 `path` and `table` exclude each other"),
    ],
)  # fmt: skip
def test_what_can_be_read_incrementally(folder, keys, more, told):
    table = Table(folder / "warehouse", keys)
    table.write(1)
    diagnostics = Diagnostics()
    compile_job(job(folder, table, more), Settings(), diagnostics)
    found = [f"{each.code} {each.message}" for each in diagnostics]
    assert found[:1] == ([] if told is None else [told])
