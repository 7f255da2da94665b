"""Random values written into existing tables of other types: stored unchanged, or refused; under `ansi` as by Spark.

`PENSTOCK_TEST_STORED` is the number of values of the long run (`make soak`).
"""

import os
import random
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

import connectors
from catalog.diagnostics.diagnostic import RunError
from catalog.options import STORE_ASSIGNMENT
from catalog.tables.checked_cast import is_changed
from catalog.tables.table import CatalogTable, Column
from catalog.types.typetext import parse_type
from connectors.interface.source import ScanTask
from tests.connectors.jobs import options_of, rows, run_writes, stage_writes, write

pytestmark = pytest.mark.spark

PAIRS = [
    ("bigint", "int"), ("bigint", "smallint"), ("bigint", "double"), ("bigint", "float"), ("bigint", "decimal(10,0)"),
    ("int", "float"), ("int", "decimal(5,2)"), ("int", "bigint"), ("int", "string"),
    ("double", "int"), ("double", "bigint"), ("double", "float"), ("double", "decimal(10,2)"), ("double", "string"),
    ("float", "int"), ("float", "double"), ("float", "decimal(10,2)"),
    ("decimal(10,3)", "decimal(10,2)"), ("decimal(10,3)", "int"), ("decimal(10,3)", "double"),
    ("decimal(38,18)", "double"), ("decimal(38,18)", "decimal(20,2)"), ("decimal(10,3)", "float"),
    ("timestamp", "date"), ("timestamp_ntz", "date"), ("timestamp", "timestamp_ntz"), ("timestamp_ntz", "timestamp"),
    ("date", "timestamp"), ("date", "timestamp_ntz"), ("date", "string"), ("timestamp_ntz", "string"),
]  # fmt: skip
NESTED = [
    ("array<double>", "array<int>", "array({0})", "double"),
    ("struct<a:int,b:double>", "struct<a:int,b:int>", "named_struct('a', 1, 'b', {0})", "double"),
    ("map<string,double>", "map<string,int>", "map('k', {0})", "double"),
]
"""Source, target, a value over one of the third type: of sinks that hold nested types."""
SINKS = ("LocalFile", "Delta", "Iceberg", "Paimon", "Jdbc")
LACKING = {"Iceberg": ("smallint",), "Jdbc": ()}


def value_of(type: str, chance: random.Random):
    """A random value of a type, at its edges more often than not."""
    name = type.partition("(")[0]
    whole = chance.choice([0, 1, -1, 7, 99, 32767, 32768, 2**24 + 1, 2**31 - 1, -(2**31)])
    match name:
        case "bigint":
            return chance.choice([whole, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), chance.randrange(10**12)])
        case "int":
            return whole
        case "double" | "float":
            found = chance.choice([0.0, 9.7, 9.0, 1.5, 1.109, 0.1, -2.25, 1e20, 123456.75, float(whole), 1e-9])
            return found if name == "double" else struct_float(found)
        case "decimal":
            scale = int(type.rpartition(",")[2].rstrip(")"))
            digits = chance.choice([0, 1, 110, 1109, 9700, 9700000, chance.randrange(10**9)])
            more = chance.choice([0, 0, 10 ** (scale - 2), 10**scale])
            return Decimal(min(digits + more, 10**10 - 1 if scale == 3 else 10**30)).scaleb(-scale)
        case "date":
            return date(1970, 1, 1) + timedelta(days=chance.randrange(-20000, 40000))
        case "timestamp" | "timestamp_ntz":
            day = datetime(1970, 1, 1) + timedelta(days=chance.randrange(0, 30000))
            return day + chance.choice([timedelta(), timedelta(hours=10), timedelta(microseconds=1)])
    raise AssertionError(type)


def struct_float(value: float) -> float:
    import struct

    return struct.unpack("f", struct.pack("f", value))[0]


def literal(value, type: str) -> str:
    return f"cast('{value!r}' as {type})" if isinstance(value, float) else f"cast('{value}' as {type})"


def stored_by_spark(spark, literals):
    """What Spark's cast makes of each (text, source, target), None where it refuses the value; and whether it is equal
    to what was written, by Python's own comparison of the two."""
    columns = [f"try_cast({text} as {target}) t{i}, {text} s{i}" for i, (text, _, target) in enumerate(literals)]
    row = spark.sql(f"select {', '.join(columns)}").first()
    return [(row[f"t{i}"], is_equal(row[f"s{i}"], row[f"t{i}"])) for i in range(len(literals))]


def is_equal(written, stored) -> bool:
    """Whether what is stored, as a value of the type that was written, is what was written."""
    if stored is None:
        return False
    match written:
        case float():
            return float(stored) == written
        case Decimal():
            step = Decimal(1).scaleb(written.as_tuple().exponent)
            return Decimal(repr(stored) if isinstance(stored, float) else stored).quantize(step) == written
        case int():
            return int(stored) == written
        case datetime():
            if isinstance(stored, str):
                return datetime.fromisoformat(stored) == written
            is_time = isinstance(stored, datetime)
            return (stored if is_time else datetime(stored.year, stored.month, stored.day)) == written
        case date():
            return str(stored)[:10] == str(written)
    raise AssertionError(written)


