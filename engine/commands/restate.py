"""`penstock restate`: does intervals again, whether they are done or not."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from engine.terminal.arguments import (
    add_accelerator_argument,
    add_format_argument,
    add_job_arguments,
    add_range_arguments,
    add_run_arguments,
    add_selection_arguments,
    settings_of,
)

SUMMARY = "do intervals of jobs again, from one time to another"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("jobs", nargs="*", type=Path, metavar="JOB", help="job files; in a project also names")
    add_range_arguments(parser, "intervals", is_required=True)
    parser.add_argument(
        "--downstream",
        action="store_true",
        help="also what depends on the jobs: the same stretch of jobs with intervals, others as a whole",
    )
    parser.add_argument("--keep-going", action="store_true", help="run the other jobs, too, after one has failed")
    add_selection_arguments(parser)
    add_run_arguments(parser)
    add_accelerator_argument(parser)
    add_format_argument(parser)
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.intervals.due_intervals import IntervalRange
    from engine.orchestration.run_range import run_range

    wanted = IntervalRange(arguments.start, arguments.end, is_again=True)
    settings = settings_of(arguments, reads_secrets=True)
    return run_range(arguments, settings, wanted, with_downstream=arguments.downstream)
