"""Values of every kind as attributes of XML: maps and arrays are JSON, as in Apache SeaTunnel."""

import pytest

from catalog.tables.table import Column
from catalog.types.typenames import parse_type
from connectors.files.formats.read_files import read_files
from connectors.files.formats.write_files import write_files
from connectors.local_file import connector
from tests.connectors.given_options import options_of


@pytest.mark.spark
def test_maps_and_arrays_are_attributes_too(spark, tmp_path):
    ddl = "id int, m map<string,string>, a array<int>, s struct<x:int,y:array<string>>, b binary"
    rows = [(1, {"k<": "v"}, [1, 2], (3, ['"', "ü"]), b"ab"), (2, None, [], None, None)]
    given = {"path": str(tmp_path / "out"), "file_format_type": "xml", "xml_use_attr_format": True}
    write_files(spark, spark.createDataFrame(rows, ddl), str(tmp_path / "out"), (),
                options_of(connector.sink_options, **given))  # fmt: skip
    columns = [Column(name, parse_type(type)) for name, type in
               (part.split(" ", 1) for part in ddl.split(", "))]  # fmt: skip
    fields = {column.name: str(column.type) for column in columns}
    options = options_of(connector.source_options, **given, xml_row_tag="RECORD", schema={"fields": fields})
    found = sorted(map(tuple, read_files(spark, options, columns, ()).collect()), key=lambda row: row[0])
    assert [(*row[:3], row[3] and tuple(row[3]), row[4] and bytes(row[4])) for row in found] == rows
