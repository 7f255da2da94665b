"""`penstock backfill`: does the intervals of a stretch of time that are missing."""

from argparse import ArgumentParser, Namespace

from engine.terminal.arguments import add_interval_arguments, settings_of

SUMMARY = "do the missing intervals of jobs, from one time to another"


def add_arguments(parser: ArgumentParser) -> None:
    add_interval_arguments(parser, " (default: all jobs with intervals)")


def run(arguments: Namespace) -> int:
    from engine.intervals.due_intervals import IntervalRange
    from engine.needs_spark import require_spark

    require_spark("running a job")
    from engine.orchestration.run_range import run_range

    wanted = IntervalRange(arguments.start, arguments.end)
    return run_range(arguments, settings_of(arguments, reads_secrets=True), wanted)
