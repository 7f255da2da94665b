"""Two processes that commit one staged write to a Paimon table at the same moment add its rows once."""

import json
from dataclasses import replace
from threading import Barrier, Thread

import pyarrow as pa
import pytest
from pypaimon.write.commit_message_serializer import serialize_commit_message

from catalog.diagnostics.diagnostic import RunError
from connectors.paimon import paimon_table
from connectors.paimon.commit_once import exclusive_commit
from connectors.paimon.paimon_staged import PaimonOverwrite, PaimonStaged

SCHEMA = {
    "version": 3, "id": 0, "fields": [{"id": 0, "name": "id", "type": "BIGINT"}], "highestFieldId": 0,
    "partitionKeys": [], "primaryKeys": [], "options": {"bucket": "-1"}, "timeMillis": 0,
}  # fmt: skip


def staged_rows(folder, identity: str) -> tuple[PaimonStaged, list[bytes]]:
    table = paimon_table.opened(str(folder), SCHEMA)
    write = table.new_stream_write_builder()._with_commit_user(identity).new_write()
    write.write_arrow(pa.table({"id": pa.array([1, 2, 3], pa.int64())}))
    messages = [serialize_commit_message(message, []) for message in write.prepare_commit(1)]
    write.close()
    base = paimon_table.latest_snapshot(str(folder), SCHEMA)
    staged = PaimonStaged(
        str(folder), str(folder), (), False, PaimonOverwrite.NOTHING, "", identity, identity, "run", {}, None, None,
        schema=json.dumps(SCHEMA), base=base,
    )  # fmt: skip
    return staged, messages


def count(folder) -> int:
    builder = paimon_table.opened(str(folder), SCHEMA).new_read_builder()
    return builder.new_read().to_arrow(builder.new_scan().plan().splits()).num_rows


@pytest.fixture
def table(tmp_path):
    folder = tmp_path / "table"
    assert paimon_table.add_schema(str(folder), SCHEMA)
    return folder


def test_a_write_that_two_processes_commit_is_there_once(table):
    for number in range(10):
        staged, messages = staged_rows(table, f"write{number}")
        start, errors = Barrier(2), []

        def commit(staged=staged, messages=messages, start=start, errors=errors):
            start.wait()
            try:
                paimon_table.commit(staged, SCHEMA, messages)
            except (RunError, OSError, RuntimeError) as error:
                errors.append(error)

        threads = [Thread(target=commit) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert count(table) == 3 * (number + 1)


def test_a_snapshot_is_never_replaced(table):
    staged, messages = staged_rows(table, "one")
    paimon_table.commit(staged, SCHEMA, messages)
    opened = paimon_table.opened(str(table), SCHEMA)
    snapshot = opened.snapshot_manager().get_latest_snapshot()
    assert exclusive_commit(opened).commit(None, replace(snapshot, commit_user="another"), []) is False
    assert opened.snapshot_manager().get_latest_snapshot().commit_user == "one"


def test_a_write_whose_snapshots_have_expired_is_not_added_again(table):
    staged, messages = staged_rows(table, "one")
    paimon_table.commit(staged, SCHEMA, messages)
    other, others = staged_rows(table, "two")
    paimon_table.commit(other, SCHEMA, others)
    (table / "snapshot" / "snapshot-1").unlink()
    (table / "snapshot" / "EARLIEST").write_text("2")
    with pytest.raises(RunError) as caught:
        paimon_table.commit(staged, SCHEMA, messages)
    assert caught.value.diagnostics[0].code == "PEN5010"
    assert count(table) == 6
