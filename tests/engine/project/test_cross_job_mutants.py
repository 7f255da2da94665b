"""A column that a job renames, retypes or removes is an error exactly where Spark could not run a job that reads it."""

import logging
import os
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException
from pyspark.sql.types import StructType

from catalog.diagnostics.diagnostic import Severity
from engine.job.model.settings import Settings
from engine.project.compile_project import compile_project
from engine.project.read_project import read_project
from tests.engine.project.random_projects import SOURCES, RandomJob, mutated, random_project

pytestmark = pytest.mark.spark

MUTANTS_OF_PROJECT = 10
Written = dict[str, StructType]
READ_AS = {("int", "bigint"), ("int", "double"), ("smallint", "int"), ("date", "timestamp_ntz")}
"""What Spark reads of Parquet as a wider type that is declared."""


def errors(root: Path, jobs: dict[str, RandomJob]) -> list[str]:
    """What Penstock reports."""
    for job in jobs.values():
        (root / "jobs" / f"{job.name}.conf").write_text(job.text)
    project = read_project(root)
    compiled = compile_project(project, Settings(project=project.defaults), 1, fingerprints=False)
    return [str(item) for item in compiled.all_diagnostics() if item.severity is Severity.ERROR]


def view(spark, name: str, schema: StructType) -> None:
    """A view without rows."""
    columns = (f"cast(null as {field.dataType.simpleString()}) as `{field.name}`" for field in schema.fields)
    spark.range(0).selectExpr(*columns).createOrReplaceTempView(name)


def schema_of(columns: Iterable[tuple[str, str]]) -> StructType:
    return StructType.fromDDL(", ".join(f"`{name}` {type}" for name, type in columns))


def analyzed(spark, job: RandomJob, inputs: dict[str, StructType]) -> StructType:
    """The columns of the job's query, as Spark's analyzer finds them; raises where it cannot run."""
    for name, schema in inputs.items():
        view(spark, name, schema)
    found: StructType = spark.sql(job.query).schema
    if len({name.lower() for name in found.names}) < len(found.names):
        raise ValueError("a column twice")
    return found


def failures(spark, before: Written, jobs: dict[str, RandomJob], mutants: dict[str, RandomJob]) -> list[str]:
    """The jobs that Spark cannot run: it analyzes each over the columns that those before it write. `before`: what the
    jobs write without the mutation."""
    written, failed = dict[str, StructType](), []
    changed = {name for name, job in mutants.items() if job is not jobs[name]}
    for name, job in mutants.items():
        read = {each.partition("__")[0] for each in job.reads}
        if name not in changed and not read & changed:
            written[name] = before[name]
            continue
        changed.add(name)
        if not read <= written.keys():
            continue  # it waits for one that fails
        try:
            written[name] = analyzed(spark, job, inputs_of(job, written))
        except (PySparkException, ValueError) as error:
            failed.append(f"{name}: {error}")
    return failed


def inputs_of(job: RandomJob, written: Written) -> dict[str, StructType]:
    """What the job reads, as it declares it; raises where that is not what is written."""
    if job.name in SOURCES:
        return {"raw": schema_of(SOURCES[job.name].items())}
    found = {read: written[read.partition("__")[0]] for read in job.reads}
    if job.declared:
        found[job.reads[0]] = declared(job, found[job.reads[0]])
    return found


def declared(job: RandomJob, found: StructType) -> StructType:
    there = {field.name.lower(): field.dataType.simpleString() for field in found.fields}
    for name, type in job.declared:
        own = there.get(name)
        if own is None or (own != type and (own, type) not in READ_AS):
            raise ValueError(f"{name} is {own}, not {type}")
    return schema_of(job.declared)


def with_declared(
    spark, jobs: dict[str, RandomJob], chance: random.Random
) -> tuple[dict[str, RandomJob], dict[str, StructType]]:
    """The jobs, some of which declare all columns that they read, and what each writes."""
    found, written = {}, dict[str, StructType]()
    for name, job in jobs.items():
        written[name] = analyzed(spark, job, inputs_of(job, written))
        found[name] = job
        if job.reads and job.reads[0].endswith("parquet") and chance.random() < 0.3:
            fields = written[job.reads[0].partition("__")[0]].fields
            listed = tuple((field.name.lower(), field.dataType.simpleString()) for field in fields)
            found[name] = replace(job, declared=listed)
    return found, written


@pytest.mark.parametrize(
    ("seed", "projects"),
    [
        (int(os.environ.get("PENSTOCK_TEST_SEED", "1")), 1),
        pytest.param(int(os.environ.get("PENSTOCK_TEST_SEED", "2")), 120, marks=pytest.mark.soak),
    ],
)
def test_mutants_are_found_where_spark_fails(spark, tmp_path, monkeypatch, seed, projects):
    chance = random.Random(seed)
    monkeypatch.setattr(logging.getLogger("SQLQueryContextLogger"), "disabled", True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "penstock.conf").write_text('name = "mutants"\njobs = ["jobs"]\n')
    missed, wrong, broken = [], [], 0
    for number in range(projects):
        jobs, written = with_declared(spark, random_project(chance), chance)
        assert errors(tmp_path, jobs) == [], f"project {number} is fine"
        for mutant in (mutated(jobs, chance) for _ in range(MUTANTS_OF_PROJECT)):
            reported, failed = errors(tmp_path, mutant), failures(spark, written, jobs, mutant)
            broken += bool(failed)
            if failed and not reported:
                missed.append(failed)
            if reported and not failed:
                wrong.append(reported)
    total = projects * MUTANTS_OF_PROJECT
    print(f"{total} mutants, {broken} of them broken: {len(missed)} missed, {len(wrong)} false")
    assert not wrong, wrong[:3]
    assert len(missed) <= 0.005 * broken, missed[:3]
