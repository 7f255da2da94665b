"""What validates, runs: the declared schema of a source against what its files hold."""

import json

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.types.typenames import parse_type
from connectors.delta.connector import connector as delta
from connectors.files.file_types import can_read_as
from connectors.local_file import connector
from engine.cli import main
from tests.connectors.given_options import options_of

JOB = """
env {{ job.mode = "{mode}" }}
source {{ LocalFile {{ path = "{path}", file_format_type = "csv", schema {{ fields {{ id = int }} }} }} }}
sink {{ Console {{}} }}
"""


def test_a_streaming_job_that_cannot_stream_does_not_validate(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("1\n")
    for path in (f"{tmp_path}/*.csv", f"{tmp_path}/a.csv"):
        (tmp_path / "job.conf").write_text(JOB.format(mode="STREAMING", path=path))
        assert main(["validate", str(tmp_path / "job.conf")]) == 2
        said = capsys.readouterr().out
        assert "error[PEN2030]: `localfile` cannot be read as a stream: `path` must be a folder" in said
    (tmp_path / "job.conf").write_text(JOB.format(mode="STREAMING", path=tmp_path))
    assert main(["validate", str(tmp_path / "job.conf")]) == 0


@pytest.mark.parametrize(
    ("sink", "code", "message"),
    [
        ('LocalFile {{ path = "{0}/a.csv", file_format_type = json }}', "PEN5005", "a.csv` is a file"),
        ('LocalFile {{ path = "{0}/a.csv/out", file_format_type = json }}', "PEN5005", "a.csv` is a file"),
        ('Delta {{ path = "{0}/a.csv" }}', "PEN5005", "a.csv` is a file"),
        ('Delta {{ path = "{0}" }}', "PEN5005", "holds files that are not a Delta table, such as `a.csv`"),
    ],
)
def test_a_target_that_no_run_can_write_is_an_error(tmp_path, capsys, sink, code, message):
    (tmp_path / "a.csv").write_text("1\n")
    job = tmp_path / "jobs" / "job.conf"
    job.parent.mkdir()
    (tmp_path / "in").mkdir()
    source = JOB.format(mode="BATCH", path=f"{tmp_path}/in").replace("Console {}", sink.format(tmp_path))
    job.write_text(source)
    assert main(["validate", str(job)]) == 2
    said = capsys.readouterr().out
    assert f"error[{code}]" in said
    assert message in said


@pytest.mark.parametrize("kind", ["parquet", "orc", "csv"])
def test_a_damaged_file_is_an_error_with_a_remedy_that_helps(tmp_path, capsys, kind):
    pytest.importorskip("pyarrow")
    file = tmp_path / ("a.csv.gz" if kind == "csv" else f"a.{kind}")
    file.write_text("cut off")
    header = "csv_use_header_line = true" if kind == "csv" else ""
    (tmp_path / "job.conf").write_text(
        f'source {{ LocalFile {{ path = "{file}", file_format_type = {kind}, {header} }} }}\nsink {{ Console {{}} }}\n'
    )
    assert main(["validate", str(tmp_path / "job.conf")]) == 2
    said = capsys.readouterr().out
    assert "cannot be read" in said
    assert "check that the file is whole" in said
    assert "name its columns" not in said


def test_a_missing_path_is_a_warning_and_with_strict_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.conf").write_text(JOB.format(mode="BATCH", path="data/in.csv"))
    assert main(["validate", "job.conf"]) == 0
    assert f"warning[PEN4030]: no file is at `{tmp_path}/data/in.csv`" in capsys.readouterr().out
    assert main(["validate", "--strict", "job.conf"]) == 2
    assert "error[PEN4030]" in capsys.readouterr().out


def test_a_delta_column_that_the_log_lacks_is_an_error(tmp_path):
    log = tmp_path / "_delta_log"
    log.mkdir()
    fields = [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]
    action = {"metaData": {"schemaString": json.dumps({"type": "struct", "fields": fields})}}
    (log / f"{0:020}.json").write_text(json.dumps(action))
    diagnostics = Diagnostics()
    options = options_of(delta.source_options, path=str(tmp_path), schema={"fields": {"ID": "bigint", "idd": "string"}})
    delta.tables(options, diagnostics)
    [error] = diagnostics
    assert (error.code, error.severity.value, error.help) == ("PEN3004", "error", "did you mean `id`?")
    assert "`idd`" in error.message


def test_a_parquet_type_unlike_the_declared_one_is_an_error(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"id": ["x"]}), str(tmp_path / "a.parquet"))
    options = options_of(
        connector.source_options, path=str(tmp_path), file_format_type="parquet", schema={"fields": {"id": "bigint"}}
    )
    diagnostics = Diagnostics()
    connector.tables(options, diagnostics)
    [error] = diagnostics
    assert error.severity.value == "error"
    assert "`id` is declared bigint, but" in error.message


TYPES = {
    "boolean": "true", "smallint": "1S", "bigint": "1L", "float": "1f", "decimal(10,2)": "cast(1 as decimal(10,2))",
    "decimal(22,2)": "cast(1 as decimal(22,2))", "string": "'1'", "binary": "X'31'", "date": "date'2020-01-01'",
    "timestamp": "timestamp'2020-01-01 00:00:00'", "array<int>": "array(1)",
}  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["parquet", pytest.param("orc", marks=pytest.mark.soak)])
def test_which_types_can_be_read_as_which_is_what_spark_does(spark, tmp_path, kind):
    path = str(tmp_path / "t")
    spark.sql("select " + ", ".join(f"{value} as `{name}`" for name, value in TYPES.items())).write.format(kind).save(
        path
    )
    readers = {}
    for held in TYPES:
        for declared in ("int", "bigint", "double", "decimal(22,2)", "string", "date", "timestamp"):
            try:
                spark.read.schema(f"`{held}` {declared}").format(kind).load(path).collect()
                readers[held, declared] = True
            except Exception:  # noqa: BLE001 (whatever Spark raises, it does not read the column)
                readers[held, declared] = False
    ours = {pair: can_read_as(kind, parse_type(pair[0]), parse_type(pair[1])) for pair in readers}
    assert {pair for pair in readers if readers[pair] != ours[pair]} == set()
