"""Rows made up by Spark itself, the same for the same seed: Apache SeaTunnel's FakeSource."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.datatypes import (
    Array,
    Atomic,
    DataType,
    Decimal,
    Interval,
    Map,
    Struct,
    Time,
)
from catalog.diagnostics import Diagnostics
from catalog.quoting import quote, quote_text
from catalog.row_kind import ROW_KIND, RowKind
from catalog.table import CatalogTable
from catalog.typenames import to_ddl
from connectors.support.option import Option, Options, OptionType, Value
from connectors.support.schema_option import SCHEMA_OPTION, declared_table
from connectors.support.source import ScanTask, Source, SourceCapabilities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "tinyint": (0, 127),
    "smallint": (0, 32767),
    "int": (0, 2147483647),
    "bigint": (0, 9223372036854775807),
    "float": (0, 3.4028234e38),
    "double": (0, 1.7976931348623157e308),
}
"""Least and greatest made-up value of a numeric type, where no option says otherwise."""

_TEMPLATED: Final = ("string", *RANGES)
_DATE_PARTS: Final = ("year", "month", "day")
_TIME_PARTS: Final = ("hour", "minute", "second")


def _options() -> Iterator[Option]:
    yield SCHEMA_OPTION
    yield Option("row.num", OptionType.INTEGER, "How many rows are made.", default=5, minimum=0)
    yield Option(
        "rows",
        OptionType.LIST,
        "The rows, instead of made-up ones: `[{ kind = INSERT, fields = [1, a] }]`. Where any `kind` is UPDATE_BEFORE, "
        "UPDATE_AFTER or DELETE, the rows carry row kinds.",
        element=OptionType.MAP,
    )
    yield Option("seed", OptionType.INTEGER, "Of two runs with one seed the rows are equal.", default=42)
    yield Option("split.num", OptionType.INTEGER, "How many tasks make the rows.", default=1, minimum=1)
    yield Option("split.read-interval", OptionType.INTEGER, "Accepted; without effect.", default=1, minimum=0)
    yield Option("string.length", OptionType.INTEGER, "Characters of a string.", default=5, minimum=0)
    yield Option("bytes.length", OptionType.INTEGER, "Bytes of a binary value.", default=5, minimum=0)
    yield Option("array.size", OptionType.INTEGER, "Elements of an array.", default=5, minimum=0)
    yield Option("map.size", OptionType.INTEGER, "Entries of a map.", default=5, minimum=0)
    for name in _TEMPLATED:
        yield Option(
            f"{name}.fake.mode",
            OptionType.STRING,
            f"Whether {name} values come from a range or from `{name}.template`.",
            default="range",
            choices=("range", "template"),
        )
        yield Option(f"{name}.template", OptionType.LIST, f"The {name} values to choose from.")
    for name in RANGES:
        yield Option(f"{name}.min", OptionType.NUMBER, f"Least {name}.")
        yield Option(f"{name}.max", OptionType.NUMBER, f"Greatest {name}.")
    for part in _DATE_PARTS:
        yield Option(f"date.{part}.template", OptionType.LIST, f"The {part}s of dates and timestamps to choose from.")
    for part in _TIME_PARTS:
        yield Option(f"time.{part}.template", OptionType.LIST, f"The {part}s of timestamps to choose from.")


class FakeSource(Source):
    name: ClassVar[str] = "FakeSource"
    doc: ClassVar[str] = "Rows made up for trying a job: random values of a schema, or the rows that are listed."
    source_options: ClassVar[tuple[Option, ...]] = tuple(_options())
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_cheap=True)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        table = declared_table(options, "fake", diagnostics)
        if table is None:
            help = "schema { fields { id = bigint, name = string } }, in SQL CREATE TABLE t (id BIGINT, name STRING)"
            diagnostics.error("PEN2005", "FakeSource needs a `schema`", options.span(), help)
            return (CatalogTable.unknown("fake"),)
        for index, row in enumerate(_rows(options)):
            count = len(_fields(row))
            if count != len(table.columns):
                span = options.places.get(f"rows.{index}.fields") or options.span("rows")
                message = f"the row has {count} fields, the schema {len(table.columns)} columns"
                diagnostics.error("PEN2004", message, span)
        kinds = _kinds(options, diagnostics)
        for name in _TEMPLATED:
            if options[f"{name}.fake.mode"] == "template" and not options.strings(f"{name}.template"):
                help = f"{name}.template = [...]"
                diagnostics.error("PEN2011", f"`{name}.template` is not given", options.span(f"{name}.fake.mode"), help)
        return (replace(table, has_row_kind=any(kind is not RowKind.INSERT for kind in kinds)),)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        if task.options.get("rows") is not None:
            return _listed(spark, task)
        seeds = iter(range(task.options.integer("seed") * 1_000, 2**62))
        columns = []
        for column in task.table.columns:
            expression = _random(column.type, task.options, seeds)
            columns.append(f"cast({expression} as {to_ddl(column.type)}) as {quote(column.name)}")
        rows = spark.range(0, task.options.integer("row.num"), 1, task.options.integer("split.num"))
        df = rows.selectExpr(*columns)
        return df.select(*(quote(name) for name in task.columns)) if task.columns else df


connector = FakeSource()


def _listed(spark: "SparkSession", task: ScanTask) -> "DataFrame":
    """The rows of the `rows` option; each value is cast to its column's type as Spark casts text."""
    names = [f"c{i}" for i in range(len(task.table.columns))]
    kinds = [kind.value for kind in _kinds(task.options, Diagnostics())]
    listed = zip(_rows(task.options), kinds, strict=True)
    rows = [(*(_literal(value) for value in _fields(row)), kind) for row, kind in listed]
    text = spark.createDataFrame(rows, ", ".join(f"{name} string" for name in (*names, "kind")))
    columns = []
    for name, column in zip(names, task.table.columns, strict=True):
        kind = to_ddl(column.type)
        if isinstance(column.type, Array | Map | Struct):
            value = f"from_json({name}, {quote_text(kind)}, map('mode', 'FAILFAST'))"
        else:
            value = f"cast({name} as {kind})"
        columns.append(f"{value} as {quote(column.name)}")
    hidden = [ROW_KIND] if task.table.has_row_kind else []
    df = text.selectExpr(*columns, *(f"kind as {quote(name)}" for name in hidden))
    return df.select(*(quote(name) for name in (*task.columns, *hidden))) if task.columns else df


