"""Delta tables that another program changes between the stage and the commit of a run."""

import json

import pytest

pytest.importorskip("pyspark")

from catalog.diagnostics.diagnostic import RunError
from connectors.delta.connector import connector
from connectors.delta.transaction import DeltaTable
from engine.spark.writing.abort import abort_all
from engine.spark.writing.commit import commit_all
from tests.connectors.jobs import rows, run_writes, stage_writes, write

pytestmark = [pytest.mark.spark, pytest.mark.delta]
COLUMNS = ("id bigint", "name string")


class Target:
    def __init__(self, spark, folder):
        self.spark, self.folder = spark, folder
        self.name = f"delta.`{folder}/t`"
        self.write("select 1L id, 'old' name", COLUMNS)

    def job(self, query, columns, **given):
        return write(connector, rows(query, *columns), path=f"{self.folder}/t", **given)

    def write(self, query, columns, **given):
        run_writes(self.spark, [self.job(query, columns, **given)], str(self.folder / "state"), "before")

    def stage(self, query, columns, **given):
        return stage_writes(self.spark, [self.job(query, columns, **given)], str(self.folder / "state"), "run")

    def change(self, *statements):
        for statement in statements:
            self.spark.sql(statement.format(t=self.name))

    def rows(self):
        return [row.asDict() for row in self.spark.table(self.name).orderBy("id").collect()]


@pytest.fixture
def target(spark, tmp_path):
    return Target(spark, tmp_path)


def test_a_column_that_another_program_adds_stays(target):
    run = target.stage("select 2L id, 'new' name", COLUMNS)
    target.change(
        "ALTER TABLE {t} ADD COLUMNS (other int)",
        "ALTER TABLE {t} ALTER COLUMN name COMMENT 'shown'",
        "INSERT INTO {t} VALUES (3, 'x', 7)",
    )
    commit_all(target.spark, run)
    assert [(row["id"], row["other"]) for row in target.rows()] == [(1, None), (2, None), (3, 7)]


def test_two_programs_add_columns(target):
    columns = (*COLUMNS, "ours int")
    run = target.stage("select 2L id, 'new' name, 5 ours", columns, schema_evolution="add_columns")
    target.change("ALTER TABLE {t} ADD COLUMNS (other int COMMENT 'theirs')", "INSERT INTO {t} VALUES (3, 'x', 7)")
    commit_all(target.spark, run)
    found = [(row["id"], row["ours"], row["other"]) for row in target.rows()]
    assert found == [(1, None, None), (2, 5, None), (3, None, 7)]
    assert target.spark.table(target.name).schema["other"].metadata == {"comment": "theirs"}


@pytest.mark.parametrize(
    ("given", "statement"),
    [
        ({}, "ALTER TABLE {t} ADD CONSTRAINT small CHECK (id < 2)"),
        ({"data_save_mode": "DROP_DATA"}, "ALTER TABLE {t} ADD CONSTRAINT small CHECK (id < 2)"),
        ({"schema_evolution": "add_columns"}, "ALTER TABLE {t} ADD COLUMNS (ours string)"),
    ],
    ids=["constraint", "replaced rows", "another type"],
)
def test_rows_that_no_longer_fit_are_refused_and_can_be_dismissed(target, given, statement):
    ours = ", 5 ours" if "schema_evolution" in given else ""
    columns = (*COLUMNS, "ours int") if ours else COLUMNS
    run = target.stage(f"select 2L id, cast(null as string) name{ours}", columns, **given)
    target.change(statement)
    before = target.rows()
    with pytest.raises(RunError, match="was changed after run `run` staged its rows"):
        commit_all(target.spark, run)
    assert target.rows() == before
    abort_all(target.spark, run)
    assert target.rows() == before


def test_a_column_that_another_program_adds_during_the_commit_stays(target, monkeypatch):
    """The metadata that decides is that of the transaction which commits."""
    columns = (*COLUMNS, "ours int")
    run = target.stage("select 2L id, 'new' name, 5 ours", columns, schema_evolution="add_columns")
    real, changes = DeltaTable.commit, ["ALTER TABLE {t} ADD COLUMNS (other int)"]

    def commit(table, *given, **named):
        target.change(*changes)
        return real(table, *given, **named)

    monkeypatch.setattr(DeltaTable, "commit", commit)
    commit_all(target.spark, run)
    assert [(row["id"], row["ours"], row["other"]) for row in target.rows()] == [(1, None, None), (2, 5, None)]


def test_replaced_rows_leave_no_unreferenced_files_after_a_conflict(target, monkeypatch):
    """Of a file of which only some rows are replaced, each attempt of the commit writes the others anew."""
    target.change("INSERT INTO {t} SELECT id + 10, 'old' FROM range(0, 4, 1, 1)")
    given = {"write_mode": "replace_where", "replace_where": "id > 11"}
    run = target.stage("select 12L id, 'new' name", COLUMNS, **given)
    real, conflicts = DeltaTable._operation, ["INSERT INTO {t} VALUES (20, 'other')"]

    def operation(table, replaces):
        while conflicts:
            target.change(conflicts.pop())
        return real(table, replaces)

    monkeypatch.setattr(DeltaTable, "_operation", operation)
    commit_all(target.spark, run)
    assert [(row["id"], row["name"]) for row in target.rows()] == [(1, "old"), (10, "old"), (11, "old"), (12, "new")]
    commits = (target.folder / "t/_delta_log").glob("*.json")
    log = [line for commit in commits for line in commit.read_text().splitlines()]
    added = {json.loads(line)["add"]["path"] for line in log if '"add"' in line}
    assert {path.name for path in (target.folder / "t").glob("*.parquet")} == added


def test_files_that_a_clean_up_removed_are_noticed_also_among_many(target):
    before = set((target.folder / "t").glob("*.parquet"))
    run = target.stage("select id, 'new' name from range(0, 70, 1, 70)", COLUMNS)
    staged = sorted(set((target.folder / "t").glob("penstock-*.parquet")) - before)
    assert len(staged) == 70
    staged[-1].unlink()
    with pytest.raises(RunError, match="are gone"):
        commit_all(target.spark, run)
    assert [row["id"] for row in target.rows()] == [1]
