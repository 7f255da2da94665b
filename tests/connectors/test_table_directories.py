"""A directory belongs to one table: sinks of other formats refuse it, both ways, before anything is written."""

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, RunError
from connectors.storage.local_files import LocalFiles
from connectors.storage.table_directories import table_format
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, stage_writes, write

MARKS = {
    "Delta": "_delta_log/00000000000000000000.json",
    "Iceberg": "metadata/v1.metadata.json",
    "Hudi": ".hoodie/hoodie.properties",
    "Paimon": "schema/schema-0",
}


def table_of(format, tmp_path):
    mark = tmp_path / "db" / "t" / MARKS[format]
    mark.parent.mkdir(parents=True)
    mark.write_text("{}")
    return tmp_path / "db" / "t"


@pytest.mark.parametrize("format", MARKS)
def test_the_format_of_a_directory_is_known_by_its_metadata(format, tmp_path):
    assert table_format(LocalFiles(), str(table_of(format, tmp_path))) == format
    assert table_format(LocalFiles(), str(tmp_path)) is None


@pytest.mark.parametrize("below", ["", "/day=1"])
@pytest.mark.parametrize("format", MARKS)
def test_files_are_not_added_to_a_table_of_another_format(format, below, tmp_path):
    sink, diagnostics = connectors.sink("LocalFile"), Diagnostics()
    target = write(sink, rows("select 1 a", "a int"), path=f"{table_of(format, tmp_path)}{below}")
    sink.validate(target.options, target.table, diagnostics)
    (refused,) = [found for found in diagnostics if found.code == "PEN5502"]
    assert f"a table of {format}" in refused.message


LAYOUTS = [
    ("part-0.snappy.parquet", {}, []),
    ("part-0.snappy.parquet", {"file_format_type": "csv"}, ["PEN5462"]),
    ("part-0.csv.gz", {}, ["PEN5462"]),
    ("part-0.csv", {"file_format_type": "csv"}, []),
    ("data.txt", {"file_format_type": "csv"}, []),
    ("part-0.csv", {"file_format_type": "text", "enable_header_write": True}, []),
    ("a.json", {"file_format_type": "binary"}, []),
    ("part-0.csv", {"data_save_mode": "DROP_DATA"}, []),
    ("day=1/part-0.parquet", {}, ["PEN5462"]),
    ("day=1/part-0.parquet", {"partition_by": ["a"]}, ["PEN5462"]),
    ("DAY=1/part-0.parquet", {"partition_by": ["day"]}, []),
    ("part-0.parquet", {"partition_by": ["day"]}, ["PEN5462"]),
    ("day=1/part-0.parquet", {"data_save_mode": "DROP_DATA"}, []),
    ("other/part-0.csv", {}, []),
    ("other/day=1/part-0.csv", {}, []),
]


@pytest.mark.parametrize(("name", "given", "codes"), LAYOUTS)
def test_rows_are_not_added_to_files_of_another_format_or_other_partitions(name, given, codes, tmp_path):
    sink, diagnostics = connectors.sink("LocalFile"), Diagnostics()
    (tmp_path / "t" / name).parent.mkdir(parents=True)
    (tmp_path / "t" / name).write_text("x")
    given = {"path": str(tmp_path / "t"), "file_format_type": "parquet", **given}
    target = write(sink, rows("select 1 a, 2 day", "a int", "day int"), **given)
    sink.validate(target.options, target.table, diagnostics)
    assert [found.code for found in diagnostics if found.code == "PEN5462"] == codes


@pytest.mark.spark
def test_a_run_refuses_files_of_another_format(spark, tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.csv").write_text("1\n")
    given = {"path": str(tmp_path / "t"), "file_format_type": "parquet"}
    with pytest.raises(RunError, match=r"PEN5462.*holds files of the format csv, and the sink writes parquet"):
        stage_writes(spark, [write(connectors.sink("LocalFile"), rows("select 1 a", "a int"), **given)],
                     str(tmp_path / "state"), "run")  # fmt: skip
    assert [path.name for path in (tmp_path / "t").iterdir()] == ["a.csv"]


def test_reading_the_files_of_a_table_is_a_warning(tmp_path):
    source, diagnostics = connectors.source("LocalFile"), Diagnostics()
    path = table_of("Delta", tmp_path)
    schema = {"fields": {"a": "int"}}
    source.tables(
        options_of(source.source_options, path=str(path), file_format_type="parquet", schema=schema), diagnostics
    )
    assert [found.code for found in diagnostics if "read it with the connector `Delta`" in str(found.help)] == [
        "PEN4502"
    ]


@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.parametrize("format", MARKS)
@pytest.mark.parametrize("sink", ["LocalFile", "Delta", "Iceberg", "Paimon"])
def test_a_run_refuses_a_table_of_another_format(spark, sink, format, tmp_path):
    if sink == format:
        return
    path = table_of(format, tmp_path)
    given = {"warehouse": str(tmp_path), "table": "db.t"} if sink == "Iceberg" else {"path": str(path)}
    job = write(connectors.sink(sink), rows("select 1 a", "a int"), **given)
    with pytest.raises(RunError, match=f"PEN5502.*a table of {format}"):
        stage_writes(spark, [job], str(tmp_path / "state"), "run")
    assert [str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()] == [MARKS[format]]
