"""Liquid clustering: the columns by which `OPTIMIZE` sorts the rows of a new table into files."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Options
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Struct, has_unknown, is_numeric

DOMAIN: Final = "delta.clustering"
_FEATURE: Final = "delta.feature.clustering"
_MOST: Final = 4
"""Delta's limit (`spark.databricks.delta.clusteredTable.numClusteringColumnsLimit`)."""
_WITH_STATISTICS: Final = 32
"""Delta collects statistics of so many columns, those of structs counted one by one (`dataSkippingNumIndexedCols`)."""


def check_clustering(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report columns by which Delta cannot cluster a table; it would say so at the first OPTIMIZE."""
    names, at = options.strings("cluster_by"), options.span("cluster_by")
    if names and options.strings("partition_by"):
        help = "cluster_by alone: OPTIMIZE sorts rows into files without directories"
        diagnostics.error("PEN2011", "`partition_by` and `cluster_by` exclude each other", at, help)
    if len(names) > _MOST:
        diagnostics.error("PEN2004", f"Delta clusters a table by at most {_MOST} columns, not {len(names)}", at)
    if len({name.lower() for name in names}) < len(names):
        diagnostics.error("PEN2004", "`cluster_by` names a column twice", at)
    if table.is_open:
        return
    limit = options.texts_by_key("table_properties").get("delta.dataSkippingNumIndexedCols", str(_WITH_STATISTICS))
    for name in names:
        column = table.column(name)
        if column is None:
            hint = did_you_mean(name, table.schema.names)
            diagnostics.error("PEN4008", f"no column `{name}` to cluster the table by", at, hint)
        elif not has_unknown(column.type) and not _has_statistics(column.type):
            message = f"a Delta table cannot be clustered by the column `{name}` of type {column.type}"
            diagnostics.error("PEN4008", message, at, "name columns of numbers, strings, dates or timestamps")
        elif limit.isdigit() and _position(table.columns, column) >= int(limit):
            message = f"Delta has no statistics of the column `{name}`: it collects those of the first {limit} columns"
            help = "select it further to the front, or raise `delta.dataSkippingNumIndexedCols` in `table_properties`"
            diagnostics.error("PEN4008", message, at, help)


def _has_statistics(type: DataType) -> bool:
    return type in (STRING, DATE, TIMESTAMP, TIMESTAMP_NTZ) or is_numeric(type)


def _position(columns: Sequence[Column], wanted: Column) -> int:
    """How many columns, those within structs counted one by one, are before it."""
    return sum(_leaves(column.type) for column in columns[: columns.index(wanted)])


def _leaves(type: DataType) -> int:
    return sum(_leaves(field.type) for field in type.fields) if isinstance(type, Struct) else 1


def clustering_action(columns: Sequence[str], metadata: Mapping[str, Any]) -> str:
    """The action of Delta's log that names the columns, by their physical names."""
    fields = json.loads(metadata["schemaString"])["fields"]
    physical = {
        field["name"].lower(): field.get("metadata", {}).get("delta.columnMapping.physicalName", field["name"])
        for field in fields
    }
    about = {"clusteringColumns": [[physical[name.lower()]] for name in columns], "domainName": DOMAIN}
    return json.dumps({"domainMetadata": {"domain": DOMAIN, "configuration": json.dumps(about), "removed": False}})


def with_clustering(metadata: str) -> str:
    """A `metaData` action that enables the feature of the protocol."""
    action = json.loads(metadata)
    configuration = {**action["metaData"].get("configuration", {}), _FEATURE: "supported"}
    return json.dumps({**action, "metaData": {**action["metaData"], "configuration": configuration}})
