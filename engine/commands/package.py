"""`penstock package`: builds an application for spark-submit."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

SUMMARY = "make a zip and a script by which spark-submit runs jobs on a cluster"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("jobs", nargs="+", type=Path, metavar="JOB", help="job files")
    parser.add_argument("-o", "--output", type=Path, default=Path("app.zip"), metavar="ZIP", help="default: app.zip")
    parser.add_argument(
        "--jars",
        action="store_true",
        help="also fetch the connectors' jars into a folder next to the zip, for clusters without a network",
    )


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import job_error
    from engine.package.build import build
    from engine.package.jars import packaged_jars
    from engine.terminal.output_file import refuse_link

    if arguments.output.suffix != ".zip":
        raise job_error("PEN2004", f"`{arguments.output}` does not end in .zip, as Spark demands of --py-files")
    for path in (arguments.output, arguments.output.with_suffix(".py")):
        refuse_link(path)
    archive, script = build(arguments.jobs, arguments.output)
    jars = packaged_jars(arguments.jobs)
    fetched = [jar for jar in jars if "?" not in jar]
    packages = f" --packages {','.join(fetched)}" if fetched else ""
    if arguments.jars:
        packages = _bundled(jars, archive.with_name(f"{archive.stem}-jars"))
    print(f"wrote {archive} ({archive.stat().st_size / 2**20:.1f} MiB) and {script}; run them by")
    print(f"  spark-submit{packages} --py-files {archive} {script}")
    return 0


def _bundled(jars: tuple[str, ...], folder: Path) -> str:
    """The option of spark-submit that names the fetched jars; nothing where the jobs need none."""
    from engine.needs_spark import require_spark
    from engine.package.bundle import bundle_jars

    if not jars:
        print("the jobs need no jars")
        return ""
    require_spark("fetching jars")
    files = bundle_jars(jars, folder)
    print(f"wrote {len(files)} jars ({sum(file.stat().st_size for file in files) / 2**20:.1f} MiB) to {folder}")
    return f" --jars {','.join(str(file) for file in files)}"
