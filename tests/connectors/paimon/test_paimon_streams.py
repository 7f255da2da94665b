"""What a stream reads of a Paimon table, by pypaimon alone: what snapshots append, and which of them it refuses."""

import pytest

pytest.importorskip("pypaimon")

import pyarrow as pa
import pypaimon

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.paimon.connector import connector
from connectors.paimon.paimon_table import opened
from connectors.paimon.stream_source import appended_splits
from connectors.paimon.table_files import latest_schema
from engine.compile import Settings, compile_job
from tests.connectors.given_options import options_of

COLUMNS = pa.schema([("id", pa.int64())])


class Table:
    """A table that pypaimon makes and writes."""

    def __init__(self, folder, keys=()):
        catalog = pypaimon.CatalogFactory.create({"warehouse": str(folder)})
        catalog.create_database("db", True)
        options = {"bucket": "1"} if keys else None
        schema = pypaimon.Schema.from_pyarrow_schema(COLUMNS, primary_keys=list(keys) or None, options=options)
        catalog.create_table("db.t", schema, False)
        self.table = catalog.get_table("db.t")
        self.path = str(folder / "db.db" / "t")

    def write(self, *ids, overwrites=False):
        builder = self.table.new_batch_write_builder()
        write = (builder.overwrite() if overwrites else builder).new_write()
        write.write_arrow(pa.table({"id": ids}, COLUMNS))
        commit = builder.new_commit()
        commit.commit(write.prepare_commit())
        write.close()
        commit.close()

    def appended(self, start, end):
        table = opened(self.path, latest_schema(self.path))
        splits = appended_splits(table, start, end)
        read = table.new_read_builder().new_read().to_arrow(splits) if splits else None
        return sorted(read["id"].to_pylist()) if read is not None else []


def test_the_first_rows_are_all_and_later_ones_what_was_appended(tmp_path):
    table = Table(tmp_path)
    table.write(1, 2)
    table.write(3)
    table.write(4)
    assert table.appended(0, 2) == [1, 2, 3]
    assert table.appended(2, 3) == [4]
    assert table.appended(1, 3) == [3, 4]
    assert table.appended(3, 3) == []


def test_rows_that_are_replaced_and_snapshots_that_are_gone(tmp_path):
    table = Table(tmp_path)
    table.write(1)
    table.write(2, overwrites=True)
    assert table.appended(0, 2) == [2]
    with pytest.raises(ValueError, match="snapshot 2 of the Paimon table replaces or removes rows: OVERWRITE"):
        table.appended(1, 2)
    with pytest.raises(ValueError, match="snapshot 3 of the Paimon table has expired before it was read"):
        table.appended(2, 3)


@pytest.mark.parametrize(
    ("keys", "given", "why"),
    [
        ((), "", None),
        (("id",), "", "its snapshots change rows"),
        ((), ", snapshot_id = 1", "`snapshot_id` reads one state"),
    ],
)
def test_tables_that_cannot_be_read_as_streams(tmp_path, keys, given, why):
    table, job = Table(tmp_path, keys), tmp_path / "job.conf"
    table.write(1)
    job.write_text(
        f'env {{ job.mode = STREAMING, job.name = j }}\nsource {{ Paimon {{ path = "{table.path}"{given} }} }}\n'
        "sink { Console {} }"
    )
    diagnostics = Diagnostics()
    compile_job(job, Settings(), diagnostics)
    said = [diagnostic.message for diagnostic in diagnostics if diagnostic.code == "PEN2030"]
    assert len(said) == (why is not None)
    assert why is None or why in said[0]
    options = options_of(connector.source_options, path=table.path)
    assert connector.stream_identity(options) == table.path
