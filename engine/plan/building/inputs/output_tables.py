"""What the output table of a query takes over from its inputs: path, keys, untyped columns, row kinds."""

from dataclasses import replace

from catalog.quoting import quote
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import UNTYPED, CatalogTable, Column
from catalog.types.datatypes import STRING
from engine.plan.nodes import Input, Node, Query
from engine.transforms.base import (
    TableTransform,
)
from engine.transforms.interfaces import is_row_kind_transform
from sql.analyze import Analysis, Dependency
from sql.rewrite.select_query import Select, text_of


def as_member(query: Query, node: Node) -> CatalogTable:
    """The output of a query over one table of a set is still that table: it keeps the path, and keys whose columns it
    yields unchanged."""
    output = query.analysis.table
    if output.path == node.table.path:
        return output
    kept = {
        origin.column.lower()
        for origin in query.analysis.lineage
        if origin.dependency is Dependency.IDENTITY and origin.output and origin.output.lower() == origin.column.lower()
    }
    key, keys = node.table.schema.primary_key, node.table.schema.constraint_keys
    has_key = key is not None and all(column.lower() in kept for column in key.columns)
    schema = replace(
        output.schema,
        primary_key=key if has_key else None,
        constraint_keys=tuple(key for key in keys if all(column.lower() in kept for column, _ in key.columns)),
    )
    has_partitions = all(column.lower() in kept for column in node.table.partition_keys)
    return replace(
        output,
        path=node.table.path,
        schema=schema,
        partition_keys=node.table.partition_keys if has_partitions else (),
        comment=node.table.comment,
    )


def with_untyped(analysis: Analysis, inputs: tuple[Input, ...]) -> Analysis:
    """The analysis with the output columns marked that are untyped columns of the inputs, unchanged."""
    untyped = {
        (input.name, column.name.lower())
        for input in inputs
        for column in input.node.table.columns
        if column.is_untyped
    }
    if not untyped:
        return analysis
    passed = {
        line.output
        for line in analysis.lineage
        if line.dependency is Dependency.IDENTITY and (line.input, line.column.lower()) in untyped
    }
    columns = tuple(
        replace(column, options=UNTYPED) if column.name in passed and column.type == STRING else column
        for column in analysis.table.columns
    )
    table = replace(analysis.table, schema=replace(analysis.table.schema, columns=columns))
    return replace(analysis, table=table)


def with_row_kind_column(plugin: TableTransform, table: CatalogTable) -> CatalogTable:
    """The table for the transform's query, with the hidden column only for transforms that read row kinds."""
    if not (table.has_row_kind and is_row_kind_transform(plugin)):
        return table
    columns = (*table.columns, Column(ROW_KIND, STRING, nullable=False))
    return replace(table, schema=replace(table.schema, columns=columns))


def without_row_kind_column(table: CatalogTable, *, has_row_kind: bool) -> CatalogTable:
    columns = tuple(column for column in table.columns if column.name != ROW_KIND)
    return replace(table, schema=replace(table.schema, columns=columns), has_row_kind=has_row_kind)


def like_input(output: CatalogTable, table: CatalogTable, select: Select) -> CatalogTable:
    """The output of a transform is still its input's table: it keeps the path, and keys whose columns went through."""
    kept = {
        projection.name.lower()
        for projection in select.projections
        if text_of(projection.expression) == quote(projection.name)
    }
    kept = kept if select.projections else {column.name.lower() for column in table.columns}
    key = table.schema.primary_key
    keeps_key = key is not None and all(name.lower() in kept for name in key.columns)
    constraints = tuple(
        key for key in table.schema.constraint_keys if all(name.lower() in kept for name, _ in key.columns)
    )
    keeps_partitions = all(name.lower() in kept for name in table.partition_keys)
    return replace(
        table,
        schema=replace(output.schema, primary_key=key if keeps_key else None, constraint_keys=constraints),
        partition_keys=table.partition_keys if keeps_partitions else (),
        is_open=output.is_open,
        repeated=output.repeated,
    )
