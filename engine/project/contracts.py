"""Contracts between jobs: a reader that declares its columns must find them where another job writes the dataset."""

from collections.abc import Iterator, Mapping
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic, Severity, did_you_mean
from catalog.diagnostics.source import Span
from catalog.tables.narrowing import Narrowing, known_loss
from catalog.tables.table import Column
from catalog.types.datatypes import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    has_unknown,
)
from catalog.types.typenames import ddl_or_unknown
from engine.project.job_graph import Edge, JobGraph
from engine.project.project_job import has_spark_types

_WIDER: Final[Mapping[DataType, tuple[DataType, ...]]] = {
    TINYINT: (SMALLINT, INT, BIGINT),
    SMALLINT: (INT, BIGINT),
    INT: (BIGINT, DOUBLE),
    FLOAT: (DOUBLE,),
    DATE: (TIMESTAMP_NTZ,),
}
"""What Spark reads a Parquet column as, other than its own type."""


def contract_errors(graph: JobGraph) -> Iterator[Diagnostic]:
    """Columns that a reader declares and its writer lacks, or writes with another type; at both locations."""
    several: dict[tuple[str, str], list[Edge]] = {}
    for edge in graph.edges:
        if edge.read is not None and edge.read.is_declared and edge.write is not None and edge.write.columns:
            several.setdefault((edge.reader, edge.read.name), []).append(edge)
    for edges in several.values():
        yield from _missing(edges)
        for edge in edges:
            yield from _retyped(edge)
            yield from _narrowed(edge)


def _missing(edges: list[Edge]) -> Iterator[Diagnostic]:
    """Columns that no writer of the dataset has."""
    written = {column.name.lower() for edge in edges if edge.write for column in edge.write.columns}
    read, write = edges[0].read, edges[0].write
    assert read is not None
    assert write is not None
    for column in read.columns:
        if column.name.lower() not in written:
            names = [own.name for own in write.columns]
            yield Diagnostic(
                "PEN4701", f"`{edges[0].reader}` reads the column `{column.name}` of `{read.name}`, which "
                f"`{edges[0].writer}` does not write", _span(edges[0], column), did_you_mean(column.name, names),
                also=_also(edges),
            )  # fmt: skip


def _retyped(edge: Edge) -> Iterator[Diagnostic]:
    read, write = edge.read, edge.write
    assert read is not None
    assert write is not None
    if not (read.has_spark_types and has_spark_types(write.connector)):
        return
    written = {column.name.lower(): column for column in write.columns}
    for column in read.columns:
        own = written.get(column.name.lower())
        if own is not None and not reads_as(own.type, column.type, is_text=read.is_text):
            yield Diagnostic(
                "PEN4702", f"`{edge.reader}` reads the column `{column.name}` of `{read.name}` as "
                f"`{ddl_or_unknown(column.type)}`, but `{edge.writer}` writes it as `{ddl_or_unknown(own.type)}`",
                _span(edge, column), f"declare it as `{ddl_or_unknown(own.type)}`, or cast it where it is written",
                also=_also([edge]),
            )  # fmt: skip


def _narrowed(edge: Edge) -> Iterator[Diagnostic]:
    """Warn of a column that a database holds in a narrower type, as its reader declares or has locked it."""
    read, write = edge.read, edge.write
    assert read is not None
    assert write is not None
    if not (read.connector == write.connector == "Jdbc" and write.is_lossless):
        return
    written = {column.name.lower(): column for column in write.columns}
    for column in read.columns:
        own = written.get(column.name.lower())
        if own is None or not known_loss(own.type, column):
            continue
        found = Narrowing(own.name, own.type, column)
        message = f"{found}, as `{edge.reader}` declares it: the run fails at a value that does not fit without loss"
        also = (_span(edge, column),)
        yield Diagnostic("PEN4501", message, write.span, found.remedy, Severity.WARNING, also=tuple(filter(None, also)))


def _span(edge: Edge, column: Column) -> Span | None:
    assert edge.read is not None
    return edge.read.column_spans.get(column.name.lower(), edge.read.span)


def _also(edges: list[Edge]) -> tuple[Span, ...]:
    return tuple(edge.write.span for edge in edges if edge.write is not None and edge.write.span is not None)


def reads_as(written: DataType, read: DataType, *, is_text: bool) -> bool:
    """Whether values of one type are read as another without loss; `is_text`: they are text in between."""
    if has_unknown(written) or has_unknown(read) or (is_text and read == STRING):
        return True
    match written, read:
        case Array(one), Array(other):
            return reads_as(one, other, is_text=is_text)
        case Map(key, value), Map(other_key, other_value):
            return reads_as(key, other_key, is_text=is_text) and reads_as(value, other_value, is_text=is_text)
        case Struct(fields), Struct(others):
            by_name = {field.name.lower(): field.type for field in fields}
            return all(
                other.name.lower() in by_name and reads_as(by_name[other.name.lower()], other.type, is_text=is_text)
                for other in others
            )
        case Decimal(precision, scale), Decimal(more, other_scale):
            return other_scale >= scale and more - other_scale >= precision - scale
        case _:
            return written == read or read in _WIDER.get(written, ())
