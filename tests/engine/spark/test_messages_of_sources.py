"""What a job says of a source that it cannot read: the file, the line, the column, and a remedy that helps."""

import gzip
import os
from pathlib import Path

import pytest

from engine.cli import main

pytestmark = pytest.mark.spark

SCHEMA = "schema { fields { id = int, n = string } }"
JOB = """
source {{ LocalFile {{ path = "{path}", file_format_type = {kind}, {more} }} }}
sink {{ LocalFile {{ path = "out", file_format_type = {to}, data_save_mode = DROP_DATA }} }}
"""


@pytest.fixture
def said(spark, tmp_path, monkeypatch, capsys):
    """Runs a job over a file, and returns its exit code and what it says."""
    monkeypatch.chdir(tmp_path)
    files = spark._jvm.org.apache.hadoop.fs.FileSystem.getLocal(spark._jsc.hadoopConfiguration())
    before = files.getWorkingDirectory()
    files.setWorkingDirectory(spark._jvm.org.apache.hadoop.fs.Path(str(tmp_path)))

    def run(name, content=None, more=SCHEMA, kind=None, to="parquet"):
        path = Path(name)
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        kind = kind or name.removesuffix(".gz").rpartition(".")[2]
        Path("job.conf").write_text(JOB.format(path=name, kind=kind, more=more, to=to))
        code = main(["run", "job.conf", "--quiet"])
        return code, capsys.readouterr().err.replace(str(tmp_path) + "/", "")

    yield run
    files.setWorkingDirectory(before)


@pytest.mark.parametrize(
    ("text", "schema", "message", "place"),
    [
        ("1,a\nx,b\n", "id = int, n = string", "line 2 of `in.csv` of `localfile` does not fit the schema: "
         "`id` is `x`, and not int", "in.csv:2:1: x"),
        ("1,2\n3,oops\n", "a = int, b = double", "line 2 of `in.csv` of `localfile` does not fit the schema: `b` is "
         "`oops`, and not double", "in.csv:2:3: oops"),
        ("2024-01-01,a\n2024-13-01,b\n", "d = date, n = string", "`d` is `2024-13-01`, and not date",
         "in.csv:2:1: 2024-13-01"),
        ("1,2024-01-01 10:00:00\n2,03/04/2024 10:00\n", "id = int, t = timestamp",
         "line 2 of `in.csv` of `localfile` does not fit the schema: `t` is `03/04/2024 10:00`, and not timestamp",
         "in.csv:2:3: 03/04/2024 10:00"),
        ("1,2\nNA,3\n", "a = int, b = int", '`null_format = "NA"` reads it as NULL', "in.csv:2:1: NA"),
    ],
)  # fmt: skip
def test_a_bad_cell_is_shown_with_line_column_value_and_a_caret(said, text, schema, message, place):
    code, err = said("in.csv", text, f"schema {{ fields {{ {schema} }} }}")
    assert code == 1
    assert message in err
    assert place in err
    assert "^" * len(place.rpartition(" ")[2]) in err.partition(place)[2]
    assert "[null" not in err


def test_json_that_spans_lines_names_multi_line(said):
    for text in ('[\n  {\n    "id": 1\n  }\n]\n', '{\n  "id": 1\n}\n', '[{"id": 1},\n{"id": 2}]\n'):
        code, err = said("in.json", text)
        assert code == 1
        assert "`in.json` of `localfile` holds JSON that spans lines" in err
        assert "`multi_line = true`" in err
        assert said("in.json", text, SCHEMA + ", multi_line = true")[0] == 0


@pytest.mark.parametrize(
    ("value", "message", "place"),
    [
        (
            '"x"',
            "line 2 of `in.json` of `localfile` does not fit the schema: `id` is `x`, and not int",
            "in.json:2:9: x",
        ),
        ("1.5", "`id` is `1.5`, and not int", "in.json:2:8: 1.5"),
        ("3000000000", "`id` is `3000000000`, and not int", "in.json:2:8: 3000000000"),
    ],
)
def test_a_bad_field_of_json_is_shown_with_line_column_value_and_a_caret(said, value, message, place):
    code, err = said("in.json", f'{{"id": 1, "n": "a"}}\n{{"id": {value}, "n": "b"}}\n')
    assert code == 1
    assert message in err
    assert place in err
    assert "[null" not in err


