"""`penstock build`: tests and runs jobs of the project."""

from argparse import ArgumentParser, Namespace

from engine.terminal.arguments import (
    add_accelerator_argument,
    add_defer_argument,
    add_format_argument,
    add_job_arguments,
    add_run_arguments,
    add_selection_arguments,
    settings_of,
)

SUMMARY = "test and run jobs of the project, in dependency order"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="names of jobs, or job files (default: all)")
    add_selection_arguments(parser)
    add_defer_argument(parser)
    parser.add_argument(
        "--fail-fast",
        dest="keep_going",
        action="store_false",
        help="start no further job after one has failed (default: only those that need it are skipped)",
    )
    add_run_arguments(parser)
    add_format_argument(parser)
    add_accelerator_argument(parser)
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.orchestration.run_selected import run_selected

    return run_selected(arguments, settings_of(arguments, reads_secrets=True), command="build")
