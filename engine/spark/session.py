"""The Spark session for jobs: started once for all of them, or the one that spark-submit has started."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from threading import current_thread, main_thread
from typing import IO, Any, Final

from py4j.java_gateway import java_import
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession
from pyspark.version import __version__

from catalog.diagnostics.diagnostic import run_error
from catalog.spark_version import JAVA_VERSIONS, NEWEST, SparkVersion
from engine.job.model.job import COMET_ENABLED, Accelerator
from engine.job.options.env import FIXED
from engine.spark.starting.accelerator import ACCELERATED, accelerated, class_is_loaded, refuse_session_without
from engine.spark.starting.class_archive import JAVA_OPTIONS, archive_options
from engine.spark.starting.defaults import (
    add_defaults,
    is_local,
    set_missing,
    settings_in_files,
    settings_of_application,
)
from engine.spark.starting.jars import EXCLUDES, IVY, PACKAGES, add_alone, resolved, resolving, split_alone
from engine.spark.starting.master import check_master
from engine.spark.starting.private_settings import handed_over
from engine.spark.starting.protection import protect
from engine.supervised import release

LATE_COMPILER: Final = (
    "-XX:Tier4InvocationThreshold=100000 -XX:Tier4MinInvocationThreshold=20000 -XX:Tier4CompileThreshold=200000 "
    "-XX:Tier4BackEdgeThreshold=400000"
)
"""With `tuning.late_compiler`, Java's optimizing compiler begins later: it takes a third of the CPU time of a small
job, for code that runs once.

Methods and loops of the work itself go over the rows, and reach these numbers in a second. The loop that Spark reads
class files with takes the compiler two seconds of CPU time, and would run for one. OpenJ9 has no such options, and does
not start with them.
"""
NO_COMPILER: Final = "-XX:TieredStopAtLevel=1"
"""Without the optimizing compiler, and without the counters in the code that it needs. What Spark does for a table of
a few rows is planning, most of it code that runs some hundred times."""
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""The variable that spark-submit sets for the driver that it has started."""
_EXTENSIONS: Final = "spark.sql.extensions"
_LOG_LINES: Final = 20
_NOISE: Final = ("at ", "... ", "WARNING: Using incubator modules", "NOTE: Picked up")
_EXCEPTION: Final = re.compile(r'^(?:Exception in thread "[^"]*" )?(?:[\w$]+[.])+\w*(?:Exception|Error): ')
_UNREGISTERED: Final = ("spark.sql.catalog.", "spark.comet.")
"""Settings of a session whose names Spark does not know: those of catalogs, and of Comet."""
_UTILS: Final = "org.apache.spark.api.python.PythonUtils"
"""PySpark calls it at each projection. Imported by its whole name, it is found at once: else Java looks for it in all
jars, for each package that PySpark imports."""
STACK: Final = "-Xss16m"
"""The stack of Java's threads, of which memory is taken as it is used. Spark's analyzer recurses over a plan, and code
that Java has not compiled yet needs more of it: with 1 MiB a chain of some 130 queries is too deep."""
_OF_JAVA: Final = {
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_DRIVER_PYTHON": sys.executable,
    "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1",  # of a process that only makes a command
}
_JAVA_SECONDS: Final = 3.0
"""How long Java may take to end before it is killed, in seconds."""


def open_session(
    name: str,
    settings: Mapping[str, str],
    maven: Iterable[str] = (),
    required: Mapping[str, str] | None = None,
    *,
    for_small_jobs: bool = False,
    late_compiler: bool = False,
    writes_archive: bool = False,
    accelerator: Accelerator = Accelerator.NONE,
) -> SparkSession:
    """The running session, or a new one with these settings and jars.

    `settings` are the jobs' (`spark.*` of `env`); `required` are the connectors'. Penstock's defaults are set only
    where nobody has set anything (`defaults.py`).
    `for_small_jobs`: the application ends after seconds of work, in batch. `late_compiler`: the user has chosen it.
    `writes_archive`: Java writes the archive of its classes at the end. `accelerator`: what the session is to have; of
    one that runs already it cannot be added (PEN5441). Raises `RunError` PEN5002 if Java or its
    version is not what Spark needs, PEN5003 if a jar is not found, PEN5402 if the master is none or does not answer.
    """
    maven, alone = split_alone(tuple(maven))
    has_comet = accelerator is Accelerator.COMET
    compiling = NO_COMPILER if for_small_jobs else LATE_COMPILER if late_compiler else ""
    active = SparkSession.getActiveSession()
    if active is not None or SparkContext._active_spark_context is not None:
        if has_comet:
            refuse_session_without(SparkContext.getOrCreate().getConf().get("spark.plugins", ""))
        conf = _conf(name, settings, maven, required or {}, {})
        spark = _prepared(active or SparkSession.builder.getOrCreate(), conf)
        set_missing(spark)
    elif _SUBMITTED in os.environ:
        SparkContext._ensure_initialized()
        given, jvm = settings_of_application(SparkContext._jvm), SparkContext._jvm
        if has_comet:
            settings = {**settings, **accelerated(settings, given, _fetched, has_class=lambda: class_is_loaded(jvm))}
        conf = _conf(name, settings, maven, required or {}, given)
        add_defaults(conf, given, is_local=is_local(conf.get("spark.master", given.get("spark.master", ""))))
        protect(conf, SparkContext._jvm)
        spark = _prepared(SparkSession.builder.config(conf=conf).getOrCreate(), conf)
    else:
        release()
        given = settings_in_files()
        settings = settings_with(accelerator, settings)
        conf = _conf(name, settings, maven, required or {}, given, compiling=compiling)
        check_master(str(conf.get("spark.master", "local")))
        java = find_java()
        if _is_hotspot() and (options := archive_options(java, settings, writes=writes_archive)):
            conf.set(JAVA_OPTIONS, f"{options} {conf.get(JAVA_OPTIONS)}")
        spark = _prepared(_launch(conf, maven), conf)
    for jar in alone:
        add_alone(spark, jar)
    return spark


