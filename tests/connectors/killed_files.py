"""Commits of files that are killed before one of their changes, and ended by another run."""

from collections.abc import Iterable
from itertools import count

from engine.spark.writing.recover import recover, resume
from engine.state.journal import RunOutcome
from engine.state.layout import layout_at
from tests.connectors.dead_runs import bury
from tests.connectors.jobs import run_writes, stage_writes
from tests.connectors.killed_commits import Killed, kill_at

ONE = "select 1L id, 'p' name union all select 2L, 'q'"
TWO = "select 3L id, 'q' name union all select 4L, 'r'"
AFTER = {"DROP_DATA": [3, 4], "APPEND_DATA": [1, 2, 3, 4], "PARTITIONS": [1, 3, 4]}
"""The ids in the target once `TWO` was written over `ONE`, by the mode."""


def killed_before(
    suite, step: int, mode: str, spark, tmp_path, monkeypatch, changes: Iterable[tuple[type, str]]
) -> bool:
    """Kill a commit of files before its change of that number, and end the run by `--resume` or by the next run, which
    must leave the rows of the mode; False if the commit has fewer changes."""
    given = {"data_save_mode": mode} if mode != "PARTITIONS" else {"write_mode": "overwrite_partitions"}
    given |= {"partition_by": ["name"]} if mode == "PARTITIONS" else {}
    columns = ("id bigint", "name string")
    state, target, run_id = str(tmp_path / "state"), tmp_path / f"target{step}", f"run{step}"
    run_writes(spark, [suite.write(target, ONE, columns, **given)], state, f"before{step}")
    run = stage_writes(spark, [suite.write(target, TWO, columns, **given)], state, run_id)
    bury(run)
    run.journal.staged("w", run.places["w"])
    run.journal.decide()
    was_killed = False
    with monkeypatch.context() as patched:
        kill_at(step, patched, changes)
        try:
            suite.sink.commit(spark, run.places["w"], run.context)
        except Killed:
            was_killed = True
    if was_killed and step % 2:
        assert resume(spark, layout_at(spark, state), run_id) is RunOutcome.FINISHED
    else:
        assert recover(spark, layout_at(spark, state)) == ()
    assert sorted(row[0] for row in suite.read(spark, str(target)).select("id").collect()) == AFTER[mode]
    return was_killed


def killed_before_each(suite, mode: str, spark, tmp_path, monkeypatch, changes: Iterable[tuple[type, str]]) -> int:
    """Kill a commit before its first change, its second, …; gives how many it has."""
    return next(
        step - 1 for step in count(1) if not killed_before(suite, step, mode, spark, tmp_path, monkeypatch, changes)
    )
