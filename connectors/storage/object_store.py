"""What a path of a remote file system needs, by its scheme: the jars, and Hadoop's settings in the session.

s3a://raw/orders, fs.s3a.endpoint = …    hadoop-aws; fs.s3a.bucket.raw.endpoint = …
abfss://…                                hadoop-azure
hdfs://…                                 no jar: Spark contains it
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import run_error
from catalog.options import Option, OptionType
from catalog.secret_names import is_secret_name, redacted
from connectors.shared.spark_jars import spark_jar
from connectors.shared.split_location import split_location
from connectors.shared.staged import Credentials, Staged, secret_mapping

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OBJECT_STORES: Final = ("s3a:", "gs:", "oss:")
"""Schemes of stores where a rename is a copy."""

_JARS: Final[Mapping[str, tuple[str, ...]]] = {
    "s3a": (spark_jar("hadoop-aws"),),
    "abfs": (spark_jar("hadoop-azure"),),
    "abfss": (spark_jar("hadoop-azure"),),
    "oss": (spark_jar("hadoop-aliyun"),),
}

_CLASSIFIED: Final[Mapping[str, str]] = {"gs": "com.google.cloud.bigdataoss:gcs-connector:3.1.3:jar:shaded"}
"""Jars that Spark does not find by coordinates, since they have a classifier: as the Maven client names them."""

_COMMITTER_JAR: Final = spark_jar("hadoop-cloud")
_COMMITTER: Final = "org.apache.spark.internal.io.cloud."
_COMMITTER_SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.sources.commitProtocolClass": f"{_COMMITTER}PathOutputCommitProtocol",
    "spark.sql.parquet.output.committer.class": f"{_COMMITTER}BindingParquetOutputCommitter",
    "fs.s3a.committer.name": "magic",
}
_STORE: Final = "penstock.store."
"""Begins the settings that say which endpoint a bucket has."""

HADOOP_PROPERTIES: Final = Option(
    "hadoop_properties",
    OptionType.MAP,
    'Settings of Hadoop for the file system of `path`: `{ fs.s3a.endpoint = "http://minio:9000" }`.',
    element=OptionType.STRING,
)


def store_jars(path: str, *, is_written: bool = False) -> tuple[str, ...]:
    """Coordinates of the jars for a path; for a written one also the committer that does not rename."""
    scheme = split_location(path).scheme
    return (*_JARS.get(scheme, ()), *((_COMMITTER_JAR,) if is_written and scheme == "s3a" else ()))


def store_needs(path: str, *, is_written: bool = False) -> tuple[str, ...]:
    """Notes for `explain` on the jars of a path."""
    scheme = split_location(path).scheme
    jars = ", ".join(jar.partition("?")[0] for jar in store_jars(path, is_written=is_written))
    if jars:
        return (f"{scheme}: needs {jars}, which Spark fetches",)
    if scheme in _CLASSIFIED:
        return (f"{scheme}: needs a jar that Spark cannot fetch by its name: {_classified(scheme)}",)
    return ()


def jar_help(scheme: str) -> str:
    """The remedy where Spark has no file system for a scheme."""
    if scheme in _CLASSIFIED:
        return f"name its jar in `env`: {_classified(scheme)}"
    if scheme in ("s3", "s3n"):
        return "write the path with `s3a://`, the scheme of Hadoop's own file system for S3"
    jar = _JARS.get(scheme, _JARS["s3a"])[0]
    return f'name its jar in `env`: `spark.jars.packages = "{jar}"`' + ("" if scheme in _JARS else " for s3a")


def _classified(scheme: str) -> str:
    """The setting that names a jar with a classifier, and the command that fetches it."""
    jar = _CLASSIFIED[scheme]
    _, name, version, _, classifier = jar.split(":")
    fetch = f"mvn dependency:copy -Dartifact={jar} -DoutputDirectory=jars"
    return f'`spark.jars = "jars/{name}-{version}-{classifier}.jar"`, once `{fetch}` has fetched it'


@dataclass(frozen=True, slots=True)
class StoreSettings(Staged):
    """Hadoop's settings for the file system of one path; `root` names it (`s3a://raw`). The journal has no secrets."""

    root: str = ""
    plain: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = secret_mapping()

    @property
    def credentials_key(self) -> str:
        return self.root

    @property
    def credentials(self) -> Credentials:
        """The secrets, for killed runs that wrote to the same store."""
        return {self.root: self.secrets} if self.secrets else {}

    @classmethod
    def of(cls, path: str, given: Mapping[str, str]) -> "StoreSettings":
        parts = split_location(path)
        settings = {_scoped(name, parts.scheme, parts.netloc): value for name, value in given.items()}
        secrets = {name: value for name, value in settings.items() if is_secret_name(name) or redacted(value) != value}
        plain = {name: value for name, value in settings.items() if name not in secrets}
        root = f"{parts.scheme}://{parts.netloc}" if settings else ""
        return cls(root, plain, secrets)

    def apply(self, spark: "SparkSession | None") -> None:
        """Set them in the session."""
        if spark is not None:
            self._refuse_another_store(spark)
            for name, value in {**self.plain, **self.secrets}.items():
                spark.conf.set(name, value)

    def _refuse_another_store(self, spark: "SparkSession") -> None:
        """Hadoop keeps one file system for each bucket name in a process: a second store would not be reached."""
        endpoint = next((value for name, value in self.plain.items() if name.endswith(".endpoint")), None)
        if endpoint is None:
            return
        configuration: Any = spark.sparkContext._jsc.hadoopConfiguration()
        first = configuration.get(f"{_STORE}{self.root}")
        if first is None:
            configuration.set(f"{_STORE}{self.root}", endpoint)
        elif first != endpoint:
            message = f"`{self.root}` is a bucket of `{first}` in this application, and of `{endpoint}` here"
            raise run_error("PEN5802", message, None, "read and write them in two jobs: Hadoop knows buckets by name")


NO_SETTINGS: Final = StoreSettings()


def _scoped(name: str, scheme: str, bucket: str) -> str:
    """A setting of S3A as one of the bucket: another block may use another bucket with other credentials."""
    if scheme != "s3a" or not name.startswith("fs.s3a.") or name.startswith("fs.s3a.bucket.") or name == "fs.s3a.impl":
        return name
    return f"fs.s3a.bucket.{bucket}.{name.removeprefix('fs.s3a.')}"


def write_without_renames(spark: "SparkSession", path: str) -> None:
    """Have Spark's writers upload each file once. Their default committer renames files twice, and S3 copies them."""
    if split_location(path).scheme != "s3a" or not _is_loadable(spark, _COMMITTER_SETTINGS):
        return
    for name, value in _COMMITTER_SETTINGS.items():
        spark.conf.set(name, value)


def _is_loadable(spark: "SparkSession", settings: Mapping[str, str]) -> bool:
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark.sparkContext._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    try:
        for value in settings.values():
            if "." in value:
                jvm.java.lang.Class.forName(value, False, loader)
    except Py4JJavaError:
        return False
    return True