def settings_with(accelerator: Accelerator, settings: Mapping[str, str]) -> Mapping[str, str]:
    """The settings of a session that Java is started for, with those of its accelerator, whose jar is fetched."""
    if accelerator is Accelerator.NONE:
        return settings
    return {**settings, **accelerated(settings, settings_in_files(), _fetched)}


def has_session() -> bool:
    """Whether Spark is running in this process."""
    return SparkContext._active_spark_context is not None


def end_java(seconds: float = _JAVA_SECONDS) -> bool:
    """End the Java process that `open_session` has started, and its tasks; returns whether it has ended.

    It is killed if it takes longer than `seconds`. Only once its session is stopped, and not for the process of
    `spark-submit`.
    """
    gateway: Any = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is None or has_session():
        return False
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdin is not None:
        process.stdin.close()
    SparkContext._gateway = SparkContext._jvm = None
    return True


def pipeline_session(spark: SparkSession, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A new session in the same application, without views or settings of other pipelines."""
    session = spark.newSession()
    for key, value in {**(settings or {}), **FIXED}.items():
        if key == COMET_ENABLED and session.conf.get(ACCELERATED, None) is None:  # without Comet, or the user's own
            continue
        if session.conf.get(key, None) == value:  # the application has it
            continue
        if session.conf.isModifiable(key) or key.startswith(_UNREGISTERED):
            session.conf.set(key, value)
    return session


def _conf(
    name: str,
    settings: Mapping[str, str],
    maven: tuple[str, ...],
    required: Mapping[str, str],
    given: Mapping[str, str],
    *,
    compiling: str = "",
) -> SparkConf:
    """The settings that are set whatever the user has `given` for the application; lists are added to his own."""
    conf = SparkConf(loadDefaults=False)
    merged = dict(settings)
    for key, value in {**FIXED, **required}.items():
        merged[key] = _joined(merged.get(key, given.get(key)), [value]) if key == _EXTENSIONS else value
    if maven:
        merged[PACKAGES] = _joined(merged.get(PACKAGES, given.get(PACKAGES)), maven)
        merged["spark.jars.excludes"] = _joined(
            merged.get("spark.jars.excludes", given.get("spark.jars.excludes")), EXCLUDES
        )
    if _SUBMITTED not in os.environ:
        merged.setdefault("spark.master", given.get("spark.master") or os.environ.get("MASTER") or "local[*]")
        merged[JAVA_OPTIONS] = _java_options(merged.get(JAVA_OPTIONS, given.get(JAVA_OPTIONS, "")), compiling)
    if (given_name := given.get("spark.app.name")) in (None, Path(sys.argv[0]).name):  # spark-submit's default
        conf.setAppName(name)
    else:
        conf.setAppName(given_name)
    conf.setAll(list(merged.items()))
    return conf


def _java_options(users: str, compiling: str) -> str:
    logging_file = Path(__file__).with_name("log4j2.properties")
    own = f"{STACK} {compiling}".strip() if _is_hotspot() else ""
    java = f"{own} {users}".strip()  # the user's come last, and win
    if "log4j2.configurationFile" not in java and logging_file.is_file():
        java = f"{java} -Dlog4j2.configurationFile={logging_file.as_uri()}"
    return java


def _joined(given: str | None, more: Iterable[str]) -> str:
    return ",".join(dict.fromkeys([*(given.split(",") if given else ()), *more]))


def _prepared(spark: SparkSession, conf: SparkConf) -> SparkSession:
    for key, value in conf.getAll():
        if key.startswith("spark.sql.") and spark.conf.isModifiable(key):
            spark.conf.set(key, value)
    spark.sparkContext.setLogLevel("ERROR")
    java_import(spark.sparkContext._jvm, _UTILS)  # type: ignore[no-untyped-call]
    return spark


def _launch(conf: SparkConf, maven: tuple[str, ...]) -> SparkSession:
    """Start Java with its output in a file, of which the end is shown if it fails."""
    with tempfile.NamedTemporaryFile("w+", prefix="penstock-spark-", suffix=".log", delete=False) as log:
        gateway = None
        try:
            packages = conf.get(PACKAGES, "")
            waiting = resolving(packages, conf.get(IVY)) if packages else nullcontext()
            with waiting, handed_over(dict(conf.getAll())):
                gateway = _gateway(log)
            given = settings_of_application(gateway.jvm)
            add_defaults(conf, given, is_local=is_local(conf.get("spark.master", "")))
            protect(conf, gateway.jvm)
            with _own_interrupts(), _variables({"PYSPARK_PYTHON": sys.executable}):  # of the tasks
                context = SparkContext(conf=conf, gateway=gateway)
        except KeyboardInterrupt:
            if gateway is not None:  # Java ignores Ctrl-C, and would keep running without a complete context
                gateway.proc.kill()
            Path(log.name).unlink(missing_ok=True)
            raise
        except (PySparkException, RuntimeError, OSError) as cause:
            raise _launch_error(Path(log.name), maven, cause) from cause
        except Exception as cause:
            if type(cause).__module__.startswith("py4j"):
                raise _launch_error(Path(log.name), maven, cause) from cause
            raise
    Path(log.name).unlink(missing_ok=True)  # Java goes on writing to it; from here on errors come as exceptions
    return SparkSession(context)


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Restore the handler of Ctrl-C: PySpark's handler calls Java, possibly during another call."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, before)


def _gateway(log: IO[str]) -> Any:
    """Start Java, which finds its settings by itself.

    Ctrl-C waits until it can be stopped: interrupted while it starts, it would keep running.
    """
    if current_thread() is not main_thread():
        return _started_java(log)
    interrupted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupted.append(number))
    try:
        gateway = _started_java(log)
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        gateway.proc.kill()
        raise KeyboardInterrupt
    return gateway


def _started_java(log: IO[str]) -> Any:
    with _variables(_OF_JAVA):
        return launch_gateway(popen_kwargs={"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]


@contextmanager
def _variables(defaults: Mapping[str, str]) -> Iterator[None]:
    """Environment variables during the block, for those that are not set; on a cluster, the Python of the tasks is the
    cluster's choice, and its processes are started elsewhere."""
    added = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _fetched(jar: str) -> Path:
    """The jar of these coordinates, by Spark's own resolver in a Java process that ends then."""
    with tempfile.TemporaryFile("w") as log:
        gateway = _gateway(log)
        try:
            return Path(resolved(gateway.jvm, jar)[0])
        finally:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.kill()
            gateway.proc.wait()


def _launch_error(log: Path, maven: tuple[str, ...], cause: Exception) -> Exception:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(_NOISE)]
    missing = [jar for jar in maven if any(jar.replace(":", "#", 1).replace(":", ";") in line for line in lines)]
    if maven and any("unresolved dependency" in line or "UNRESOLVED DEPENDENCIES" in line for line in lines):
        jars = ", ".join(f"`{jar}`" for jar in missing or maven)
        help = (
            "Spark searched the local Maven repository, then Maven Central; "
            f"if only the Maven client can reach them: mvn dependency:get -Dartifact={(missing or maven)[0]}"
        )
        return run_error("PEN5003", f"not found: {jars}", None, help, notes=(f"the log is {log}",))
    reason = next((line for line in lines if "Exception" in line or "Error" in line), str(cause).split("\n")[0])
    help, notes = (
        f"the log, with Java's stack trace, is {log}",
        [line for line in lines[-_LOG_LINES:] if line != reason],
    )
    return run_error("PEN5002", f"Spark could not be started: {_EXCEPTION.sub('', reason)}", None, help, notes)


