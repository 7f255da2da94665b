"""A row or byte that cannot be read is reported with its file and line; bytes are never replaced silently."""

import gzip

import pytest

from connectors.files.bad_lines import line_not_utf8, line_with
from engine.cli import main

JOB = """
env {{ job.name = "bad", job.retry.times = 0, state_dir = "{folder}/state" }}
source {{ LocalFile {{ path = "{folder}/{file}", file_format_type = {kind}, {more} }} }}
sink {{ LocalFile {{ path = "{folder}/out", file_format_type = "json", data_save_mode = DROP_DATA }} }}
"""
SCHEMA = "schema { fields { id = int, name = string } }"
HEADER = f"csv_use_header_line = true, {SCHEMA}"


def test_the_line_of_a_text(tmp_path):
    plain, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    plain.write_bytes(b"id,name\n1,caf\xe9\n2,x\n3,x\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for file in (str(plain), str(packed)):
        assert line_with(file, ["2", "x"]) == 3
        assert line_with(file, ["x"]) is None  # two lines have it
        assert line_with(file, ["nothing"]) is None
        assert line_not_utf8(file) == 2
    assert line_with(str(tmp_path / "nowhere"), ["1"]) is None


@pytest.mark.spark
@pytest.mark.parametrize(
    ("file", "content", "kind", "more", "said"),
    [
        (
            "a.csv",
            b"id,name\n1,ok\n2,caf\xe9\n",
            "csv",
            HEADER,
            "line 3 of `{folder}/a.csv` of `localfile` holds bytes",
        ),
        ("a.json", b'{"id":1}\n{"id":2,"name":"caf\xe9"}\n', "json", SCHEMA, "line 2 of `{folder}/a.json`"),
        ("a.txt", b"ok\ncaf\xe9\n", "text", "", "line 2 of `{folder}/a.txt` of `localfile` holds bytes"),
        (
            "b.csv",
            b"id,name\n1,a\nabc,b\n3,c\n",
            "csv",
            HEADER,
            "line 3 of `{folder}/b.csv` of `localfile` does not fit",
        ),
        (
            "b.json",
            b'{"id":1}\n{"id":"abc"}\n',
            "json",
            SCHEMA,
            "line 2 of `{folder}/b.json` of `localfile` does not fit",
        ),
    ],
)
def test_a_bad_row_names_file_and_line(spark, tmp_path, capsys, file, content, kind, more, said):
    (tmp_path / file).write_bytes(content)
    (tmp_path / "job.conf").write_text(JOB.format(folder=tmp_path, file=file, kind=kind, more=more))
    assert main(["run", str(tmp_path / "job.conf")]) == 1
    shown = capsys.readouterr()
    assert said.format(folder=tmp_path) in shown.err + shown.out
    assert "PEN5004" in shown.err + shown.out
    assert not (tmp_path / "out").exists()


@pytest.mark.spark
def test_bytes_that_are_not_utf8_are_replaced_where_the_job_says_so(spark, tmp_path, capsys):
    (tmp_path / "a.csv").write_bytes(b"id,name\n1,caf\xe9\n")
    more = f'encoding_errors = "replace", {HEADER}'
    (tmp_path / "job.conf").write_text(JOB.format(folder=tmp_path, file="a.csv", kind="csv", more=more))
    assert main(["run", str(tmp_path / "job.conf")]) == 0
    assert spark.read.json(str(tmp_path / "out")).first()["name"] == "caf\ufffd"
    capsys.readouterr()
