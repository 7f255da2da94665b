"""Columns that are added upstream while a stream is running: `schema-changes.enabled`.

What a micro-batch has follows from its records alone, so that one that comes again has the same columns: the schema of
Debezium's records, or the versions in a registry that records in Avro name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Options, Value
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import DataType
from catalog.types.typenames import to_ddl
from connectors.interface.schema_option import declares_columns
from connectors.interface.source import ScanTask
from connectors.kafka.avro_records import is_avro, registry_of, schema_id, subjects_of
from connectors.kafka.offsets import topics_of
from connectors.kafka.options import SCHEMA_CHANGES, added_columns
from connectors.records.avro.schemas import columns_of_avro
from connectors.records.change_logs.debezium_schema import described_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def follows_schema(options: Options) -> bool:
    return options.flag(SCHEMA_CHANGES)


def check_following(options: Options, diagnostics: Diagnostics) -> None:
    """Report `schema-changes.enabled` where records do not describe their columns (PEN2011)."""
    if not follows_schema(options):
        return
    kind, span = str(options["format"]).lower(), options.span(SCHEMA_CHANGES)
    if kind == "debezium_json":
        if not options.flag("debezium_record_include_schema"):
            message = f"`{SCHEMA_CHANGES}` needs the `schema` of Debezium's records, which they are to lack"
            diagnostics.error("PEN2011", message, span, "debezium_record_include_schema = true")
    elif not is_avro(options) or options.get("schema_registry.url") is None:
        message = f"`{SCHEMA_CHANGES}` has no effect with `format = {kind}`: its records do not describe their columns"
        diagnostics.error("PEN2011", message, span, "format = debezium_json, or avro with `schema_registry.url`")


def new_columns(task: ScanTask, batch: "DataFrame") -> tuple[Column, ...]:
    """The columns that the records of a micro-batch describe and the table lacks. Raises PEN5004 for one of a type that
    is not supported."""
    if task.table.is_open:  # its columns are those of the registry's last version
        return ()
    records = batch.where("value is not null")
    if is_avro(task.options):
        return tuple(_added(task, _of_registry(records, task.options)))
    texts = records.selectExpr("*", "cast(value as string) as __text")
    return tuple(_added(task, described_columns(texts, task.options)))


def _added(task: ScanTask, described: Sequence[tuple[str, DataType | None]]) -> list[Column]:
    added = {name: type for name, type in described if task.table.column(name) is None and name != ROW_KIND}
    for name, type in added.items():
        if type is None:
            message = f"the column `{name}`, which was added upstream, has a type that is not supported"
            help = f"declare it in `schema`, for instance `{name} = string`, and run the job again: it goes on"
            raise run_error("PEN5004", message, task.options.span(SCHEMA_CHANGES), help)
    return [Column(name, type) for name, type in added.items() if type is not None]


def _of_registry(records: "DataFrame", options: Options) -> list[tuple[str, DataType | None]]:
    """The columns of the schemas that the records name, the oldest schema first."""
    registry = registry_of(options)
    assert registry is not None, "is checked before"
    ids = {row[0] for row in records.selectExpr(schema_id()).distinct().collect()}
    schemas: dict[int, str] = {}
    for subject in subjects_of(options, topics_of(options)):
        schemas |= registry.schemas(subject)
    named = (columns_of_avro(schema) for id, schema in schemas.items() if id in ids)
    return list({column.name: column.type for columns in named for column in columns}.items())


def with_columns(options: Options, table: CatalogTable, columns: Sequence[Column]) -> Options:
    """The block as if it declared these columns, too; `table` has its own, where only the schema lock declares them."""
    schema = dict(options.mapping("schema"))
    key = next((name for name in ("fields", "columns") if isinstance(schema.get(name), Mapping)), "columns")
    listed = schema.get(key)
    if isinstance(listed, Mapping):
        schema[key] = {**listed, **{column.name: to_ddl(column.type) for column in columns}}
    else:
        own = listed if declares_columns(options) and isinstance(listed, list | tuple) else _own(options, table)
        schema[key] = [*own, *_declared(columns)]
    return replace(options, values={**options.values, "schema": schema})


def _own(options: Options, table: CatalogTable) -> list[Value]:
    added = added_columns(options)
    return _declared([column for column in table.columns if column.name not in added])


def _declared(columns: Sequence[Column]) -> list[Value]:
    return [{"name": column.name, "type": to_ddl(column.type), "nullable": column.nullable} for column in columns]
