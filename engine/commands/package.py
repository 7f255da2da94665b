"""`penstock package`: builds an application for spark-submit."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
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
    jars, comet = packaged_jars(arguments.jobs), _comet(arguments.jobs)
    archive, script = build(arguments.jobs, arguments.output)
    fetched = [jar for jar in jars if "?" not in jar]
    packages = f" --packages {','.join(fetched)}" if fetched else ""
    files: tuple[Path, ...] = ()
    if arguments.jars:
        files = _bundled((*jars, *comet), archive.with_name(f"{archive.stem}-jars"))
        packages = f" --jars {','.join(str(file) for file in files)}" if files else ""
    print(f"wrote {archive} ({archive.stat().st_size / 2**20:.1f} MiB) and {script}; run them by")
    for jar in comet:
        packages += _with_comet(jar, files)
    print(f"  spark-submit{packages} --py-files {archive} {script}")
    return 0


def _comet(jobs: Sequence[Path]) -> tuple[str, ...]:
    """The coordinates of Comet's jar, where a job asks for the accelerator."""
    from connectors.shared.spark_jars import spark_jar
    from engine.package.jars import is_accelerated

    return (spark_jar("comet"),) if is_accelerated(jobs) else ()


def _with_comet(jar: str, files: Sequence[Path]) -> str:
    """The options of spark-submit for Comet, whose jar Java has to find when it starts."""
    from engine.spark.starting.submit_options import submit_options

    _, name, version = jar.split(":")
    found = next((str(file) for file in files if file.name.endswith(f"{name}-{version}.jar")), None)
    if found is not None:
        return f" {submit_options(found)}"
    print(f"  (the accelerator's jar is {jar}; `penstock package --jars` fetches it)")
    return f" --jars {name}-{version}.jar {submit_options(f'{name}-{version}.jar')}"


def _bundled(jars: tuple[str, ...], folder: Path) -> tuple[Path, ...]:
    """The fetched jars; none where the jobs need none."""
    from engine.needs_spark import require_spark
    from engine.package.bundle import bundle_jars

    if not jars:
        print("the jobs need no jars")
        return ()
    require_spark("fetching jars")
    files = bundle_jars(jars, folder)
    print(f"wrote {len(files)} jars ({sum(file.stat().st_size for file in files) / 2**20:.1f} MiB) to {folder}")
    return files
