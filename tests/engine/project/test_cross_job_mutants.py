"""A column that a job renames, retypes or removes is an error exactly where Spark could not run a job that reads it."""

import os
import random
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
READ_AS = {("int", "bigint"), ("int", "double"), ("smallint", "int"), ("date", "timestamp_ntz")}
"""What Spark reads of Parquet as a wider type that is declared."""


def errors(root: Path, jobs: dict[str, RandomJob]) -> list[str]:
    """What Penstock reports."""
    for job in jobs.values():
        (root / "jobs" / f"{job.name}.conf").write_text(job.text)
    project = read_project(root)
    compiled = compile_project(project, Settings(project=project.defaults), 1, fingerprints=False)
    return [str(item) for item in compiled.all_diagnostics() if item.severity is Severity.ERROR]


def failures(spark, jobs: dict[str, RandomJob]) -> list[str]:
    """The jobs that Spark cannot run: it analyzes each over the columns that those before it write."""
    written: dict[str, StructType] = {}
    failed = []
    for job in jobs.values():
        inputs = {read: written.get(read.partition("__")[0]) for read in job.reads}
        if job.name in SOURCES:
            ddl = ", ".join(f"{name} {type}" for name, type in SOURCES[job.name].items())
            inputs = {"raw": spark.createDataFrame([], ddl).schema}
        if None in inputs.values():
            continue  # it waits for one that fails
        try:
            for number, (name, schema) in enumerate(inputs.items()):
                read = declared(spark, job, schema) if number == 0 and job.declared else schema
                spark.createDataFrame([], read).createOrReplaceTempView(name)
            found = spark.sql(job.query).schema
            if len({name.lower() for name in found.names}) < len(found.names):
                raise ValueError("a column twice")
            written[job.name] = found
        except (PySparkException, ValueError) as error:
            failed.append(f"{job.name}: {error}")
    return failed


def declared(spark, job: RandomJob, found: StructType) -> StructType:
    """What a reader gets that declares columns; raises where these are not what is written."""
    there = {field.name.lower(): field.dataType.simpleString() for field in found.fields}
    for name, type in job.declared:
        own = there.get(name)
        if own is None or (own != type and (own, type) not in READ_AS):
            raise ValueError(f"{name} is {own}, not {type}")
    return spark.createDataFrame([], ", ".join(f"{name} {type}" for name, type in job.declared)).schema


def with_declared(spark, jobs: dict[str, RandomJob], chance: random.Random) -> dict[str, RandomJob]:
    """Some readers declare all columns that they read."""
    found, schemas = {}, dict[str, StructType]()
    for name, job in jobs.items():
        inputs = {read: schemas[read.partition("__")[0]] for read in job.reads}
        if name in SOURCES:
            ddl = ", ".join(f"{column} {type}" for column, type in SOURCES[name].items())
            inputs = {"raw": spark.createDataFrame([], ddl).schema}
        for read, schema in inputs.items():
            spark.createDataFrame([], schema).createOrReplaceTempView(read)
        schemas[name] = spark.sql(job.query).schema
        found[name] = job
        if job.reads and job.reads[0].endswith("parquet") and chance.random() < 0.3:
            fields = schemas[job.reads[0].partition("__")[0]].fields
            listed = tuple((field.name.lower(), field.dataType.simpleString()) for field in fields)
            found[name] = replace(job, declared=listed)
    return found


@pytest.mark.parametrize(
    ("seed", "projects"),
    [
        (int(os.environ.get("PENSTOCK_TEST_SEED", "1")), 2),
        pytest.param(int(os.environ.get("PENSTOCK_TEST_SEED", "2")), 120, marks=pytest.mark.soak),
    ],
)
def test_mutants_are_found_where_spark_fails(spark, tmp_path, monkeypatch, seed, projects):
    chance = random.Random(seed)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "penstock.conf").write_text('name = "mutants"\njobs = ["jobs"]\n')
    missed, wrong, broken = [], [], 0
    for number in range(projects):
        jobs = with_declared(spark, random_project(chance), chance)
        assert errors(tmp_path, jobs) == [], f"project {number} is fine"
        for mutant in (mutated(jobs, chance) for _ in range(MUTANTS_OF_PROJECT)):
            reported, failed = errors(tmp_path, mutant), failures(spark, mutant)
            broken += bool(failed)
            if failed and not reported:
                missed.append(failed)
            if reported and not failed:
                wrong.append(reported)
    total = projects * MUTANTS_OF_PROJECT
    print(f"{total} mutants, {broken} of them broken: {len(missed)} missed, {len(wrong)} false")
    assert not wrong, wrong[:3]
    assert len(missed) <= 0.005 * broken, missed[:3]
