"""`penstock retry`: runs again what failed or was skipped last time."""

from argparse import ArgumentParser, Namespace

from engine.terminal.arguments import (
    add_format_argument,
    add_job_arguments,
    add_run_arguments,
    add_selection_arguments,
    settings_of,
)

SUMMARY = "run again what failed or was skipped in the last run of the project"


def add_arguments(parser: ArgumentParser) -> None:
    add_selection_arguments(parser)
    parser.add_argument(
        "--fail-fast",
        dest="keep_going",
        action="store_false",
        help="start no further job after one has failed (default: only those that need it are skipped)",
    )
    add_run_arguments(parser)
    add_format_argument(parser)
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.orchestration.run_selected import retry_last

    return retry_last(arguments, settings_of(arguments, reads_secrets=True))