class Target:
    """Existing tables of one sink, each made anew."""

    def __init__(self, name, folder, database):
        self.sink, self.name, self.folder, self.database = connectors.sink(name), name, folder, database

    def write(self, table, query, columns, **given):
        if self.name == "Jdbc":
            given |= {**self.database.options, "table": table}
        elif self.name == "Iceberg":
            given |= {"warehouse": f"{self.folder}/lake", "table": f"db.{table}"}
        else:
            given |= {"path": f"{self.folder}/{table}"}
        if self.name == "LocalFile":
            given |= {"file_format_type": "parquet"}
        policy = given.pop("store_assignment", None)
        made = write(self.sink, rows(query, *columns), **given)
        options = replace(made.options, values={**made.options.values, STORE_ASSIGNMENT.name: policy})
        return replace(made, options=options)

    def read(self, spark, table):
        match self.name:
            case "Jdbc":
                source = connectors.source("Jdbc")
                options = options_of(source.source_options, **self.database.options, table_path=table)
                return source.read(spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))
            case "Iceberg":
                source = connectors.source("Iceberg")
                options = options_of(source.source_options, warehouse=f"{self.folder}/lake", table=f"db.{table}")
                return source.read(spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))
            case "Paimon":
                source = connectors.source("Paimon")
                options = options_of(source.source_options, path=f"{self.folder}/{table}")
                return source.read(spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))
            case "Delta":
                return spark.read.format("delta").load(f"{self.folder}/{table}")
        return spark.read.parquet(f"{self.folder}/{table}")

    def make(self, spark, table, targets, state):
        nulls = ", ".join(f"cast(null as {type}) c{i}" for i, type in enumerate(targets))
        columns = ["id int", *(f"c{i} {type}" for i, type in enumerate(targets))]
        run_writes(spark, [self.write(table, f"select 0 id, {nulls}", columns)], state, f"make-{table}")


@pytest.fixture
def target(request, tmp_path):
    database = request.getfixturevalue("postgres") if request.param == "Jdbc" else None
    if database is not None:
        database.clear()
    return Target(request.param, tmp_path, database)


def cases(name, chance, count):
    """Random values as (text, source, target), of types that the sink holds."""
    pairs = [pair for pair in PAIRS if not set(pair) & set(LACKING.get(name, ()))]
    for _ in range(count):
        source, wanted = chance.choice(pairs)
        yield literal(value_of(source, chance), source), source, wanted


def check_values(spark, target, tmp_path, chance, count, refusals):
    state = str(tmp_path / "state")
    found = list(cases(target.name, chance, count))
    judged = list(zip(found, stored_by_spark(spark, found), strict=True))
    kept = [(case, stored) for case, (stored, is_kept) in judged if is_kept]
    lost = [(case, stored) for case, (stored, is_kept) in judged if not is_kept]
    assert kept
    assert lost
    for start in range(0, len(kept), 40):
        part, table = kept[start : start + 40], f"kept_{start}"
        target.make(spark, table, [wanted for (_, _, wanted), _ in part], state)
        query = "select 1 id, " + ", ".join(f"{text} c{i}" for i, ((text, _, _), _) in enumerate(part))
        columns = ["id int", *(f"c{i} {source}" for i, ((_, source, _), _) in enumerate(part))]
        run_writes(spark, [target.write(table, query, columns)], state, f"kept-{start}")
        row = target.read(spark, table).where("id = 1").first()
        for i, (case, stored) in enumerate(part):
            assert row[f"c{i}"] == stored, case
    for index, (case, stored) in enumerate(lost[:refusals]):
        text, source, wanted = case
        table = f"lost_{index}"
        target.make(spark, table, [wanted], state)
        query, columns = f"select 1 id, {text} c0", ["id int", f"c0 {source}"]
        with pytest.raises(RunError) as refused:
            stage_writes(spark, [target.write(table, query, columns)], state, f"lost-{index}")
        assert [found.code for found in refused.value.diagnostics] == ["PEN5501"], case
        assert "`c0` in row 1" in str(refused.value), case
        assert f"CAST(c0 AS {wanted})" in str(refused.value.diagnostics[0].help), case
        assert target.read(spark, table).count() == 1
        ansi = target.write(table, query, columns, store_assignment="ansi")
        if stored is None:
            with pytest.raises(RunError):
                stage_writes(spark, [ansi], state, f"ansi-{index}")
        else:
            run_writes(spark, [ansi], state, f"ansi-{index}")
            assert target.read(spark, table).where("id = 1").first()["c0"] == stored, case


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
@pytest.mark.parametrize("target", SINKS, indirect=True)
def test_many_values_are_stored_unchanged_or_refused(spark, target, tmp_path):
    count = int(os.environ.get("PENSTOCK_TEST_STORED", "2000")) // len(SINKS)
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    check_values(spark, target, tmp_path, random.Random(seed), count, count)


@pytest.mark.delta
@pytest.mark.parametrize("target", [pytest.param("LocalFile", marks=pytest.mark.soak), "Delta"], indirect=True)
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
