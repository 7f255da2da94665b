"""Avro files: the columns of their header, the names they refuse, and every type both ways."""

import io
import json

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.table import CatalogTable, Column
from catalog.types.typenames import parse_type
from connectors.files.avro_schema import avro_columns
from connectors.local_file import connector
from tests.connectors.given_options import options_of


def zigzag(number: int) -> bytes:
    value, out = (number << 1) ^ (number >> 63), bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def avro_file(schema) -> bytes:
    """An Avro file without records."""
    out = io.BytesIO(b"Obj\x01")
    out.seek(4)
    for name, value in (("avro.codec", b"null"), ("avro.schema", json.dumps(schema).encode())):
        out.write(zigzag(1) + zigzag(len(name)) + name.encode() + zigzag(len(value)) + value)
    out.write(zigzag(0) + b"0123456789abcdef")
    return out.getvalue()


FIELDS = [
    ("i", "int", "int"),
    ("l", ["null", "long"], "bigint"),
    ("wide", ["int", "null", "long"], "bigint"),
    ("ratio", ["float", "double"], "double"),
    ("either", ["null", "string", "int"], "struct<member0:string,member1:int>"),
    ("day", {"type": "int", "logicalType": "date"}, "date"),
    ("at", {"type": "long", "logicalType": "timestamp-micros"}, "timestamp"),
    ("local", {"type": "long", "logicalType": "local-timestamp-millis"}, "timestamp_ntz"),
    ("price", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}, "decimal(10,2)"),
    ("key", {"type": "fixed", "name": "K", "size": 4}, "binary"),
    ("colour", {"type": "enum", "name": "C", "symbols": ["RED"]}, "string"),
    ("list", {"type": "array", "items": ["null", "string"]}, "array<string>"),
    ("pairs", {"type": "map", "values": "boolean"}, "map<string,boolean>"),
    ("inner", {"type": "record", "name": "R", "namespace": "a.b", "fields": [{"name": "x", "type": "float"}]},
     "struct<x:float>"),
    ("again", "a.b.R", "struct<x:float>"),
]  # fmt: skip


def test_the_columns_are_in_the_header(tmp_path):
    file = tmp_path / "rows.avro"
    fields = [{"name": name, "type": type} for name, type, _ in FIELDS]
    file.write_bytes(avro_file({"type": "record", "name": "row", "fields": fields}))
    found = avro_columns(str(file))
    assert [(column.name, str(column.type)) for column in found] == [(name, type) for name, _, type in FIELDS]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"PAR1", "not an Avro file"),
        (b"Obj\x01\x02", "cut off"),
        (avro_file("string"), "not records"),
        (avro_file({"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}), "itself"),
    ],
    ids=["another", "cut", "scalar", "recursive"],
)
def test_other_files_have_none(tmp_path, content, why):
    file = tmp_path / "rows.avro"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=why):
        avro_columns(str(file))
    diagnostics = Diagnostics()
    connector.tables(options_of(connector.source_options, path=str(file), file_format_type="avro"), diagnostics)
    assert [each.code for each in diagnostics] == ["PEN4002"]


@pytest.mark.parametrize("type", ["int", "struct<`a b`:int>"])
def test_names_that_avro_refuses_are_errors(tmp_path, type):
    options = options_of(connector.sink_options, path=str(tmp_path / "out"), file_format_type="avro")
    name = "a" if type != "int" else "unit price"
    diagnostics = Diagnostics()
    connector.validate(options, CatalogTable.of("t", (Column(name, parse_type(type)),)), diagnostics)
    assert [each.code for each in diagnostics] == ["PEN4003"]
    assert "no name in Avro" in diagnostics.items[0].message


def test_only_avro_needs_the_jar(tmp_path):
    for kind in ("csv", "parquet", "avro"):
        options = options_of(connector.source_options, path=str(tmp_path), file_format_type=kind)
        assert bool(connector.jars(options)) == (kind == "avro")


TYPES = {
    "tiny": ("tinyint", "cast(1 as tinyint)"),
    "small": ("smallint", "cast(2 as smallint)"),
    "big": ("bigint", "3L"),
    "real": ("float", "cast(1.5 as float)"),
    "price": ("decimal(38,18)", "cast(1.5 as decimal(38,18))"),
    "data": ("binary", "X'01FF'"),
    "day": ("date", "date'1500-02-01'"),
    "at": ("timestamp", "timestamp'2024-02-29 12:30:00.123456'"),
    "local": ("timestamp_ntz", "timestamp_ntz'2024-02-29 12:30:00.123456'"),
    "list": ("array<tinyint>", "array(cast(1 as tinyint), null)"),
    "pairs": ("map<int,string>", "map(1, 'a')"),
    "inner": ("struct<a:smallint,b:string>", "named_struct('a', cast(1 as smallint), 'b', cast(null as string))"),
}


@pytest.mark.spark
def test_every_type_comes_back(spark, tmp_path):
    from connectors.files.formats.write_files import write_files
    from connectors.interface.source import ScanTask

    df = spark.sql("select " + ", ".join(f"{value} as {name}" for name, (_, value) in TYPES.items()))
    folder = str(tmp_path / "out")
    write_files(spark, df, folder, [], options_of(connector.sink_options, path=folder, file_format_type="avro"))
    schema = {"fields": {name: type for name, (type, _) in TYPES.items()}}
    declared = options_of(connector.source_options, path=folder, file_format_type="avro", schema=schema)
    (table,) = connector.tables(declared, Diagnostics())
    assert [str(column.type) for column in table.columns] == [type for type, _ in TYPES.values()]
    read = connector.read(spark, ScanTask(declared, table))
    assert read.dtypes == df.dtypes
    assert read.collect() == df.collect()
    found = options_of(connector.source_options, path=folder, file_format_type="avro")
    (table,) = connector.tables(found, Diagnostics())
    spark_read = spark.read.format("avro").load(folder)
    assert [(column.name, str(column.type)) for column in table.columns] == spark_read.dtypes
