"""Kill -9 while a job writes a Paimon table and a topic: both have the same rows, each once."""

import json
import random
from collections import Counter

import pytest

from tests.connectors.test_kill import Program, open_runs, resume

pytestmark = [pytest.mark.spark, pytest.mark.slow]
KILLS = [2, pytest.param(30, marks=pytest.mark.soak)]


@pytest.mark.parametrize("kills", KILLS)
def test_table_and_topic_agree_to_the_record(tmp_path, kafka, monkeypatch, kills):
    """Every second time `--resume` ends what was killed, else the next run does."""
    pytest.importorskip("pypaimon")
    chance, topic, version = random.Random(f"dual {kills}"), kafka.topic(2), 1
    monkeypatch.setenv("PENSTOCK_TEST_TOPIC", f"{kafka.servers}/{topic}")
    for attempt in range(kills + 1):
        if attempt % 2:
            resume(tmp_path)
        program = Program(tmp_path, "paimon+kafka", version)
        program.wait_for("recovered")
        assert open_runs(tmp_path) == []
        found = Counter(tuple(json.loads(value).values()) for value in kafka.values(topic))
        assert rows(tmp_path / "paimon") == found, f"after kill {attempt}"
        assert set(found.values()) <= {1}
        if attempt == kills:
            program.kill(chance)
            break
        if attempt == 0:
            program.wait_for("done 1")
        program.kill_at_some_instant(chance)
        version = max(program.said(phase) for phase in ("stage", "commit", "done")) + 1


def rows(folder):
    """The rows of the table, as pypaimon reads them."""
    from pypaimon.table.file_store_table import FileStoreTable

    if not (folder / "snapshot").exists():
        return Counter()
    builder = FileStoreTable.from_path(str(folder)).new_read_builder()
    found = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    return Counter(tuple(row.values()) for row in found.to_pylist())
