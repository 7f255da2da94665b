"""`penstock convert`: converts a HOCON or JSON job to SQL, or a SQL job to HOCON, with the same plan."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

SUMMARY = "turn a HOCON job into SQL, or a SQL job into HOCON"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="a job file")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="where to write it (default: standard output)"
    )


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.job.bounded import bounded
    from engine.job.convert import convert
    from engine.terminal.output_file import write_output
    from engine.terminal.report import report

    diagnostics = Diagnostics()
    with bounded(arguments.job, allows_outside=False, is_run=False, limits_process=True):
        text = convert(arguments.job, diagnostics)
    diagnostics.raise_errors()
    report(diagnostics, arguments.masks)
    if arguments.output:
        write_output(arguments.output, text)
    else:
        sys.stdout.write(text)
    return 0
