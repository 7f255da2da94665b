"""Console prints at the commit, up to its limit."""

import pytest

from connectors.console import connector
from tests.connectors.jobs import rows, run_writes, write

pytestmark = pytest.mark.spark


def test_prints_a_table(spark, tmp_path, capsys):
    job = [write(connector, rows("select id, 'x' name from range(5)", "id bigint", "name string"), limit=2)]
    run_writes(spark, job, str(tmp_path / "state"), "run")
    assert capsys.readouterr().out == (
        "+---+----+\n| id|name|\n+---+----+\n|  0|   x|\n|  1|   x|\n+---+----+\nonly showing top 2 rows\n"
    )
