"""Random values written into existing tables of other types: stored unchanged, or refused; under `ansi` as by Spark.

`PENSTOCK_TEST_STORED` is the number of values of the long run (`make soak`), `PENSTOCK_TEST_SEED` its seed.
"""

import math
import os
import random
import struct
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from itertools import product

import pytest

import connectors
from catalog.diagnostics.diagnostic import RunError
from catalog.options import STORE_ASSIGNMENT
from catalog.tables.checked_cast import is_changed
from catalog.tables.evolution import can_store
from catalog.tables.table import CatalogTable, Column
from catalog.types.typetext import parse_type
from connectors.interface.run_context import RunContext
from connectors.interface.source import ScanTask
from connectors.storage.object_store import StoreSettings
from engine.spark.failures.errors import SPARK_ERRORS
from engine.spark.writing.sink_checks import task_of
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, stage_writes, write

pytestmark = pytest.mark.spark

TYPES = (
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)", "decimal(10,0)",
    "decimal(10,2)", "decimal(10,3)", "decimal(20,2)", "decimal(38,18)", "string", "binary", "date", "timestamp",
    "timestamp_ntz",
)  # fmt: skip
NESTED = [
    ("array<double>", "array<int>", "array({0})", "double"),
    ("struct<a:int,b:double>", "struct<a:int,b:int>", "named_struct('a', 1, 'b', {0})", "double"),
    ("map<string,double>", "map<string,int>", "map('k', {0})", "double"),
]
"""Source, target, a value over one of the third type: of sinks that hold nested types."""
WRAPPED = (
    ("array<{}>", "array({})", lambda value: value[0]),
    ("struct<a:{}>", "named_struct('a', {})", lambda value: value["a"]),
    ("map<string,{}>", "map('k', {})", lambda value: value["k"]),
    ("array<struct<a:{}>>", "array(named_struct('a', {}))", lambda value: value[0]["a"]),
)
"""Nested types, values of them, and how the value is taken out."""
SINKS = ("LocalFile parquet", "Delta", "Iceberg", "Paimon", "Jdbc postgres")
OTHER_SINKS = ("LocalFile orc", "LocalFile avro", "S3File parquet", "Jdbc mariadb", "Jdbc sqlite")
LACKING = {"Iceberg": ("tinyint", "smallint"), "LocalFile avro": ("tinyint", "smallint")}
NO_NESTED = ("Jdbc postgres", "Jdbc mariadb", "Jdbc sqlite")


@dataclass(frozen=True)
class Case:
    """A value of one type, as Spark SQL, for a column of another; `inner`: how both are taken out of nested values."""

    text: str
    source: str
    target: str
    nested: int | None = None

    @property
    def value(self):
        return self.text if self.nested is None else WRAPPED[self.nested][1].format(self.text)

    def wrapped(self, type):
        return type if self.nested is None else WRAPPED[self.nested][0].format(type)

    def taken(self, value):
        return value if self.nested is None or value is None else WRAPPED[self.nested][2](value)

    def bare(self, type):
        """The type within a nested one, by its text."""
        if self.nested is None:
            return type
        before, after = WRAPPED[self.nested][0].split("{}")
        return type.removeprefix(before).removesuffix(after)


