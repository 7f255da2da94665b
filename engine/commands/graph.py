"""`penstock graph`: writes a page that draws a job's plan, or the dependencies of a folder of jobs."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from engine.terminal.arguments import add_job_arguments, settings_of

SUMMARY = "draw a job's plan, or the jobs of a folder, as one HTML page; needs no Spark"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB|DIR", help="a job file, or a folder of jobs")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the page to write")
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.graph.folder_page import to_folder_page
    from engine.graph.page import to_page
    from engine.job.find import find_jobs
    from engine.project.compiled_jobs import compiled_jobs
    from engine.terminal.output_file import write_output
    from engine.terminal.report import report

    diagnostics = Diagnostics()
    paths = find_jobs([str(arguments.job)], diagnostics) if arguments.job.is_dir() else (arguments.job,)
    diagnostics.raise_errors()
    compiled = compiled_jobs(arguments, paths, settings_of(arguments))
    report([warning for job in compiled for warning in job.warnings], arguments.masks)
    is_folder = arguments.job.is_dir()
    page = to_folder_page(arguments.job.resolve().name, compiled) if is_folder else to_page(compiled[0])
    write_output(arguments.output, arguments.masks.known(page))
    print(arguments.output)
    return 0
