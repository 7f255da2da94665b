"""`penstock test`: runs the tests of jobs on a local Spark."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.terminal.arguments import add_accelerator_argument, add_job_arguments, positive, settings_of

if TYPE_CHECKING:
    from engine.job.model.settings import Settings
    from engine.testing.read_tests import JobTest
    from engine.testing.run_tests import Result

SUMMARY = "run the tests of jobs (orders.test.sql, orders.test.conf) on a local Spark"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="test files, or folders of them (default: those of the project)"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")
    parser.add_argument(
        "--workers", type=positive, default=4, metavar="N", help="how many run side by side (default: 4)"
    )
    add_accelerator_argument(parser)
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.project.compiled_jobs import written_for
    from engine.project.enter import job_paths
    from engine.terminal.output_file import refuse_link
    from engine.terminal.rare_collections import usual_collections
    from engine.terminal.report import report
    from engine.testing.junit import write_junit
    from engine.testing.read_tests import find_tests
    from engine.testing.run_tests import run_tests

    diagnostics = Diagnostics()
    tests = find_tests(job_paths(arguments), diagnostics)
    diagnostics.raise_errors()
    settings = settings_of(arguments)
    usual_collections()
    results: list[Result] = []
    for root, own in _by_project(arguments, tests).items():
        if root is None:
            written = written_for(arguments, tuple(dict.fromkeys(test.job for test in own)), settings)
            results += run_tests(own, settings, arguments.workers, written)
        else:
            results += _run_nested(root, own, settings, arguments.workers)
    for result in results:
        _print(result)
    report([diagnostic for result in results for diagnostic in result.diagnostics], arguments.masks)
    failed = sum(bool(result.diagnostics) for result in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    if arguments.junit:
        refuse_link(arguments.junit)
        write_junit(arguments.junit, results, arguments.masks)
    return 1 if failed else 0


def _by_project(arguments: Namespace, tests: "Sequence[JobTest]") -> "dict[Path | None, list[JobTest]]":
    """The tests by the root of the project below the current folder that their job is in; None: the command's own."""
    from engine.job.root import find_root

    found: dict[Path | None, list[JobTest]] = {}
    for test in tests:
        root = None if arguments.project is not None else find_root(test.job.parent)
        found.setdefault(root, []).append(test)
    return found


def _run_nested(root: Path, tests: "Sequence[JobTest]", settings: "Settings", workers: int) -> "Sequence[Result]":
    """Run tests as their project does, in its root; files are named as seen from here."""
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.project.compile_project import compile_project
    from engine.project.compiled_jobs import of_all_jobs
    from engine.project.enter import ENVIRONMENT_VARIABLE, at_root
    from engine.project.read_project import read_project
    from engine.terminal.report import seen_from
    from engine.testing.read_tests import find_tests
    from engine.testing.run_tests import run_tests

    called_from, names = Path.cwd(), {test.file.absolute(): test.file for test in tests}
    files = [os.path.relpath(file, root) for file in names]
    with at_root(root):
        project = read_project(
            Path(), os.environ.get(ENVIRONMENT_VARIABLE), settings.variables, masks=settings.masks,
            allows_outside=settings.allows_outside, limits_process=settings.limits_process,
        )  # fmt: skip
        own = replace(settings, project=project.defaults)
        written = compile_project(project, of_all_jobs(own), fingerprints=False).written
        results = run_tests(find_tests(files, Diagnostics()), own, workers, written)
        return [
            replace(
                result,
                test=replace(result.test, file=names[result.test.file.absolute()]),
                diagnostics=seen_from(result.diagnostics, settings.masks, called_from)[0],
            )
            for result in results
        ]


def _print(result: "Result") -> None:
    word = "FAILED" if result.diagnostics else "passed"
    print(f"{word} {result.test.file}: {result.test.name} ({result.seconds:.1f} s)")
