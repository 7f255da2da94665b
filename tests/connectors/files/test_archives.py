"""Files in archives, filters by name, skipped lines and binary files: what LocalFile reads beside plain files."""

import gzip
import io
import tarfile
import zipfile
from dataclasses import replace

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.options import SeaTunnel
from connectors.interface.source import ScanTask
from connectors.local_file import connector
from tests.connectors.given_options import options_of

SCHEMA = {"fields": {"id": "int", "name": "string"}}
TEXTS = {
    "text": "1|a\n2|b\n",
    "csv": "1|a\n2|b\n",
    "json": '{"id": 1, "name": "a"}\n{"id": 2, "name": "b"}\n',
    "xml": "<rows><row><id>1</id><name>a</name></row><row><id>2</id><name>b</name></row></rows>",
}


def read(spark, path, seatunnel=True, **given):
    options = options_of(connector.source_options, path=str(path), **given)
    options = replace(options, seatunnel=SeaTunnel() if seatunnel else None)
    diagnostics = Diagnostics()
    (table,) = connector.tables(options, diagnostics)
    assert not diagnostics.has_errors, list(diagnostics)
    return connector.read(spark, ScanTask(options, table))


def given_for(kind):
    return {"text": {"field_delimiter": "|"}, "csv": {"field_delimiter": "|"}, "xml": {"xml_row_tag": "row"}}.get(
        kind, {}
    )


def archived(folder, codec, name, content):
    match codec:
        case "zip":
            with zipfile.ZipFile(folder / "data.zip", "w") as archive:
                archive.writestr(f"inner/{name}", content)
        case "tar" | "tar_gz":
            mode, suffix = ("w:gz", ".tar.gz") if codec == "tar_gz" else ("w", ".tar")
            with tarfile.open(folder / f"data{suffix}", mode) as archive:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        case "gz":
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))


@pytest.mark.spark
@pytest.mark.parametrize("codec", ["zip", "tar", "tar_gz", "gz"])
@pytest.mark.parametrize("kind", TEXTS)
def test_archives(spark, tmp_path, kind, codec):
    archived(tmp_path, codec, f"rows.{kind}", TEXTS[kind].encode())
    df = read(
        spark, tmp_path, schema=SCHEMA, file_format_type=kind, archive_compress_codec=codec, **given_for(kind)
    )  # fmt: skip
    assert sorted(map(tuple, df.collect())) == [(1, "a"), (2, "b")]


@pytest.mark.spark
def test_a_file_that_is_no_archive_is_refused(spark, tmp_path):
    (tmp_path / "rows.zip").write_text("1|a\n")
    with pytest.raises(RunError, match="is no zip archive"):
        read(spark, tmp_path, schema=SCHEMA, file_format_type="text", archive_compress_codec="zip")


@pytest.mark.spark
def test_filters_by_name_and_directories(spark, tmp_path):
    for day in ("d=1", "d=2"):
        (tmp_path / day).mkdir()
        (tmp_path / day / "a.txt").write_text("1|a\n")
        (tmp_path / day / "b.dat").write_text("2|b\n")
    given = {"schema": SCHEMA, "file_format_type": "text", "field_delimiter": "|"}
    by_pattern = read(spark, tmp_path, file_filter_pattern=r"[a]\.txt", read_columns=["id"], **given)
    assert sorted(map(tuple, by_pattern.collect())) == [(1, "1"), (1, "2")]  # directories are texts, and stay
    by_extension = read(spark, tmp_path, seatunnel=False, filename_extension=".dat", **given)
    assert sorted(map(tuple, by_extension.collect())) == [(2, "b", 1), (2, "b", 2)]
    assert read(spark, tmp_path, file_filter_pattern="none", **given).collect() == []


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["text", "csv"])
def test_several_lines_are_skipped_in_each_file(spark, tmp_path, kind):
    for name in ("a", "b"):
        (tmp_path / name).write_text("# one\n# two\n1|a\n2|b\n")
    df = read(
        spark, tmp_path, schema=SCHEMA, file_format_type=kind, skip_header_row_number=2, field_delimiter="|"
    )  # fmt: skip
    assert sorted(map(tuple, df.collect())) == [(1, "a"), (1, "a"), (2, "b"), (2, "b")]


@pytest.mark.spark
def test_text_without_schema_is_one_column(spark, tmp_path):
    (tmp_path / "a.txt").write_text("1|a\n")
    assert read(spark, tmp_path, file_format_type="text").columns == ["content"]
    assert read(spark, tmp_path, seatunnel=False, file_format_type="text").first() == ("1|a",)


@pytest.mark.spark
def test_binary_files_are_rows(spark, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "a.bin").write_bytes(b"\x00\x01")
    (tmp_path / "in" / "b.bin").write_bytes(b"\x02")
    df = read(spark, tmp_path, file_format_type="binary")
    assert sorted((bytes(row[0]), row[1]) for row in df.collect()) == [(b"\x00\x01", "a.bin"), (b"\x02", "in/b.bin")]


@pytest.mark.spark
def test_an_empty_folder_has_no_rows(spark, tmp_path):
    assert read(spark, tmp_path, schema=SCHEMA, file_format_type="json").collect() == []


@pytest.mark.spark
def test_timestamps_of_orc_files_that_spark_did_not_write(spark, tmp_path):
    import pyarrow as pa
    from pyarrow import orc

    at = pa.array([1_700_000_000_000_000_000], pa.timestamp("ns"))
    nested = pa.StructArray.from_arrays([at, pa.ListArray.from_arrays([0, 1], at)], ["at", "all"])
    orc.write_table(pa.table({"at": at, "nested": nested}), str(tmp_path / "a.orc"))
    df = read(spark, tmp_path, seatunnel=False, file_format_type="orc")
    assert df.schema.simpleString() == (
        "struct<at:timestamp,nested:struct<at:timestamp,all:array<timestamp>>>"
    )  # fmt: skip
    options = options_of(connector.source_options, path=str(tmp_path), file_format_type="orc")
    (table,) = connector.tables(options, Diagnostics())
    assert [str(column.type) for column in table.columns] == [field.dataType.simpleString() for field in df.schema]
