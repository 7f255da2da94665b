"""`penstock restate`: does intervals again, whether they are done or not."""

from argparse import ArgumentParser, Namespace

from engine.terminal.arguments import add_interval_arguments, settings_of

SUMMARY = "do intervals of jobs again, from one time to another"


def add_arguments(parser: ArgumentParser) -> None:
    add_interval_arguments(parser, "", is_required=True)
    parser.add_argument(
        "--downstream",
        action="store_true",
        help="also what depends on the jobs: the same stretch of jobs with intervals, others as a whole",
    )


def run(arguments: Namespace) -> int:
    from engine.intervals.due_intervals import IntervalRange
    from engine.needs_spark import require_spark

    require_spark("running a job")
    from engine.orchestration.run_range import run_range

    wanted = IntervalRange(arguments.start, arguments.end, is_again=True)
    settings = settings_of(arguments, reads_secrets=True)
    return run_range(arguments, settings, wanted, with_downstream=arguments.downstream)
