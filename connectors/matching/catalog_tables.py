"""Tables of one of Spark's catalogs whose names match a pattern."""

import re
from typing import TYPE_CHECKING, Final

from catalog.quoting import parse_name, quote
from connectors.matching.table_patterns import NamePatterns, name_patterns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SESSION_CATALOG: Final = "spark_catalog"
_PLAIN: Final = re.compile(r"\w+")


def full_name(text: str) -> tuple[str, ...]:
    """The name with its catalog: `t` and `db.t` are of Spark's own."""
    parts = parse_name(text)
    match len(parts):
        case 1:
            return (SESSION_CATALOG, "default", *parts)
        case 2:
            return (SESSION_CATALOG, *parts)
    return parts


def catalog_pattern(text: str) -> tuple[str, NamePatterns]:
    """The catalog of a pattern, and the expressions of the names in it: `shop.\\.*` are tables of Spark's own catalog.

    Raises ValueError where the catalog is no plain name, and `re.error`.
    """
    names = name_patterns(text)
    if len(names) < 3:
        return SESSION_CATALOG, (name_patterns("default") + names)[-2:]
    if not _PLAIN.fullmatch(names[0].pattern):
        raise ValueError(text)
    return names[0].pattern, names[1:]


def matching_tables(spark: "SparkSession", catalog: str, names: NamePatterns) -> tuple[tuple[str, ...], ...]:
    """The names of the tables and views in the catalog, sorted; only namespaces that match are listed."""
    *namespaces, table = names
    found: list[tuple[str, ...]] = [()]
    for pattern in namespaces:
        found = [
            (*path, name) for path in found for name in _namespaces(spark, catalog, path) if pattern.fullmatch(name)
        ]
    return tuple(
        sorted((*path, name) for path in found for name in _tables(spark, catalog, path) if table.fullmatch(name))
    )


def _namespaces(spark: "SparkSession", catalog: str, path: tuple[str, ...]) -> list[str]:
    """The names of the namespaces in a namespace; Spark prints their paths, with quotes where needed."""
    rows = spark.sql(f"SHOW NAMESPACES IN {_sql(catalog, path)}").collect()
    return [parse_name(str(row[0]))[-1] for row in rows]


def _tables(spark: "SparkSession", catalog: str, path: tuple[str, ...]) -> list[str]:
    rows = spark.sql(f"SHOW TABLES IN {_sql(catalog, path)}").collect()
    return [str(row["tableName"]) for row in rows if not row["isTemporary"]]


def _sql(catalog: str, path: tuple[str, ...]) -> str:
    return ".".join(map(quote, (catalog, *path)))
