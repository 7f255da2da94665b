"""Delta tables that another program changes between the stage and the commit of a run."""

import pytest

pytest.importorskip("pyspark")

from catalog.diagnostics.diagnostic import RunError
from connectors.delta.connector import connector
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
