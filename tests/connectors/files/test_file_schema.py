"""The columns of files, read without Spark."""

import pytest

from catalog.types.datatypes import BIGINT, STRING
from connectors.files import file_schema
from connectors.files.file_schema import file_columns


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_a_file_is_read_once_until_it_is_written_anew(kind, tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    module = pytest.importorskip(f"pyarrow.{kind}")
    reads = []
    read = getattr(file_schema, f"_{kind}_schema")
    monkeypatch.setattr(file_schema, f"_{kind}_schema", lambda file: reads.append(file) or read(file))
    path = str(tmp_path / f"t.{kind}")

    def types():
        return [column.type for column in file_columns(kind, [path], None)]

    module.write_table(pyarrow.table({"x": [1]}), path)
    assert (types(), types(), len(reads)) == ([BIGINT], [BIGINT], 1)
    module.write_table(pyarrow.table({"x": ["one"]}), path)
    assert (types(), len(reads)) == ([STRING], 2)
