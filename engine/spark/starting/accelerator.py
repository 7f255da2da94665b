"""`accelerator = "comet"`: starts Spark with Apache DataFusion Comet, which executes operators natively.

    env { accelerator = "comet" }

Comet's classes use what is private to Spark's packages: its jar has to be on the class path that Java starts with. So
it is looked for, and fetched once where this machine does not have it, before that.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pyspark.find_spark_home import _find_spark_home
from pyspark.version import __version__

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.spark_version import SparkVersion
from connectors.shared.java_names import java_named
from connectors.shared.spark_jars import spark_jar
from engine.job.model.job import COMET_ENABLED
from engine.spark.starting.accelerator_machine import refuse_machine
from engine.spark.starting.jars import IVY, local_jar
from engine.spark.starting.off_heap import off_heap
from engine.spark.starting.submit_options import EXECUTOR_PATH, submit_options

ACCELERATED: Final = "spark.penstock.accelerator"
"""A setting of the application: that a job's `accelerator` has started it with Comet, not the user's own settings."""
PLUGIN: Final = "org.apache.spark.CometPlugin"
EXPLAIN: Final = "org.apache.comet.ExtendedExplainInfo"
"""What adds to the text of a plan which operators are Comet's, and why the others are not."""

_SHUFFLE: Final = "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager"
_PLUGINS: Final = "spark.plugins"
_DRIVER_PATH: Final = "spark.driver.extraClassPath"
_PROVIDERS: Final = "spark.sql.extendedExplainProviders"
_OFF_HEAP: Final = "spark.memory.offHeap.enabled"
_OFF_HEAP_SIZE: Final = "spark.memory.offHeap.size"
_ON_HEAP: Final = "spark.comet.exec.onHeap.enabled"
_JARS: Final = "spark.jars"
_FILE: Final = re.compile(r"comet-spark-spark[\w.-]*\.jar$")

DEFAULTS: Final[Mapping[str, str]] = {
    "spark.shuffle.manager": _SHUFFLE,
    _OFF_HEAP: "true",
    "spark.comet.explain.format": "verbose",
    # -0.0 and NaN compare as in Spark, also where Comet would have to normalize them first
    "spark.comet.exec.strictFloatingPoint": "true",
}
"""Set only where the user has set nothing."""


def jar_of_version(version: str = __version__) -> str:
    """The coordinates of Comet's jar for a version of Spark. Raises `RunError` PEN5440 where there is none."""
    try:
        return spark_jar("comet", SparkVersion.parse(version))
    except KeyError as cause:
        message = f"the accelerator `comet` has no jar for Spark {version}"
        raise run_error("PEN5440", message, None, "leave `accelerator` out, or use Spark 4.1") from cause


def accelerated(
    settings: Mapping[str, str],
    given: Mapping[str, str],
    fetch: Callable[[str], Path],
    *,
    has_class: Callable[[], bool] | None = None,
) -> dict[str, str]:
    """The settings to add to those of a session, so that it starts with Comet.

    `settings` are the jobs', `given` those that the user has set elsewhere: both win. `fetch` returns the jar of Maven
    coordinates. `has_class`: of a Java process that runs already, whether its class path has Comet; it cannot be
    extended. Raises `RunError`: PEN5440 where Comet does not run here, PEN5441 where the running Java lacks it, PEN5442
    where a setting turns it off, PEN5003 where its jar is not found.
    """
    known = {**given, **settings}
    _refuse_off(known)
    added = {name: value for name, value in DEFAULTS.items() if name not in known}
    added[ACCELERATED] = "comet"
    added[_PLUGINS] = _joined(known.get(_PLUGINS), PLUGIN)
    added[_PROVIDERS] = _joined(known.get(_PROVIDERS), EXPLAIN)
    if _OFF_HEAP_SIZE not in known:
        added[_OFF_HEAP_SIZE] = off_heap(known)
    if has_class is not None:
        if not has_class():
            raise _not_started_with_it("spark-submit has started Java without the accelerator `comet`")
        return added
    jar, is_on_path = _found(known, fetch)
    return added if is_on_path else {**added, **_class_paths(known, jar)}


