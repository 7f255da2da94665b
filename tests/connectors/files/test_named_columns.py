"""CSV files of different headers under one schema: `csv_columns_by_name`."""

import gzip

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from connectors.interface.source import ScanTask
from connectors.local_file import connector
from tests.connectors.given_options import options_of

pytestmark = pytest.mark.spark

SCHEMA = {"fields": {"id": "int", "name": "string", "price": "decimal(10,2)"}}
FILES = {"a.csv": "id,name\n1,ann\n", "b.csv": "name,ID,price\nbob,2,1.50\n", "c.csv": "price,x,id,name\n2.25,?,3,cy\n"}


@pytest.fixture
def read(spark, tmp_path):
    """Reads a folder of files, and returns the rows, the columns and the messages of validation."""

    def read(files=FILES, **given):
        for name, text in files.items():
            path = tmp_path / "in" / name
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        all_given = {
            "path": str(tmp_path / "in"), "file_format_type": "csv", "csv_use_header_line": True,
            "csv_columns_by_name": True, **given,
        }  # fmt: skip
        options = options_of(connector.source_options, **all_given)
        diagnostics = Diagnostics()
        (table,) = connector.tables(options, diagnostics)
        if diagnostics.has_errors:
            return [], list(table.schema.names), list(diagnostics)
        df = connector.read(spark, ScanTask(options, table))
        return sorted(map(tuple, df.collect()), key=str), df.columns, list(diagnostics)

    return read


def test_csv_files_with_and_without_a_new_column_are_read_under_one_schema_by_header_names(read):
    rows, columns, said = read(schema=SCHEMA)
    assert columns == ["id", "name", "price"]
    assert [tuple(map(str, row)) for row in rows] == [("1", "ann", "None"), ("2", "bob", "1.50"), ("3", "cy", "2.25")]
    assert [item.code for item in said] == ["PEN4503", "PEN4503"]  # of `a.csv`, which lacks one, and of `x`
    rows, _, said = read({"d.csv": "\ufeffname,price,id\n", "e.csv.gz": "price,id,name\n7.00,4,di\n", "f.csv": ""},
                         schema=SCHEMA, missing_columns="allow")  # fmt: skip
    assert len(rows) == 4
    assert [item for item in said if "lacks" in item.message] == []


def test_without_a_schema_the_columns_are_those_of_all_headers(read):
    rows, columns, _ = read({"a.csv": "id,name\n1,ann\n", "b.csv": "price,ID\n2.5,2\n"})
    assert columns == ["id", "name", "price"]
    assert rows == [("1", "ann", None), ("2", None, "2.5")]


def test_a_column_that_no_header_names_and_options_that_exclude_each_other_are_errors(read):
    said = read({"a.csv": "id,nam\n1,ann\n"}, schema={"fields": {"id": "int", "name": "string"}})[2]
    assert [(item.code, item.help) for item in said if item.code == "PEN3004"] == [("PEN3004", "did you mean `nam`?")]
    assert "PEN2011" in [item.code for item in read(csv_use_header_line=False, schema=SCHEMA)[2]]
    assert "PEN2011" in [item.code for item in read(infer_schema=True)[2]]


def test_a_header_that_names_a_column_twice_is_named(read):
    with pytest.raises(RunError, match="two columns are named `id`"):
        read({"a.csv": "id,id\n1,2\n"}, schema={"fields": {"id": "int"}})


def test_malformed_rows_are_found_as_in_other_files(read):
    files = {"a.csv": "id,name\n1,ann\n", "b.csv": "price,name,id\nx,bob,2\n"}
    with pytest.raises(Exception, match=r'unfit_value.*"column":"price".*"value":"x"'):
        read(files, schema=SCHEMA)
    rows, _, _ = read(files, schema=SCHEMA, on_malformed="drop")
    assert [row[0] for row in rows] == [1]
