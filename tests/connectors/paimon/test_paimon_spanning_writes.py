"""Tasks and commits of a table whose primary key spans partitions: what pypaimon alone does not write."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.lakehouse.keyed_rows import DELETED
from connectors.paimon import paimon_table
from connectors.paimon.paimon_staged import PaimonOverwrite, PaimonStaged
from connectors.paimon.split_reading import BUCKET, batches
from connectors.paimon.writing import tasks
from connectors.paimon.writing.tasks import Layout

TYPES = {"id": "BIGINT NOT NULL", "region": "STRING", "n": "INT"}
SCHEMA = {
    "version": 3,
    "id": 0,
    "fields": [{"id": index, "name": name, "type": type} for index, (name, type) in enumerate(TYPES.items())],
    "highestFieldId": 2,
    "partitionKeys": ["region"],
    "primaryKeys": ["id"],
    "options": {"bucket": "-1"},
    "timeMillis": 1,
}
READ = pa.schema([("id", pa.int64()), ("region", pa.string()), ("n", pa.int32()), (BUCKET, pa.int32())])


class Target:
    def __init__(self, folder):
        self.folder = str(folder / "t")
        self.writes = 0

    def stage(self, *rows, keys_of=None, replaces=PaimonOverwrite.NOTHING):
        """Rows as (id, region, n, bucket, is deleted), by partition and bucket."""
        self.writes += 1
        name = f"penstock-{self.writes}"
        names = ["id", "region", "n", BUCKET, DELETED]
        types = [pa.int64(), pa.string(), pa.int32(), pa.int32(), pa.bool_()]
        columns = [pa.array(values, type) for values, type in zip(zip(*rows, strict=True), types, strict=True)]
        layout = Layout(self.folder, SCHEMA, name, replaces is PaimonOverwrite.ROWS)
        messages = list(tasks.write(layout, [pa.RecordBatch.from_arrays(columns, names=names)]))
        staged = PaimonStaged(
            self.folder, self.folder, (), False, replaces, "", name, name, name, {}, None, None, keys_of=keys_of
        )
        return PaimonStaged.from_json(staged.to_json()), messages

    def commit(self, staged):
        paimon_table.add_schema(self.folder, SCHEMA)
        paimon_table.commit(staged[0], SCHEMA, staged[1])

    def write(self, *rows):
        self.commit(self.stage(*rows))

    def rows(self):
        table = paimon_table.opened(self.folder, SCHEMA)
        splits = table.new_read_builder().new_scan().plan().splits()
        plan = {"folder": self.folder, "schema": SCHEMA, "options": {}}
        return sorted(
            (tuple(row.values()) for batch in batches(plan, splits, READ) for row in batch.to_pylist()), key=repr
        )


@pytest.fixture
def target(tmp_path):
    return Target(tmp_path)


@pytest.mark.parametrize("other", ["b", None])
def test_a_row_moves_between_partitions_and_buckets(target, other):
    target.write((1, "a", 1, 0, False), (2, "a", 1, 3, False), (3, other, 1, 2, False), (4, other, 1, 2, False))
    assert set(target.rows()) == {(1, "a", 1, 0), (2, "a", 1, 3), (3, other, 1, 2), (4, other, 1, 2)}
    target.write((2, "a", 2, 3, True), (2, other, 2, 2, False), (3, other, 2, 2, True), (4, other, 2, 2, False))
    assert set(target.rows()) == {(1, "a", 1, 0), (2, other, 2, 2), (4, other, 2, 2)}
    target.write((3, "a", 3, 3, False), (4, other, 3, 2, True))
    target.write((4, other, 4, 2, False), (2, other, 4, 2, False))
    assert set(target.rows()) == {(1, "a", 1, 0), (2, other, 4, 2), (3, "a", 3, 3), (4, other, 4, 2)}


def test_an_overwrite_replaces_all_partitions(target):
    target.write((1, "a", 1, 0, False), (2, None, 1, 3, False))
    target.commit(target.stage((2, "b", 2, 0, False), replaces=PaimonOverwrite.ROWS))
    assert target.rows() == [(2, "b", 2, 0)]


@pytest.mark.parametrize("first", [0, 1])
def test_the_commit_fails_after_another_that_changed_rows(target, first):
    for number in range(first):
        target.write((number, "a", 1, 0, False))
    late = target.stage((5, "a", 2, 0, False), keys_of=first)
    target.write((5, "b", 1, 0, False))
    rows = target.rows()
    with pytest.raises(RunError, match="was changed after run") as caught:
        target.commit(late)
    assert (caught.value.diagnostics[0].code, target.rows()) == ("PEN5005", rows)
    target.commit(target.stage((5, "b", 2, 0, False), keys_of=first + 1))
    assert (5, "b", 2, 0) in target.rows()


@pytest.mark.parametrize(("kind", "fails"), [("COMPACT", False), ("ANALYZE", False), ("OVERWRITE", True)])
def test_a_compaction_changes_no_keys(target, kind, fails):
    target.write((1, "a", 1, 0, False))
    late = target.stage((1, "a", 2, 0, False), keys_of=1)
    target.write((1, "a", 1, 0, False))
    path = Path(target.folder, "snapshot", "snapshot-2")
    path.write_text(json.dumps({**json.loads(path.read_text()), "commitKind": kind}))
    if fails:
        with pytest.raises(RunError, match="was changed after run"):
            target.commit(late)
    else:
        target.commit(late)
        assert len(target.rows()) == 1


def test_the_commit_fails_where_the_snapshot_of_the_keys_is_gone(target):
    late = target.stage((1, "a", 2, 0, False), keys_of=3)
    with pytest.raises(RunError, match="was changed after run"):
        target.commit(late)
