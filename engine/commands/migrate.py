"""`penstock migrate`: prints a job of Apache SeaTunnel as a strict job, with comments where it had to change."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from engine.terminal.arguments import add_format_argument, variable

SUMMARY = "turn a job of Apache SeaTunnel into a strict job, which needs no --compat"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="a job file of SeaTunnel")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="where to write it (default: standard output)"
    )
    parser.add_argument(
        "--sql",
        choices=("seatunnel", "spark"),
        default="seatunnel",
        help="the SQL of its queries: SeaTunnel's, as written, or Spark's, rewritten (default: seatunnel)",
    )
    parser.add_argument(
        "-i", "--variable", dest="variables", action="append", default=[], type=variable, metavar="NAME=VALUE",
        help="a value with which the result is checked; may be repeated. Variables stay in the job",
    )  # fmt: skip
    add_format_argument(parser)


def run(arguments: Namespace) -> int:
    from engine.job.bounded import bounded
    from engine.job.model.settings import Settings
    from engine.migrating.migrate import migrate
    from engine.terminal.output_file import write_output
    from engine.terminal.report import report

    settings = Settings(dict(arguments.variables), masks=arguments.masks)
    with bounded(arguments.job, allows_outside=False, is_run=False, limits_process=True):
        migrated = migrate(arguments.job, settings, to_spark_sql=arguments.sql == "spark")
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        write_output(arguments.output, migrated.text)
    elif arguments.format == "text":
        sys.stdout.write(migrated.text)
    report(migrated.left, arguments.masks, arguments.format)
    return 2 if migrated.left else 0
