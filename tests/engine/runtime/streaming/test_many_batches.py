"""A stream leaves no trace of each micro-batch: marks in targets, rows of ledgers and files of its state are counted
over many small ones. Default: 8 micro-batches; `PENSTOCK_TEST_MICRO_BATCHES` (`make soak`: 300)."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from catalog.diagnostics.diagnostic import PenstockError
from connectors.commits.micro_batches import KEPT
from connectors.delta.transaction import DeltaTable
from connectors.files.committing import folded_marks
from connectors.files.foreign_files import foreign_files
from connectors.storage.local_files import LocalFiles
from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.run_stream import run_stream
from tests.connectors.kafka.jobs import compiled
from tests.connectors.stored_rows import delta_rows, iceberg_rows, paimon_rows, parquet_rows

pytestmark = [pytest.mark.spark, pytest.mark.delta]
BATCHES = int(os.environ.get("PENSTOCK_TEST_MICRO_BATCHES", "8"))
FOLDED = 3 if BATCHES < 100 else folded_marks.FOLDED


@pytest.fixture
def stream(spark, tmp_path, kafka):
    return Stream(spark, tmp_path, kafka, kafka.topic(1))


@dataclass(frozen=True, eq=False)
class Stream:
    """A job over a topic, of which each micro-batch has one record."""

    spark: object
    folder: Path
    kafka: object
    topic: str

    def arrive(self, first: int, last: int) -> None:
        self.kafka.send(self.topic, [json.dumps({"id": id}) for id in range(first, last)])

    def run(self, *databases):
        text = self.job(
            [", ".join(f'{name} = "{value}"' for name, value in each.options.items()) for each in databases]
        )
        result = run_stream(self.spark, compiled(self.folder, text), RunRequest(new_run_id()))
        if result.errors:
            raise result.errors[0]

    def job(self, logins):
        folder = self.folder
        source = (
            f'Kafka {{ plugin_output = s, bootstrap.servers = "{self.kafka.servers}", topic = {self.topic}, '
            "start_mode = earliest, max_offsets = 1, schema { fields { id = bigint } } }"
        )
        sinks = (
            f'LocalFile {{ path = "{folder}/files", file_format_type = parquet }}',
            f'Delta {{ path = "{folder}/delta" }}',
            f'Delta {{ path = "{folder}/merged", write_mode = upsert, primary_keys = [id] }}',
            f'Iceberg {{ warehouse = "{folder}", table = "db.i" }}',
            f'Paimon {{ warehouse = "{folder}", table = "db.p" }}',
            *(f'Jdbc {{ {login}, table = "t" }}' for login in logins),
        )
        env = "env { job.mode = STREAMING, stream.trigger = available_now, job.name = many }"
        return f"{env}\nsource {{ {source} }}\nsink {{\n{chr(10).join(sinks)}\n}}"


def counted(spark, folder, *databases) -> dict[str, int]:
    """What the targets and the state directory have for the stream."""
    found = {f"{each.kind} {table}": len(each.rows(f"select 1 from penstock_{table}"))
             for each in databases for table in ("commits", "staging")}  # fmt: skip
    found["marks"] = len(list((folder / "files/_penstock").iterdir()))
    for name in ("delta", "merged"):
        snapshot = DeltaTable(spark, f"file://{folder}/{name}")._snapshot()
        found[f"{name} applications"] = int(snapshot.setTransactions().size())
    metadata = sorted((folder / "db/i/metadata").glob("v*.metadata.json"), key=os.path.getmtime)[-1]
    found["iceberg properties"] = len(json.loads(metadata.read_text())["properties"])
    state = [path for path in (folder / "state").rglob("*") if path.is_file() and "checkpoint" not in path.parts]
    runs = list((folder / "state/runs").iterdir())
    found |= {"state files": len(state), "runs": len(runs), "open": len(list((folder / "state/open").glob("[!.]*")))}
    found["left"] = len(list(folder.glob(".*.penstock")))
    return found


def test_nothing_grows_with_the_number_of_micro_batches(spark, tmp_path, stream, postgres, request, monkeypatch):
    """Nor does the stream begin again: its first micro-batches were committed long ago, and some targets have no mark
    of them any more."""
    monkeypatch.setattr(folded_marks, "FOLDED", FOLDED)
    databases = (postgres, *((request.getfixturevalue("mariadb"),) if BATCHES >= 100 else ()))
    for database in databases:
        database.clear()
    half = BATCHES // 2
    stream.arrive(0, half)
    stream.run(*databases)
    before = counted(spark, tmp_path, *databases)
    stream.arrive(half, BATCHES)
    stream.run(*databases)
    after = counted(spark, tmp_path, *databases)
    print(f"\n{half} micro-batches: {before}\n{BATCHES} micro-batches: {after}")

    folds = after.pop("marks")
    assert folds <= 2 * FOLDED + KEPT + BATCHES // FOLDED
    assert folds < BATCHES
    del before["marks"]
    one_more_run = {"runs": 1, "state files": after["state files"] - before["state files"]}
    assert after == {**before, **{name: before[name] + more for name, more in one_more_run.items()}}
    assert one_more_run["state files"] <= 6  # of the second run: its record and journal
    assert {after[f"{database.kind} commits"] for database in databases} == {KEPT}
    assert (after["delta applications"], after["merged applications"]) == (1, 1)
    assert (after["postgres staging"], after["left"], after["open"]) == (0, 0, 0)

    everything = {(id,): 1 for id in range(BATCHES)}
    held = (
        parquet_rows(tmp_path / "files", ["id"]),
        delta_rows(tmp_path / "delta", ["id"]),
        iceberg_rows(tmp_path / "db/i", ["id"]),
        paimon_rows(tmp_path, "db.p", ["id"]),
    )
    assert [dict(rows) for rows in held] == [everything] * 4
    assert spark.read.format("delta").load(str(tmp_path / "merged")).count() == BATCHES
    for database in databases:
        assert sorted(database.rows("select id from t")) == sorted(everything)
    assert foreign_files(LocalFiles(), str(tmp_path / "files")) == []  # folded marks still list them

    shutil.rmtree(tmp_path / "state")
    with pytest.raises(PenstockError) as refused:
        stream.run(*databases)
    assert {said.code for said in refused.value.diagnostics} == {"PEN5221"}
    assert len(refused.value.diagnostics) == 3 + len(databases), "Iceberg and Paimon still have the first mark"
    assert len(parquet_rows(tmp_path / "files", ["id"])) == BATCHES
    assert postgres.rows("select count(*) from t") == [(BATCHES,)]