def find_java() -> Path:
    """The program that Spark starts. Raises `RunError` PEN5002."""
    java, home = _java(), os.environ.get("JAVA_HOME")
    runs_on = JAVA_VERSIONS.get(SparkVersion.parse(__version__), JAVA_VERSIONS[NEWEST])
    wanted = " or ".join(map(str, runs_on))
    help = f"install Java {wanted} (for instance `apt install openjdk-17-jre-headless`) or set JAVA_HOME"
    if not java or not os.path.exists(java):
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "`java` is not on the PATH"
        raise run_error("PEN5002", f"Spark needs Java: {where}", None, help)
    version = _java_version(java)
    if version is not None and version not in runs_on:
        raise run_error("PEN5002", f"Spark needs Java {wanted}; {java} is Java {version}", None, help)
    return Path(java)


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin", "java") if home else shutil.which("java")


def _java_version(java: str) -> int | None:
    """The major version."""
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', _about_java(java))
    return int(found.group(1)) if found else None


def _is_hotspot() -> bool:
    """Whether Java's virtual machine is HotSpot, as nearly always, or unknown."""
    java = _java()
    return java is None or not os.path.exists(java) or "openj9" not in _about_java(java).lower()


@cache
def _about_java(java: str) -> str:
    """The installation's `release` file, which is read without starting Java, or what `java -version` prints."""
    release = Path(os.path.realpath(java)).parent.parent / "release"
    if release.is_file():
        return release.read_text(errors="replace")
    return subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
