"""Each file format with each of its codecs, and each archive: written by one job, read and compared by another.

The formats and codecs come from the connector's own tables, so that a new one is tested from its first day.
"""

import gzip
import tarfile
import zipfile
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.files.file_options import BROUGHT_CODECS, CODECS_OF_FORMAT, FORMATS
from engine.compile import Settings, compile_job

COLUMNS = {
    "id": ("int", "7"),
    "name": ("string", '"Zoë, \\"the\\" first"'),
    "price": ('"decimal(10,2)"', '"12.50"'),
    "ratio": ("double", "0.25"),
    "flag": ("boolean", "true"),
    "day": ("date", '"2024-02-29"'),
    "at": ("timestamp", '"2024-02-29T12:30:00"'),
    "nothing": ("string", "null"),
}
FIELDS = ", ".join(f"{name} = {type}" for name, (type, _) in COLUMNS.items())
VALUES = ", ".join(value for _, value in COLUMNS.values())
RULES = ", ".join(
    f"{{ field_name = {name}, field_value = [{{ {rule} }}] }}"
    for name, (_, value) in COLUMNS.items()
    for rule in ("rule_type = NULL" if value == "null" else f"equals_to = {value}",)
)
GIVEN = {"xml": 'xml_row_tag = "row"', "text": 'field_delimiter = "|"\n null_format = "NULL"'}
READ = {"excel": "skip_header_row_number = 1"}
"""What a source needs beside: an Excel sink writes a line with the names, as SeaTunnel's does."""

ARCHIVES = ("zip", "tar", "tar_gz", "gz")
ARCHIVED = ("csv", "json", "text", "xml", "excel")
"""The formats that are read out of archives."""


def run(spark, tmp_path: Path, text: str, name: str) -> None:
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest
    from engine.state.run_state import State

    path = tmp_path / f"{name}.conf"
    path.write_text(f"env {{ parallelism = 4 }}\n{text}")
    diagnostics = Diagnostics()
    compiled = compile_job(path, Settings({"work": str(tmp_path)}), diagnostics)
    assert compiled is not None, diagnostics.items
    result = run_job(spark, compiled, RunRequest(name))
    assert result.state is State.FINISHED, result.diagnostics


def written(kind: str, codec: str) -> str:
    codecs = f"compress_codec = {codec}" if codec != "none" or kind not in ("excel", "binary") else ""
    return f"""LocalFile {{ plugin_input = rows, path = "${{work}}/{kind}-{codec}", file_format_type = {kind}
 {GIVEN.get(kind, "")}
 {codecs} }}"""


def read(name: str, kind: str, path: str, more: str = "") -> tuple[str, str]:
    source = f"""LocalFile {{ plugin_output = "{name}", path = "${{work}}/{path}", file_format_type = {kind}
 {GIVEN.get(kind, "")}
 {READ.get(kind, "")}
 {more}
 schema {{ fields {{ {FIELDS} }} }} }}"""
    sink = f"""Assert {{ plugin_input = "{name}", rules {{
 row_rules = [{{ rule_type = MIN_ROW, rule_value = 1 }}, {{ rule_type = MAX_ROW, rule_value = 1 }}]
 field_rules = [{RULES}] }} }}"""
    return source, sink


def reading(parts: list[tuple[str, str]]) -> str:
    sources, sinks = zip(*parts, strict=True)
    return "source {{\n{}\n}}\nsink {{\n{}\n}}".format("\n".join(sources), "\n".join(sinks))


def pack(files: list[Path], codec: str, target: Path) -> None:
    target.mkdir()
    match codec:
        case "zip":
            with zipfile.ZipFile(target / "rows.zip", "w") as archive:
                for file in files:
                    archive.write(file, file.name)
        case "tar" | "tar_gz":
            with tarfile.open(
                target / f"rows.{codec.replace('_', '.')}", "w:gz" if codec == "tar_gz" else "w"
            ) as archive:
                for file in files:
                    archive.add(file, file.name)
        case "gz":
            for file in files:
                (target / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))


@pytest.mark.spark
@pytest.mark.parametrize("kind", [kind for kind in CODECS_OF_FORMAT if kind != "binary"])
def test_each_codec_and_archive_keeps_the_rows(spark, tmp_path, monkeypatch, kind):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    codecs = [codec for codec in CODECS_OF_FORMAT[kind] if codec not in BROUGHT_CODECS.get(kind, ())]
    sinks = "\n".join(written(kind, codec) for codec in codecs)
    run(spark, tmp_path, f"""
source {{ FakeSource {{ plugin_output = rows, schema {{ fields {{ {FIELDS} }} }}
 rows = [{{ kind = INSERT, fields = [{VALUES}] }}] }} }}
sink {{ {sinks} }}""", "write")  # fmt: skip
    parts = [read(f"{kind}_{codec}", kind, f"{kind}-{codec}") for codec in codecs]
    if kind in ARCHIVED:
        files = [file for file in (tmp_path / f"{kind}-none").iterdir() if not file.name.startswith(("_", "."))]
        for codec in ARCHIVES:
            pack(files, codec, tmp_path / f"{kind}-in-{codec}")
            more = f"archive_compress_codec = {codec}"
            parts.append(read(f"{kind}_in_{codec}", kind, f"{kind}-in-{codec}", more))
    if kind == "csv":
        run(spark, tmp_path, """
source { LocalFile { path = "${work}/csv-none", file_format_type = binary } }
sink { LocalFile { path = "${work}/copied", file_format_type = binary } }""", "copy")  # fmt: skip
        parts.append(read("copied", "csv", "copied"))
    run(spark, tmp_path, reading(parts), "read")


@pytest.mark.spark
def test_lzo_files_have_the_names_that_seatunnel_gives_them(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    run(spark, tmp_path, f"""
source {{ FakeSource {{ plugin_output = rows, schema {{ fields {{ {FIELDS} }} }}
 rows = [{{ kind = INSERT, fields = [{VALUES}] }}] }} }}
sink {{ {written("text", "lzo")} }}""", "write")  # fmt: skip
    (tmp_path / "theirs").mkdir()
    [file] = (tmp_path / "text-lzo").glob("*.lzo")
    file.rename(tmp_path / "theirs" / "T_1.lzo.txt")
    run(spark, tmp_path, reading([read("theirs", "text", "theirs", "compress_codec = lzo")]), "read")
    (tmp_path / "theirs" / "T_2.lzo.txt").write_text("plain")
    with pytest.raises(AssertionError, match="is no lzo archive"):
        run(spark, tmp_path, reading([read("theirs", "text", "theirs", "compress_codec = lzo")]), "broken")


def test_each_format_has_its_codecs():
    assert set(CODECS_OF_FORMAT) == set(FORMATS)


@pytest.mark.parametrize(("kind", "codec"), [("parquet", "brotli"), ("parquet", "LZO"), ("orc", "brotli")])
def test_a_codec_that_spark_does_not_bring_is_a_warning(tmp_path, kind, codec):
    job = tmp_path / "job.conf"
    job.write_text(f"""
source {{ FakeSource {{ schema {{ fields {{ id = int }} }} }} }}
sink {{ LocalFile {{ path = "{tmp_path}/out", file_format_type = {kind}, compress_codec = {codec} }} }}""")
    diagnostics = Diagnostics()
    assert compile_job(job, Settings(), diagnostics) is not None
    assert [(warning.code, warning.severity.value) for warning in diagnostics] == [("PEN4033", "warning")]
