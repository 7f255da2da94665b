"""Random jobs over sets of tables: tables, targets and rows are those of the same job written out table by table."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.plan.nodes import Scan
from tests.engine.plan.random_sets import set_jobs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    (folder / "in").mkdir()
    for shape, row in enumerate(("1,a", "2,7", "k")):
        (folder / "in" / f"{shape}.csv").write_text(f"{row}\n")
    return folder


def plan_of(folder, text):
    file = folder / "job.conf"
    file.write_text(text.replace('"in/', f'"{folder}/in/'))  # Java has a working directory of its own
    diagnostics = Diagnostics()
    job = compile_job(file, Settings(), diagnostics)
    assert job is not None, [(item.code, item.message) for item in diagnostics]
    return job.plan


def written(plan):
    """What each write gets and where it goes; a set's writes have the order of its tables."""
    return [
        (
            write.connector.name,
            write.options.get("path"),
            [str(column) for column in write.table.columns],
            write.table.has_row_kind,
            write.table.schema.primary_key,
        )
        for write in plan.writes
    ]


@given(set_jobs())
@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_tables_and_targets_are_those_of_the_job_written_out(folder, job):
    whole, alone = (plan_of(folder, text) for text in job)
    assert written(whole) == written(alone)
    assert len([node for node in whole.nodes() if isinstance(node, Scan)]) == len(
        [node for node in alone.nodes() if isinstance(node, Scan)]
    )


@pytest.mark.spark
def test_rows_are_those_of_the_job_written_out(spark, folder):
    from engine.spark.lower import lower
    from engine.spark.session import pipeline_session

    def rows(plan):
        frames = lower(pipeline_session(spark), plan.writes).dataframes
        return [Counter(map(repr, frames[write.input].collect())) for write in plan.writes]

    @given(set_jobs())
    @settings(
        max_examples=8,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    def check(job):
        whole, alone = (plan_of(folder, text) for text in job)
        assert rows(whole) == rows(alone)

    check()