def value_of(type: str, chance: random.Random):
    """A random value of a type, at its edges more often than not."""
    name = type.partition("(")[0]
    whole = chance.choice([0, 1, -1, 7, 99, 32767, 32768, 2**24 + 1, 2**31 - 1, -(2**31)])
    match name:
        case "boolean":
            return chance.choice([True, False])
        case "tinyint":
            return chance.choice([0, 1, -1, 99, 127, -128])
        case "smallint":
            return chance.choice([0, 1, -1, 127, 128, 999, 32767, -32768])
        case "bigint":
            return chance.choice([whole, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), chance.randrange(10**12)])
        case "int":
            return whole
        case "double" | "float":
            others = [math.nan, math.inf, -math.inf, -0.0] if chance.random() < 0.2 else [0.5]
            found = chance.choice([0.0, 9.7, 9.0, 1.5, 1.109, 0.1, -2.25, 1e20, 123456.75, float(whole), 1e-9, *others])
            return found if name == "double" else struct_float(found)
        case "decimal":
            precision, scale = map(int, type[8:-1].split(","))
            digits = chance.choice([0, 1, 110, 1109, 9700, 9700000, chance.randrange(10**9), 10**precision - 1])
            digits += chance.choice([0, 0, 10 ** max(scale - 2, 0), 10**scale])
            return Decimal(f"{chance.choice(['', '-'])}{min(digits, 10**precision - 1)}e-{scale}")
        case "string":
            return chance.choice(
                ["", " ", "1", "01", "1.5", "abc ", "ä€😀", "2024-01-31", "true", "NaN", "a'b", "a\\\\b"]
            )
        case "binary":
            return chance.choice([b"", b"abc", b"\x00\xff", "ä".encode(), b"\xc3"])
        case "date":
            return date(1970, 1, 1) + timedelta(days=chance.randrange(-20000, 40000))
        case "timestamp" | "timestamp_ntz":
            day = datetime(1970, 1, 1) + timedelta(days=chance.randrange(0, 30000))
            return day + chance.choice([timedelta(), timedelta(hours=10), timedelta(microseconds=1)])
    raise AssertionError(type)