def refuse_session_without(plugins: str) -> None:
    """Raise PEN5441 where a running session with these `spark.plugins` was started without Comet."""
    if PLUGIN not in plugins:
        raise _not_started_with_it("the Spark session runs already, without the accelerator `comet`")


def _not_started_with_it(message: str) -> RunError:
    name = f"comet-spark-spark{SparkVersion.parse(__version__)}_2.13-….jar"
    options = f"--jars {name} {submit_options(name)}"
    help = f"name its jar when Spark is started: `{options}`, as `penstock package` prints it"
    return run_error("PEN5441", message, None, help)


def _refuse_off(known: Mapping[str, str]) -> None:
    for name, off in ((COMET_ENABLED, "false"), (_OFF_HEAP, "false")):
        is_on_heap = name == _OFF_HEAP and known.get(_ON_HEAP, "").lower() == "true"
        if known.get(name, "").strip().lower() == off and not is_on_heap:
            message = f"`{name} = false` turns the accelerator `comet` off"
            raise run_error("PEN5442", message, None, "leave out the setting, or `accelerator`")


def _found(known: Mapping[str, str], fetch: Callable[[str], Path]) -> tuple[Path, bool]:
    """The jar, and whether Java has it on its class path anyway. One that the user names is his: of any version, and
    built for any machine."""
    if named := _named(known.get(_DRIVER_PATH, ""), os.pathsep):
        return named, True
    home = Path(_find_spark_home())  # type: ignore[no-untyped-call]
    if installed := next((path for path in sorted((home / "jars").glob("comet-spark-spark*.jar"))), None):
        return installed, True
    if named := _named(known.get(_JARS, ""), ","):
        return named, False
    coordinates = jar_of_version()
    refuse_machine()
    return local_jar(coordinates, known.get(IVY)) or fetch(coordinates), False


def _named(text: str, separator: str) -> Path | None:
    paths: Iterator[str] = (part.strip() for part in text.split(separator))
    return next(
        (Path(path.removeprefix("file://").removeprefix("file:")) for path in paths if _FILE.search(path)), None
    )


def _class_paths(known: Mapping[str, str], jar: Path) -> dict[str, str]:
    """Where driver and executors find the jar. YARN puts the files of `spark.jars` into each container's folder; other
    clusters need it at the same path on each machine."""
    master = known.get("spark.master", "")
    paths = {_DRIVER_PATH: _prepended(jar, known.get(_DRIVER_PATH))}
    if master.startswith("local") and not master.startswith("local-cluster"):
        return paths
    if master.startswith("yarn"):
        paths[_JARS] = _joined(known.get(_JARS), str(jar))
        return {**paths, EXECUTOR_PATH: _prepended(Path(jar.name), known.get(EXECUTOR_PATH))}
    return {**paths, EXECUTOR_PATH: _prepended(jar, known.get(EXECUTOR_PATH))}


def _prepended(jar: Path, users: str | None) -> str:
    return os.pathsep.join(chain([str(jar)], [users] if users else []))


def _joined(users: str | None, more: str) -> str:
    return ",".join(dict.fromkeys([*(part.strip() for part in (users or "").split(",") if part.strip()), more]))


def explained(jvm: Any, plan: Any) -> str:
    """What Comet says of a physical plan of Spark's."""
    return str(java_named(jvm, EXPLAIN)().generateExtendedInfo(plan))


def class_is_loaded(jvm: Any) -> bool:
    """Whether the class path that a running Java was started with has Comet."""
    loader = jvm.java.lang.ClassLoader.getSystemClassLoader()
    return loader.getResource(f"{PLUGIN.replace('.', '/')}.class") is not None
