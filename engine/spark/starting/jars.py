"""The jars of a session, by their Maven coordinates: which are left out, added alone, and copied into Ivy's cache."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import run_error

EXCLUDES: Final = (
    "org.slf4j:slf4j-api",
    "org.apache.logging.log4j:log4j-slf4j2-impl",
    "org.apache.logging.log4j:log4j-api",
    "org.apache.logging.log4j:log4j-core",
    "com.google.code.findbugs:jsr305",
    "com.fasterxml.jackson.core:*",
    "com.github.luben:*",
    "commons-logging:*",
    "commons-pool:*",
    "org.roaringbitmap:*",
    "org.xerial.snappy:*",
    "org.lz4:*",
    "org.scala-lang.modules:*",
    "org.wildfly.openssl:*",  # S3A asks for it only with `fs.s3a.ssl.channel.mode = openssl`
    "software.amazon.s3.analyticsaccelerator:*",  # only with `fs.s3a.input.stream.type = analytics`
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13",  # not in every repository; Kafka names one that is
)
"""Artifacts that Spark includes: a second copy is useless, and a resolver may not find it."""

PACKAGES: Final = "spark.jars.packages"
IVY: Final = "spark.jars.ivy"

_ALONE: Final = "?transitive=false"
"""After the coordinates of a jar that is added by itself, although `EXCLUDES` leaves it out where others ask for it."""

_DEFAULT_IVY: Final = "~/.ivy2.5.2"
"""Where Spark 4.1 has Ivy's cache."""

_LOCK: Final = "penstock.lock"


def split_alone(maven: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The coordinates that Spark resolves at its start with all that they depend on, and those of jars to add alone."""
    together = tuple(jar for jar in maven if not jar.endswith(_ALONE))
    return together, tuple(jar.removesuffix(_ALONE) for jar in maven if jar.endswith(_ALONE))


@contextmanager
def resolving(packages: str, ivy: str | None = None) -> Iterator[None]:
    """Let one process at a time copy jars into Ivy's cache: two that copy the same one at once can fail.

    `packages`: comma-separated coordinates, as in `spark.jars.packages`. `ivy`: the setting `spark.jars.ivy`. Processes
    whose jars are in the cache do not wait for each other.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    cache = Path(ivy or _DEFAULT_IVY).expanduser()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        file = (cache / _LOCK).open("a")
    except OSError:  # Ivy cannot copy anything there either: Spark reports that
        yield
        return
    with file:  # closing it releases the lock
        with suppress(OSError):  # a file system without locks
            is_there = all((cache / "jars" / _file_name(jar)).is_file() for jar in packages.split(",") if jar)
            fcntl.flock(file, fcntl.LOCK_SH if is_there else fcntl.LOCK_EX)
        yield


def _file_name(jar: str) -> str:
    """The name that Spark gives the jar of these coordinates in Ivy's folder `jars`."""
    group, *rest = jar.split(":")
    return f"{group}_{'-'.join(rest)}.jar"


def local_jar(coordinates: str, ivy: str | None = None) -> Path | None:
    """The jar of these coordinates where Ivy or Maven has it on this machine."""
    group, name, version = coordinates.split(":")
    in_ivy = Path(ivy or _DEFAULT_IVY).expanduser() / "jars" / _file_name(coordinates)
    in_maven = Path("~/.m2/repository").expanduser() / group.replace(".", "/") / name / version
    return next((path for path in (in_maven / f"{name}-{version}.jar", in_ivy) if path.is_file()), None)


def resolved(jvm: Any, jar: str, ivy: str | None = None) -> tuple[str, ...]:
    """The files of these coordinates, fetched by Spark's own resolver. Raises `RunError` PEN5003."""
    try:
        with resolving(jar, ivy):
            uri = jvm.java.net.URI(f"ivy://{jar}{_ALONE}")
            paths = jvm.org.apache.spark.util.DependencyUtils.resolveMavenDependencies(uri)
    except Py4JError as cause:
        help = f"if only the Maven client can reach it: mvn dependency:get -Dtransitive=false -Dartifact={jar}"
        raise run_error("PEN5003", f"not found: `{jar}`", None, help) from cause
    return tuple(str(paths.apply(index)) for index in range(paths.size()))


def add_alone(spark: SparkSession, jar: str) -> None:
    """Add one jar, without those that it depends on, to the driver and the executors; nothing where it is there."""
    if has_jar(spark, jar):
        return
    context: Any = spark.sparkContext._jsc.sc()
    jvm: Any = spark.sparkContext._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    for path in jar_files(spark, jar):
        loader.addURL(jvm.java.io.File(path).toURI().toURL())
        context.addJar(path)


def jar_files(spark: SparkSession, jar: str) -> tuple[str, ...]:
    """Where the jar of these coordinates is, without those that it depends on. Raises `RunError` PEN5003."""
    return resolved(spark.sparkContext._jvm, jar.removesuffix(_ALONE), spark.sparkContext.getConf().get(IVY))


def has_jar(spark: SparkSession, jar: str) -> bool:
    """Whether the session was started with the jar of these coordinates, or has added it since."""
    if jar in spark.sparkContext.getConf().get(PACKAGES, "").split(","):
        return True
    context: Any = spark.sparkContext._jsc.sc()
    name = "-".join(jar.removesuffix(_ALONE).split(":")[1:])
    added = context.listJars()
    return any(name in str(added.apply(index)) for index in range(added.size()))