def _literal(value: Value) -> str | None:
    """A value as text that Spark casts to the column's type, nested ones as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping | Sequence):
        return json.dumps(value, default=str)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rows(options: Options) -> list[Value]:
    rows = options.get("rows")
    return list(rows) if isinstance(rows, Sequence) and not isinstance(rows, str) else []


def _kinds(options: Options, diagnostics: Diagnostics) -> list[RowKind]:
    """The kind of each listed row."""
    kinds = []
    for index, row in enumerate(_rows(options)):
        text = row.get("kind") if isinstance(row, Mapping) else None
        try:
            kinds.append(RowKind.INSERT if text is None else RowKind.parse(str(text)))
        except ValueError as cause:
            diagnostics.error("PEN2004", str(cause), options.places.get(f"rows.{index}.kind") or options.span("rows"))
            kinds.append(RowKind.INSERT)
    return kinds


def _fields(row: Value) -> list[Value]:
    fields = row.get("fields") if isinstance(row, Mapping) else row
    return list(fields) if isinstance(fields, Sequence) and not isinstance(fields, str) else []


def _random(type: DataType, options: Options, seeds: Iterator[int]) -> str:
    """Spark SQL for a random value of the type."""
    match type:
        case Atomic(name) if name in _TEMPLATED and options[f"{name}.fake.mode"] == "template":
            return _one_of(options.strings(f"{name}.template"), name, seeds)
        case Atomic(name) if name in RANGES:
            return _number(name, options, seeds)
        case Atomic("string"):
            return f"randstr({options.integer('string.length')}, {next(seeds)})"
        case Atomic("binary"):
            return f"encode(randstr({options.integer('bytes.length')}, {next(seeds)}), 'UTF-8')"
        case Atomic("boolean"):
            return f"rand({next(seeds)}) < 0.5"
        case Atomic("date"):
            return _date(options, seeds)
        case Atomic("timestamp" | "timestamp_ntz"):
            return _timestamp(options, seeds)
        case Atomic("variant"):
            return f"to_variant_object(named_struct('value', floor(rand({next(seeds)}) * 1000)))"
        case Atomic() | Interval():
            return "null"
        case Decimal(precision, scale):
            return (
                f"floor(rand({next(seeds)}) * 1e{min(precision - scale, 15)}, 0) + round(rand({next(seeds)}), {scale})"
                if (precision - scale > 0)
                else f"floor(rand({next(seeds)}) * 1e{min(scale, 15)}) / 1e{scale}"
            )
        case Time():
            return f"time '{next(seeds) % 24:02}:00:00'"
        case Array(element):
            count = options.integer("array.size")
            return f"array({', '.join(_typed(element, options, seeds) for _ in range(count))})"
        case Map(key, value):
            pairs = ", ".join(
                f"struct({_typed(key, options, seeds)}, {_typed(value, options, seeds)})"
                for _ in range(options.integer("map.size"))
            )
            return f"map_from_entries(array_distinct(array({pairs})))" if pairs else "map()"
        case Struct(fields):
            parts = ", ".join(f"{quote_text(field.name)}, {_typed(field.type, options, seeds)}" for field in fields)
            return f"named_struct({parts})"


def _typed(type: DataType, options: Options, seeds: Iterator[int]) -> str:
    return f"cast({_random(type, options, seeds)} as {to_ddl(type)})"


def _number(name: str, options: Options, seeds: Iterator[int]) -> str:
    least, greatest = RANGES[name]
    given_least, given_greatest = options.get(f"{name}.min"), options.get(f"{name}.max")
    least = given_least if isinstance(given_least, int | float) else least
    greatest = given_greatest if isinstance(given_greatest, int | float) else greatest
    if name in ("float", "double"):
        return f"{least!r}d + rand({next(seeds)}) * ({greatest!r}d - {least!r}d)"
    if greatest - least < 2**31:
        return f"{int(least)}L + cast(floor(rand({next(seeds)}) * {int(greatest - least) + 1}L) as bigint)"
    span = int(greatest) - int(least)
    return f"{int(least)}L + pmod(xxhash64(id, {next(seeds)}L), {min(span, 2**63 - 1)}L)"


def _one_of(texts: Sequence[str], type: str, seeds: Iterator[int]) -> str:
    values = ", ".join(f"cast({quote_text(text)} as {type})" for text in texts)
    return f"element_at(array({values}), cast(floor(rand({next(seeds)}) * {len(texts)}) as int) + 1)"


def _part(options: Options, name: str, least: int, greatest: int, seeds: Iterator[int]) -> str:
    texts = options.strings(f"{name}.template")
    if texts:
        return _one_of(texts, "int", seeds)
    return f"cast({least} + floor(rand({next(seeds)}) * {greatest - least + 1}) as int)"


def _date(options: Options, seeds: Iterator[int]) -> str:
    year = _part(options, "date.year", 2000, 2029, seeds)
    month = _part(options, "date.month", 1, 12, seeds)
    return f"make_date({year}, {month}, {_part(options, 'date.day', 1, 28, seeds)})"


def _timestamp(options: Options, seeds: Iterator[int]) -> str:
    hour, minute, second = (
        _part(options, f"time.{part}", 0, last, seeds) for part, last in zip(_TIME_PARTS, (23, 59, 59), strict=True)
    )
    clock = f"{hour} * 3600 + {minute} * 60 + {second}"
    return f"timestampadd(second, {clock}, cast({_date(options, seeds)} as timestamp))"
