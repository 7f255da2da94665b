"""`penstock package`: builds an application for spark-submit."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

SUMMARY = "make a zip and a script by which spark-submit runs jobs on a cluster"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("jobs", nargs="+", type=Path, metavar="JOB", help="job files")
    parser.add_argument("-o", "--output", type=Path, default=Path("app.zip"), metavar="ZIP", help="default: app.zip")


def run(arguments: Namespace) -> int:
    from catalog.diagnostics import job_error
    from engine.package.build import build
    from engine.package.jars import packaged_jars

    if arguments.output.suffix != ".zip":
        raise job_error("PEN2004", f"`{arguments.output}` does not end in .zip, as Spark demands of --py-files")
    archive, script = build(arguments.jobs, arguments.output)
    print(f"wrote {archive} ({archive.stat().st_size / 2**20:.1f} MiB) and {script}; run them by")
    jars = packaged_jars(arguments.jobs)
    packages = f" --packages {','.join(jars)}" if jars else ""
    print(f"  spark-submit{packages} --py-files {archive} {script}")
    return 0
