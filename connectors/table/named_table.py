"""A table of a Spark catalog by its name: whether it is there, its format, and where its files are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog.diagnostics.diagnostic import run_error
from catalog.diagnostics.source import Span
from catalog.quoting import quote
from connectors.lakehouse.own_session import own_session
from connectors.matching.catalog_tables import full_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class NamedTable:
    """`provider` and `location` as the catalog has them; the location of a table that is not there is where Spark
    would create it."""

    parts: tuple[str, ...]
    exists: bool
    provider: str
    location: str

    @property
    def sql(self) -> str:
        return ".".join(map(quote, self.parts))


def look_up(spark: "SparkSession", text: str, span: Span | None) -> NamedTable:
    """Ask the catalog; raises `RunError` PEN4006 where it has no such database."""
    catalog, *levels, name = parts = full_name(text)
    with own_session(spark, {}) as session:
        jvm: Any = spark.sparkContext._jvm
        gateway: Any = spark.sparkContext._gateway
        namespace = gateway.new_array(jvm.java.lang.String, len(levels))
        for index, level in enumerate(levels):
            namespace[index] = level
        plugin = session.sessionState().catalogManager().catalog(catalog)
        identifier = jvm.org.apache.spark.sql.connector.catalog.Identifier.of(namespace, name)
        if plugin.tableExists(identifier):
            properties = plugin.loadTable(identifier).properties()
            provider, location = (str(properties.get(key) or "") for key in ("provider", "location"))
            return NamedTable(tuple(parts), True, provider.lower(), _path(location))
        if not plugin.namespaceExists(namespace):
            message = f"the catalog `{catalog}` has no database `{'.'.join(levels)}`"
            raise run_error("PEN4006", message, span, f"CREATE DATABASE {'.'.join(map(quote, levels))}")
        folder = str(plugin.loadNamespaceMetadata(namespace).get("location") or "").rstrip("/")
        return NamedTable(tuple(parts), False, "", _path(f"{folder}/{name}"))


def _path(location: str) -> str:
    """Spark's catalogs keep locations as URIs, Hadoop's paths are as they are written."""
    from urllib.parse import unquote

    return unquote(location) if location.startswith("file:") else location
