"""The jars of packaged jobs as files, for machines that reach no repository."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from catalog.diagnostics.diagnostic import run_error


def bundle_jars(coordinates: Sequence[str], folder: Path) -> tuple[Path, ...]:
    """Fetch the jars and all that they depend on by Spark's own resolver, and copy them into the folder.

    Raises `RunError` PEN5003 if one is not found, PEN5002 without Java.
    """
    if not coordinates:
        return ()
    from engine.spark.session import has_session, open_session
    from engine.spark.starting.jars import jar_files

    was_running = has_session()
    spark = open_session("penstock package", {}, coordinates)
    try:
        alone = [path for jar in coordinates if "?" in jar for path in jar_files(spark, jar)]
        fetched = [*_local_jars(spark.conf.get("spark.jars", "") or ""), *map(Path, alone)]
    finally:
        if not was_running:
            spark.stop()
    if not fetched:
        raise run_error("PEN5003", f"Spark fetched none of the jars {', '.join(coordinates)}")
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(Path(shutil.copy2(jar, folder)) for jar in fetched)


def _local_jars(setting: str) -> Iterable[Path]:
    paths = (Path(jar.removeprefix("file://").removeprefix("file:")) for jar in setting.split(",") if jar)
    return [path for path in paths if path.is_file()]