def struct_float(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def literal(value, type: str) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"cast('{value!r}' as {type})"
        case bytes():
            return f"x'{value.hex()}'"
        case str():
            return f"'{value}'".replace("a'b", "a\\'b")
    return f"cast('{value}' as {type})"


def stored_by_spark(spark, cases, targets, storable):
    """What Spark's cast makes of each value in its target's type, None where it refuses the value; and whether it is
    equal to what was written, by Python's own comparison of the two."""
    pairs = [
        f"try_cast({case.text} as {case.bare(target) if can else case.source}) t{i}, {case.text} s{i}"
        for i, (case, target, can) in enumerate(zip(cases, targets, storable, strict=True))
    ]
    row = spark.sql(f"select {', '.join(pairs)}").first()
    return [(row[f"t{i}"], is_equal(case.source, row[f"s{i}"], row[f"t{i}"])) for i, case in enumerate(cases)]


def is_equal(type: str, written, stored) -> bool:
    """Whether what is stored, as a value of the type that was written, is what was written."""
    if stored is None:
        return False
    match written:
        case bool():
            return str(stored).lower() in (str(written).lower(), str(int(written)))
        case float():
            back = float(stored)
            back = struct_float(back) if type == "float" and abs(back) < 3.4e38 else back
            return back == written or (math.isnan(back) and math.isnan(written))
        case Decimal():
            step = Decimal(1).scaleb(written.as_tuple().exponent)
            exact = Decimal(repr(stored)) if isinstance(stored, float) else Decimal(stored)
            return exact.is_finite() and exact.quantize(step, context=Context(prec=80)) == written
        case int():
            return not (isinstance(stored, float) and stored in (2.0**63, 2.0**31)) and int(stored) == written
        case str():
            return stored == written
        case bytes() | bytearray():
            return (stored.encode() if isinstance(stored, str) else bytes(stored)) == bytes(written)
        case datetime():
            if isinstance(stored, str):
                return datetime.fromisoformat(stored) == written
            is_time = isinstance(stored, datetime)
            return (stored if is_time else datetime(stored.year, stored.month, stored.day)) == written
        case date():
            return str(stored)[:10] == str(written)
    raise AssertionError(written)


def is_same(found, expected) -> bool:
    """Whether the same value was read; of floating point, NaN is NaN, and 0.0 is -0.0."""
    if isinstance(found, float) and isinstance(expected, float) and math.isnan(expected):
        return math.isnan(found)
    return found == expected


class Target:
    """Existing tables of one sink, each made anew."""

    def __init__(self, name, folder, database, settings):
        self.name, self.folder, self.database, self.settings = name, folder, database, settings
        self.connector, _, self.kind = name.partition(" ")
        self.sink = connectors.sink(self.connector)

    def address(self, table):
        match self.connector:
            case "Jdbc":
                return {**self.database.options, "table": table}
            case "Iceberg":
                return {"warehouse": f"{self.folder}/lake", "table": f"db.{table}"}
            case "S3File":
                return {"path": f"/{table}", "file_format_type": self.kind, **self.settings}
            case "LocalFile":
                return {"path": f"{self.folder}/{table}", "file_format_type": self.kind}
        return {"path": f"{self.folder}/{table}"}

    def write(self, table, query, columns, **given):
        policy = given.pop("store_assignment", None)
        made = write(self.sink, rows(query, *columns), **self.address(table), **given)
        options = replace(made.options, values={**made.options.values, STORE_ASSIGNMENT.name: policy})
        return replace(made, options=options)

    def read(self, spark, table):
        if self.connector in ("Jdbc", "Iceberg", "Paimon"):
            source = connectors.source(self.connector)
            given = self.address(table)
            if self.connector == "Jdbc":
                given["table_path"] = given.pop("table")
            return source.read(
                spark.newSession(), ScanTask(options_of(source.source_options, **given), CatalogTable.unknown("t"))
            )
        return spark.read.format(self.kind or "delta").load(f"{self.folder}/{table}")

    def make(self, spark, table, targets, state):
        """Make the table, with a row of NULLs; the types that its columns have there."""
        nulls = ", ".join(f"cast(null as {type}) c{i}" for i, type in enumerate(targets))
        made = self.write(table, f"select 0 id, {nulls}", ["id int", *typed_columns(targets)])
        run_writes(spark, [made], state, f"make-{table}")
        found = self.sink.inspect(spark, task_of(made, RunContext("look", spark.version))).table
        return [str(found.column(f"c{i}").type) for i in range(len(targets))]


def typed_columns(types):
    return [f"c{i} {type}" for i, type in enumerate(types)]


@pytest.fixture
def target(request, tmp_path):
    connector, _, kind = request.param.partition(" ")
    folder, settings, database = tmp_path, {}, None
    if connector == "Jdbc":
        database = request.getfixturevalue(kind)
        database.clear()
    if connector == "S3File":
        spark, s3 = request.getfixturevalue("s3_spark"), request.getfixturevalue("s3")
        folder = s3.bucket()
        StoreSettings.of(str(folder), s3.settings).apply(spark)
        settings = {"bucket": str(folder), "hadoop_s3_properties": s3.settings}
    return Target(request.param, folder, database, settings)


def cases(name, chance, count):
    """Random values of types that the sink holds, for columns of others."""
    types = [type for type in TYPES if type not in LACKING.get(name, ())]
    pairs = [(one, other) for one, other in product(types, types) if one != other]
    fitting = [pair for pair in pairs if can_store(*map(parse_type, pair))]
    for _ in range(count):
        source, wanted = chance.choice(fitting if chance.random() < 0.95 else pairs)
        nested = None if name in NO_NESTED or chance.random() < 0.8 else chance.randrange(len(WRAPPED))
        yield Case(literal(value_of(source, chance), source), source, wanted, nested)


def check_values(spark, target, tmp_path, chance, count, refusals):
    found = list(cases(target.name, chance, count))
    for number, start in enumerate(range(0, len(found), COLUMNS)):
        check_table(spark, target, str(tmp_path / "state"), f"t{number}", found[start : start + COLUMNS], refusals)


COLUMNS = 40
REFUSED = 4
"""Values of each table of the long run that are written alone, which fails. Of the others, the condition is asked by
which a write fails: a job for each would take most of the time."""


def are_changed(spark, cases):
    """What the condition says by which a write refuses a value, of each value and the type of its column."""
    conditions = [
        is_changed(f"c{i}", parse_type(case.wrapped(case.source)), Column("c", parse_type(target))) or "false"
        for i, (case, target) in enumerate(cases)
    ]
    values = ", ".join(f"{case.value} c{i}" for i, (case, _) in enumerate(cases))
    return list(spark.sql(f"select {', '.join(conditions)} from (select {values})").first()) if cases else []


def is_refused(spark, writes, state, run_id):
    """The error that ends the write while its rows are staged; None if they are."""
    try:
        stage_writes(spark, writes, state, run_id)
    except RunError as error:
        return error
    return None


def is_refused_by_spark(spark, case, target):
    """Whether Spark's own cast raises an error; for some values, such as NaN as a decimal, it is NULL."""
    try:
        spark.sql(f"select cast({case.text} as {case.bare(target)}) x").first()
    except SPARK_ERRORS:
        return True
    return False


def check_table(spark, target, state, table, cases, refusals):
    """Write each value into its column: those that survive in one row, those that do not one by one, which fails, and
    then in one row under `ansi`."""
    targets = target.make(spark, table, [case.wrapped(case.target) for case in cases], state)
    storable = [
        can_store(parse_type(case.wrapped(case.source)), parse_type(type))
        for case, type in zip(cases, targets, strict=True)
    ]
    judged = stored_by_spark(spark, cases, targets, storable)
    kept = [i for i, (_, is_kept) in enumerate(judged) if storable[i] and is_kept]
    lost = [i for i, (_, is_kept) in enumerate(judged) if storable[i] and not is_kept]
    refused = [i for i, can in enumerate(storable) if not can]

    def job(id, chosen, **given):
        query = f"select {id} id, " + ", ".join(f"{cases[i].value} c{i}" for i in chosen)
        columns = ["id int", *(f"c{i} {cases[i].wrapped(cases[i].source)}" for i in chosen)]
        return [target.write(table, query, columns, **given)]

    def check_row(id, chosen):
        row = target.read(spark, table).where(f"id = {id}").first()
        for i in chosen:
            value = cases[i].taken(row[f"c{i}"])
            assert is_same(value, judged[i][0]), (cases[i], targets[i], value, judged[i][0])

    if kept:
        run_writes(spark, job(1, kept), state, f"kept-{table}")
        check_row(1, kept)
    assert are_changed(spark, [(cases[i], targets[i]) for i in lost]) == [True] * len(lost), table
    assert are_changed(spark, [(cases[i], targets[i]) for i in kept]) == [False] * len(kept), table
    for i in lost[:refusals]:
        error = is_refused(spark, job(2, [i]), state, f"lost-{table}-{i}")
        assert error is not None, (cases[i], targets[i])
        shown = (cases[i], targets[i], str(error))
        assert [found.code for found in error.diagnostics] == ["PEN5501"], shown
        assert f"`c{i}` in row 1" in str(error), shown
        assert f"CAST(c{i} AS {targets[i]}" in str(error.diagnostics[0].help), shown
    raised = [i for i in lost if judged[i][0] is None and is_refused_by_spark(spark, cases[i], targets[i])]
    changed = [i for i in lost if i not in raised]
    if changed:
        run_writes(spark, job(3, changed, store_assignment="ansi"), state, f"ansi-{table}")
        check_row(3, changed)
    for i in raised[:refusals]:
        assert is_refused(spark, job(4, [i], store_assignment="ansi"), state, f"over-{table}-{i}"), cases[i]
    for i in refused:
        for policy in ("lossless", "ansi"):
            error = is_refused(spark, job(5, [i], store_assignment=policy), state, f"unfit-{table}-{i}")
            assert error is not None, (cases[i], targets[i])
            assert [found.code for found in error.diagnostics] == ["PEN4003"], (cases[i], targets[i], str(error))
    ids = sorted(row["id"] for row in target.read(spark, table).select("id").collect())
    assert ids == [0, *([1] if kept else []), *([3] if changed else [])]


@pytest.mark.delta
@pytest.mark.parametrize(
    "target",
    [pytest.param(sink, marks=pytest.mark.soak if sink in ("Iceberg", "Paimon") else ()) for sink in SINKS],
    indirect=True,
)
def test_a_value_is_stored_unchanged_or_refused(spark, target, tmp_path):
    check_values(spark, target, tmp_path, random.Random(27), 40, 1)


@pytest.mark.delta
@pytest.mark.soak
@pytest.mark.parametrize("target", [*SINKS, *OTHER_SINKS], indirect=True)
def test_many_values_are_stored_unchanged_or_refused(spark, target, tmp_path):
    count = int(os.environ.get("PENSTOCK_TEST_STORED", "2000")) // len([*SINKS, *OTHER_SINKS])
    seed = int(os.environ.get("PENSTOCK_TEST_SEED", random.randrange(10**6)))
    print(f"seed {seed}")
    check_values(spark, target, tmp_path, random.Random(seed), count, REFUSED)


@pytest.mark.delta
@pytest.mark.parametrize("target", [pytest.param("LocalFile parquet", marks=pytest.mark.soak), "Delta"], indirect=True)
def test_a_nested_value_is_stored_unchanged_or_refused(spark, target, tmp_path):
    state = str(tmp_path / "state")
    target.make(spark, "t", [wanted for _, wanted, _, _ in NESTED], state)
    columns = ["id int", *(f"c{i} {source}" for i, (source, _, _, _) in enumerate(NESTED))]

    def values(id, changed=None):
        texts = [
            f"{text.format(f'cast({9.7 if i == changed else 9.0} as {inner})')} c{i}"
            for i, (_, _, text, inner) in enumerate(NESTED)
        ]
        return f"select {id} id, {', '.join(texts)}"

    run_writes(spark, [target.write("t", values(1), columns)], state, "fits")
    for index in range(len(NESTED)):
        unfit = target.write("t", values(2, index), columns)
        with pytest.raises(RunError, match=rf"a value of `c{index}` in row 1 is .*does not fit"):
            stage_writes(spark, [unfit], state, f"unfit-{index}")
    row = target.read(spark, "t").where("id = 1").first()
    assert (row["c0"], row["c1"]["b"], row["c2"]) == ([9], 9, {"k": 9})


GREATEST = [
    ("9223372036854775807L", "bigint", "double", True), ("9223372036854775807L", "bigint", "float", True),
    ("-9223372036854775808L", "bigint", "double", False), ("9223372036854774784L", "bigint", "double", False),
    ("2147483647", "int", "float", True), ("2147483646", "int", "float", True), ("-2147483648", "int", "float", False),
    ("9223372036854775808D", "double", "bigint", True), ("-9223372036854775808D", "double", "bigint", False),
    ("cast(9223372036854775808D as float)", "float", "bigint", True), ("9007199254740994D", "double", "bigint", False),
    ("x'00ff'", "binary", "string", True), ("x'c3a4'", "binary", "string", False), ("null", "binary", "string", False),
    ("cast(null as bigint)", "bigint", "double", False), ("cast(null as double)", "double", "bigint", False),
]  # fmt: skip


def test_the_greatest_integers_are_not_stored_as_numbers_beside_them(spark):
    """2^63 - 1 as a double is 2^63, which is cast back to 2^63 - 1."""
    conditions = [
        is_changed(f"c{i}", parse_type(source), Column("c", parse_type(target)))
        for i, (_, source, target, _) in enumerate(GREATEST)
    ]
    values = ", ".join(f"cast({text} as {source}) c{i}" for i, (text, source, _, _) in enumerate(GREATEST))
    row = spark.sql(f"select {', '.join(conditions)} from (select {values})").first()
    assert list(row) == [is_lost for _, _, _, is_lost in GREATEST]
