"""Writes that a sink commits together: one call for a group, at the place of its first write, noted one by one."""

from dataclasses import dataclass

import pytest

pytest.importorskip("pyspark")

from connectors.console import Console
from connectors.interface.run_context import RunContext
from connectors.interface.sink_abilities import SupportsGroupCommit
from connectors.shared.staged import Staged
from engine.spark.writing.commit_groups import StagedWrite, commit_group, commit_groups

RUN = RunContext("r", "4.1.4")


@dataclass(frozen=True, slots=True)
class Row(Staged):
    database: str
    table: str


class Database(Console, SupportsGroupCommit[Row]):
    """Commits the writes of one database together."""

    def __init__(self):
        self.commits = []

    def commit(self, spark, staged, run):
        self.commits.append((staged.table,))

    def commit_group(self, staged):
        return staged.database or None

    def commit_all(self, spark, group, run):
        self.commits.append(tuple(each.table for each in group))


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (["a.x", "b.y", "a.z", ".v", ".w"], [("x", "z"), ("y",), ("v",), ("w",)]),
        (["a.x"], [("x",)]),
        ([], []),
    ],
)
def test_groups_keep_the_order_of_the_job(places, expected):
    sink, noted = Database(), []
    writes = [StagedWrite(f"w{n}", sink, Row(*place.split("."))) for n, place in enumerate(places)]
    for group in commit_groups(writes):
        commit_group(None, group, RUN, noted.append)
    assert sink.commits == expected
    assert sorted(noted) == [write.write_id for write in writes]


def test_a_group_that_fails_notes_none_of_its_writes():
    class Failing(Database):
        def commit_all(self, spark, group, run):
            raise OSError("the database is gone")

    sink, noted = Failing(), []
    writes = [StagedWrite("a", sink, Row("d", "x")), StagedWrite("b", sink, Row("d", "y"))]
    (group,) = commit_groups(writes)
    with pytest.raises(OSError, match="gone"):
        commit_group(None, group, RUN, noted.append)
    assert noted == []
