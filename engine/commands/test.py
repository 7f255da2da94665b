"""`penstock test`: runs the tests of jobs on a local Spark."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.terminal.arguments import add_job_arguments, positive, settings_of

if TYPE_CHECKING:
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
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.project.compiled_jobs import written_for
    from engine.project.enter import job_paths
    from engine.terminal.rare_collections import usual_collections
    from engine.terminal.report import report
    from engine.testing.junit import write_junit
    from engine.testing.read_tests import find_tests
    from engine.testing.run_tests import run_tests

    diagnostics = Diagnostics()
    tests = find_tests(job_paths(arguments), diagnostics)
    diagnostics.raise_errors()
    settings = settings_of(arguments)
    written = written_for(arguments, tuple(dict.fromkeys(test.job for test in tests)), settings)
    usual_collections()
    results = run_tests(tests, settings, arguments.workers, written)
    for result in results:
        _print(result)
    report([diagnostic for result in results for diagnostic in result.diagnostics], arguments.masks)
    failed = sum(bool(result.diagnostics) for result in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    if arguments.junit:
        write_junit(arguments.junit, results)
    return 1 if failed else 0


def _print(result: "Result") -> None:
    word = "FAILED" if result.diagnostics else "passed"
    print(f"{word} {result.test.file}: {result.test.name} ({result.seconds:.1f} s)")
