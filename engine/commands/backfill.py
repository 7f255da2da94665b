"""`penstock backfill`: does the intervals of a stretch of time that are missing."""

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

SUMMARY = "do the missing intervals of jobs, from one time to another"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "jobs",
        nargs="*",
        type=Path,
        metavar="JOB",
        help="job files; in a project also names (default: all jobs with intervals)",
    )  # fmt: skip
    add_range_arguments(parser, "intervals")
    parser.add_argument("--keep-going", action="store_true", help="run the other jobs, too, after one has failed")
    add_selection_arguments(parser)
    add_run_arguments(parser)
    add_accelerator_argument(parser)
    add_format_argument(parser)
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.intervals.due_intervals import IntervalRange
    from engine.orchestration.run_range import run_range

    wanted = IntervalRange(arguments.start, arguments.end)
    return run_range(arguments, settings_of(arguments, reads_secrets=True), wanted)
