"""InMemory: rows are there after the commit, not before, and not after an abort."""

import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.in_memory import ROWS, connector
from tests.connectors.jobs import rows, run_writes, write


@pytest.mark.spark
def test_rows_are_kept_when_they_are_committed(spark, tmp_path):
    ROWS.clear()
    scan = rows("select id from range(3)", "id bigint")
    run_writes(spark, [write(connector, scan)], str(tmp_path), "first")
    assert sorted(row[0] for row in ROWS["rows"]) == [0, 1, 2]
    with pytest.raises(RunError, match="the write fails"):
        run_writes(
            spark, [write(connector, scan, "a"), write(connector, scan, "b", throw_exception=True)], str(tmp_path), "b"
        )
    with pytest.raises(RunError, match="more than 2 rows"):
        run_writes(spark, [write(connector, scan, limit=2)], str(tmp_path), "third")
    assert len(ROWS["rows"]) == 3
