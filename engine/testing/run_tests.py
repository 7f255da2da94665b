"""Runs tests side by side in one Spark application, each in its own session."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, PenstockError
from engine.compile import Compiled
from engine.job.model.job import Accelerator
from engine.job.model.settings import Settings
from engine.needs_spark import require_spark
from engine.project.compile_project import compile_with
from engine.project.written_schemas import Written
from engine.testing.read_tests import JobTest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Result:
    """A test with its diagnostics and duration."""

    test: JobTest
    diagnostics: tuple[Diagnostic, ...]
    seconds: float


def run_tests(
    tests: Sequence[JobTest], settings: Settings, workers: int = 4, written: Written | None = None
) -> tuple[Result, ...]:
    """Every test's result, in their order. `written`: the columns of what other jobs of the project write."""
    require_spark("testing a job")
    from engine.spark.session import open_session

    compiled = [_compiled(test, settings, written or {}) for test in tests]
    if all(job is None for job, _ in compiled):
        return tuple(Result(test, found, 0.0) for test, (_, found) in zip(tests, compiled, strict=True))
    is_accelerated = any(job is not None and job.plan.env.accelerator is Accelerator.COMET for job, _ in compiled)
    spark = open_session(
        "penstock test",
        {"spark.master": "local[*]", "spark.sql.shuffle.partitions": "2"},
        for_small_jobs=True,
        accelerator=Accelerator.COMET if is_accelerated else Accelerator.NONE,
    )

    def run(index: int) -> Result:
        started = monotonic()
        test, (job, diagnostics) = tests[index], compiled[index]
        if job is not None:
            diagnostics = run_test_on(spark, job, test)
        return Result(test, diagnostics, monotonic() - started)

    with ThreadPoolExecutor(max(1, workers)) as pool:
        return tuple(pool.map(run, range(len(tests))))


def _compiled(test: JobTest, settings: Settings, written: Written) -> tuple[Compiled | None, tuple[Diagnostic, ...]]:
    diagnostics = Diagnostics()
    own = replace(settings, variables={**settings.variables, **test.variables}, disabled_rules=())
    job = compile_with(test.job, own, written, diagnostics)
    return job, tuple(diagnostic for diagnostic in diagnostics if diagnostic.severity.value == "error")


def run_test_on(spark: "SparkSession", job: Compiled, test: JobTest) -> tuple[Diagnostic, ...]:
    """The errors of a test, in a session of its own; nothing if it passes."""
    from engine.spark.session import pipeline_session
    from engine.testing.job_test import run_test

    try:
        return tuple(
            run_test(pipeline_session(spark, job.plan.env.session_settings), job.built, test.given, test.expected)
        )
    except PenstockError as error:
        return error.diagnostics
