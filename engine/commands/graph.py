"""`penstock graph`: a page that draws a job's plan, with columns, types and lineage."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from engine.terminal.arguments import add_job_arguments, settings_of

SUMMARY = "draw the plan of a job as one HTML page; needs no Spark"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="a job file")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the page to write")
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.compile import compile_jobs
    from engine.graph.page import to_page
    from engine.terminal.report import report

    (compiled,) = compile_jobs([arguments.job], settings_of(arguments))
    report(compiled.warnings)
    arguments.output.write_text(to_page(compiled.built, compiled.plan), encoding="utf-8")
    print(arguments.output)
    return 0