def test_utf_16_is_named(said):
    for text, more in (("1,a\n2,b\n", ""), ("id,n\n1,a\n", ", csv_use_header_line = true")):
        code, err = said("in.csv", text.encode("utf-16"), SCHEMA + more)
        assert code == 1
        assert "`in.csv` of `localfile` is UTF-16" in err
        assert 'encoding = "UTF-16"' in err
        assert said("in.csv", text.encode("utf-16"), f'{SCHEMA}{more}, encoding = "UTF-16"')[0] == 0


def test_files_without_text_are_named(said):
    """Their header is one name, or their bytes are not UTF-8, but that is not what is wrong."""
    for content, message in (
        (gzip.compress(b"id,n\n1,a\n"), "is gzip, and no text"),
        (b"PAR1" + bytes(range(256)) + b"PAR1", "is Parquet, and no text"),
    ):
        code, err = said("in.csv", content, SCHEMA + ", csv_use_header_line = true")
        assert code == 1, err
        assert f"`in.csv` of `localfile` {message}" in err


def test_null_in_a_column_that_has_none_names_the_column(said):
    columns = "schema { columns = [{ name = id, type = int }, { name = n, type = string, nullable = false }] }"
    code, err = said("in.json", '{"id": 1, "n": null}\n', columns)
    assert code == 1
    assert "the column `n` of `localfile` is NULL in a row, and the schema says that it has no NULL" in err


def test_a_file_with_a_colon_in_its_name_is_explained(said):
    code, err = said("x:y.csv", "1,a\n")
    assert code == 1
    assert "`x:y.csv` of `localfile` cannot be read: Hadoop takes the `:` in its name for the end of a scheme" in err
    assert "rename the file, or read the folder above it" in err
    assert "FAILING" not in err, "it is tried once"


def test_compressed_files_that_are_damaged_are_named_and_not_retried(said):
    whole = gzip.compress(os.urandom(60_000).hex().encode())
    damaged = bytearray(whole)
    damaged[500:700] = bytes(200)
    for content, message in (
        (bytes(damaged), "`in.csv.gz` of `localfile` is a compressed file that is damaged"),
        (whole[:20_000], "`in.csv.gz` of `localfile` is a compressed file that is cut off"),
        (b"1,a\n", "`in.csv.gz` of `localfile` is"),
    ):
        code, err = said("in.csv.gz", content, "schema { fields { n = string } }")
        assert code == 1
        assert message in err
        assert "FAILING" not in err, "it is tried once"
        assert "CsvParserSettings" not in err


def test_parquet_files_of_several_types_have_a_remedy_that_helps(said):
    import pyarrow.parquet

    os.mkdir("mixed")
    for name, values in (("a", [1]), ("b", ["x"])):
        pyarrow.parquet.write_table(pyarrow.table({"id": values}), f"mixed/{name}.parquet")
    code, err = said("mixed", kind="parquet", more="")
    assert code == 1
    assert "the files have several types for it" in err
    assert "may be left out" not in err
    assert said("mixed", kind="parquet", more='file_filter_pattern = "a.parquet"')[0] == 0


def test_a_column_without_any_value_is_read(spark, said):
    """pandas writes a column of only None as Parquet's type null, which Spark reads."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2], "n": pyarrow.nulls(2)}), "in.parquet")
    code, err = said("in.parquet", more="")
    assert code == 0, err
    assert [tuple(row) for row in spark.read.parquet(f"{os.getcwd()}/out").orderBy("id").collect()] == [
        (1, None), (2, None),
    ]  # fmt: skip


def test_a_row_of_json_that_is_too_long_names_its_line_and_size(said):
    """Jackson's parser loses its place in a text of more than 20 MB, and complains of a character."""
    rows = b'{"id": 1, "n": "a"}\n{"id": 2, "n": "' + b"y" * (34 << 20) + b'"}\n'
    code, err = said("long.json", rows)
    assert code == 1, err
    assert "error[PEN5004]: line 2 of `" in err
    assert "long.json`, which `localfile` reads, has 34 MiB" in err
    assert "missing line break" in err
