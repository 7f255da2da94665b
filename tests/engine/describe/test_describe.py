"""`penstock describe` of web addresses and of tables in Spark's catalogs: its blocks validate and run."""

import gzip
import json

import pytest

from catalog.diagnostics.diagnostic import JobError, RunError
from engine.cli import main
from engine.describe.fetch import Fetched, fetch
from engine.describe.guess import guess
from engine.describe.web_address import web_source
from tests.connectors.http_.service import service

ORDERS = "id,zip,paid,amount\n1,01234,2024-01-31,19.50\n2,99999,NA,3.25\n"
TYPES = {"id": "int", "zip": "string", "paid": "date", "amount": '"decimal(10,2)"'}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    return tmp_path


def fields_of(block):
    lines = [line for line in block.split("fields {")[1].split("}")[0].splitlines() if "=" in line]
    return {name.strip().strip('"'): type.strip() for name, type in (line.split("=", 1) for line in lines)}


def run_block(block, folder, capsys, path="out", strict="--strict"):
    """Validate and run the block with a sink; the rows that it wrote, as texts of JSON."""
    sink = f'sink {{ LocalFile {{ path = "{folder}/{path}", file_format_type = json }} }}\n'
    (folder / f"{path}.conf").write_text(block + sink)
    assert main(["validate", strict, f"{path}.conf"]) == 0, capsys.readouterr().out
    assert main(["run", f"{path}.conf"]) == 0, capsys.readouterr().err
    capsys.readouterr()
    lines = [line for file in (folder / path).glob("*.json") for line in file.read_text().splitlines()]
    return sorted(map(json.loads, lines), key=str)


@pytest.mark.spark
def test_describe_of_a_csv_or_parquet_address_prints_its_block_and_how_to_fetch_it(spark, folder, capsys):
    spark.sql("select 1 id, timestamp'2024-01-01 10:00:00' seen").write.parquet(str(folder / "lake"))
    (part,) = (folder / "lake").glob("*.parquet")
    answers = {"/orders.csv.gz": gzip.compress(ORDERS.encode()), "/export": ORDERS, "/t.parquet": part.read_bytes()}

    def answer(request):
        return 200, answers[request.path], {"Content-Type": "text/csv"}

    with service(answer) as running:
        base = running.url.removesuffix("/items")
        assert main(["describe", f"{base}/orders.csv.gz?sig=hidden"]) == 0
        block = capsys.readouterr().out
        assert f"#   curl -fLo orders.csv.gz '{base}/orders.csv.gz?sig=******'\n" in block
        assert 'path = "orders.csv.gz"' in block
        assert fields_of(block) == TYPES
        assert main(["describe", f"{base}/export"]) == 0  # its content type says what it is
        assert fields_of(capsys.readouterr().out) == TYPES
        assert main(["describe", f"{base}/t.parquet", "--sql"]) == 0
        assert "seen TIMESTAMP" in capsys.readouterr().out
    (folder / "orders.csv.gz").write_bytes(answers["/orders.csv.gz"])
    absolute = block.replace('path = "orders.csv.gz"', f'path = "{folder}/orders.csv.gz"')
    assert [row.get("paid") for row in run_block(absolute, folder, capsys)] == ["2024-01-31", None]


@pytest.mark.spark
def test_describe_of_a_json_address_prints_an_http_source_that_runs(spark, folder, capsys):
    rows = [{"id": 1, "name": "a", "tags": ["x"]}, {"id": 2, "name": None, "at": {"lat": 1.5}}]
    answers = {
        "/rows": rows,
        "/inside": {"count": 2, "items": rows},
        "/lines.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
    }

    def answer(request):
        text = answers[request.path]
        return 200, text if isinstance(text, str) else json.dumps(text), {"Content-Type": "application/json"}

    with service(answer) as running:
        base = running.url.removesuffix("/items")
        for path, option in (("/rows", None), ("/inside", "content_field"), ("/lines.jsonl", "enable_multi_lines")):
            assert main(["describe", base + path, "--name", "t"]) == 0
            block = capsys.readouterr().out
            assert list(fields_of(block)) == ["id", "name", "tags", "at"]
            assert "Http {" in block
            assert option is None or f"{option} = " in block
            found = run_block(block, folder, capsys, path.strip("/").partition(".")[0])
            assert [row["id"] for row in found] == [1, 2]
            assert found[1]["at"] == {"lat": 1.5}


def test_a_web_address_that_cannot_be_described_has_a_remedy(tmp_path):
    def answer(request):
        return {"/missing": (404, "", {}), "/page": (200, "<html>", {"Content-Type": "text/html"})}.get(
            request.path, (200, "x" * 5000, {})
        )

    with service(answer) as running:
        base = running.url.removesuffix("/items")
        with pytest.raises(RunError, match=r"PEN5040.*404"):
            fetch(f"{base}/missing", tmp_path)
        with pytest.raises(JobError, match="holds more than 0 MB"):
            fetch(f"{base}/large.csv", tmp_path, most_bytes=1000)
        with pytest.raises(JobError, match="its content type is `text/html`"):
            web_source(f"{base}/page", fetch(f"{base}/page", tmp_path))
        assert fetch(f"{base}/a%0Ab%3B%20rm.csv", tmp_path).name == "a_b_rm.csv"
    with pytest.raises(RunError, match="PEN5004"):
        fetch(f"{base}/gone", tmp_path)
    documents = {"a.json": b"[1, 2]", "b.json": b"{", "c.json": b"[]", "d.json": gzip.compress(b'[{"a": 1}]')[:-9]}
    for name, content in documents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(JobError, match="PEN4032"):
            web_source(f"http://host/{name}", Fetched(tmp_path / name, name, "application/json"))


@pytest.mark.spark
@pytest.mark.delta
def test_describe_of_a_catalog_table_prints_a_table_source_that_runs(spark, folder, capsys):
    prefix = "spark.sql.catalog.ice"
    conf = {prefix: "org.apache.iceberg.spark.SparkCatalog", f"{prefix}.type": "hadoop"}
    conf[f"{prefix}.warehouse"] = str(folder / "warehouse")
    settings = [argument for key, value in conf.items() for argument in ("--conf", f"{key}={value}")]
    spark.sql(f"create database described location '{folder / 'described'}'")
    try:
        for key, value in conf.items():
            spark.conf.set(key, value)
        spark.sql("create table ice.sales.orders using iceberg as select 1L id, 1.50 amount")
        spark.sql("create table described.people using delta as select 1 id, 'a' name")
        assert main(["describe", "ice.sales.orders", *settings]) == 0
        block = capsys.readouterr().out
        assert fields_of(block) == {"id": "bigint", "amount": '"decimal(3,2)"'}
        assert f'"{prefix}.type" = hadoop' in block
        (folder / "lake.conf").write_text(block + "sink { Console {} }\n")
        assert main(["validate", "--strict", "lake.conf"]) == 0  # the session of the tests is without its catalog
        capsys.readouterr()
        assert main(["describe", "described.people"]) == 0
        block = capsys.readouterr().out
        assert block.startswith("source {\n  Table {\n    plugin_output = people\n")
        assert run_block(block, folder, capsys, "people") == [{"id": 1, "name": "a"}]
        assert main(["describe", "described.poeple"]) == 1
        said = capsys.readouterr().err
        assert "error[PEN5004]: `described.poeple` cannot be read" in said
        assert "--conf spark.sql.catalog.lake=" in said
    finally:
        spark.sql("drop database described cascade")
        for key in conf:
            spark.conf.unset(key)


def test_a_setting_that_is_none_of_spark_s_is_refused(capsys):
    assert main(["describe", "t", "--conf", "master=local"]) == 2
    assert "`master` is no setting of Spark" in capsys.readouterr().err


@pytest.mark.spark
def test_a_file_that_cannot_be_read_has_a_remedy(folder, capsys):
    text = "".join(f"{number},{number * 7919 % 1009}\n" for number in range(5000))
    whole = gzip.compress(text.encode())
    files = {
        "zero.csv": b"",
        "zero.json": b"",
        "zero.csv.gz": gzip.compress(b""),
        "bad.csv.gz": b"not gz",
        "cut.csv.gz": whole[:200],
        "damaged.csv.gz": whole[:12] + b"\xff" * 48 + whole[60:],
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    for name, reason in (
        ("zero.csv", "is empty"),
        ("zero.json", "is empty"),
        ("zero.csv.gz", "is empty"),
        ("bad.csv.gz", "cannot be read: it is not a gzip file"),
        ("cut.csv.gz", "cannot be read: the gzip file is cut off"),
        ("damaged.csv.gz", "cannot be read: the gzip file is damaged"),
    ):
        assert main(["describe", name]) == 1
        reported = capsys.readouterr().err
        assert f"error[PEN5004]: `{name}` {reason}" in reported
        assert "= help: " in reported


@pytest.mark.spark
def test_a_folder_without_files_is_not_taken_for_a_table(folder, capsys):
    (folder / "landing").mkdir()
    (folder / "landing" / "_SUCCESS").touch()
    assert main(["describe", "landing"]) == 2
    reported = capsys.readouterr().err
    assert f"error[PEN4030]: the folder `{folder / 'landing'}` holds no files" in reported
    assert "what begins with `_` or `.` is not read" in reported


def test_the_format_is_read_from_the_first_file_that_is_not_empty(folder):
    (folder / "parts").mkdir()
    (folder / "parts" / "a.csv").touch()
    (folder / "parts" / "b.csv").write_text("id;name\n1;a\n")
    assert guess("parts").options["field_delimiter"] == ";"


@pytest.mark.spark
def test_a_quoted_value_over_several_lines_is_described(spark, folder, capsys):
    (folder / "nl.csv").write_text('x,y\n1,"a\nb"\n')
    assert main(["describe", str(folder / "nl.csv")]) == 0
    block = capsys.readouterr().out
    assert "multi_line = true" in block
    assert fields_of(block) == {"x": "int", "y": "string"}
    assert run_block(block, folder, capsys) == [{"x": 1, "y": "a\nb"}]


@pytest.mark.spark
def test_a_row_that_does_not_fit_is_reported_with_its_line_and_a_remedy(spark, folder, capsys):
    (folder / "ragged.csv").write_text("id,name\n1,a,extra\n2\n")
    (folder / "late.csv").write_text("x,y\n" + "1,a\n" * 2000 + '2,"a\nb"\n')  # after the lines that are looked at
    (folder / "blank.csv").write_text("\n\n")
    for name, message, help in (
        (
            "ragged.csv",
            f"line 2 of `{folder}/ragged.csv` does not fit the schema: 1,a,extra",
            '`on_malformed = "drop"`',
        ),
        ("late.csv", f'line 2003 of `{folder}/late.csv` does not fit the schema: b"', "`multi_line = true`"),
        ("blank.csv", f"`{folder}/blank.csv` has no columns", "a header or rows"),
    ):
        assert main(["describe", f"{folder}/{name}"]) == 1
        reported = capsys.readouterr().err
        assert f"error[PEN5004]: {message}\n" in reported
        assert help in reported
    assert main(["describe", f"{folder}/late.csv", "--sample", "1000"]) == 0  # as the help says
    assert fields_of(capsys.readouterr().out) == {"x": "int", "y": "string"}


@pytest.mark.spark
def test_a_compressed_file_that_is_cut_off_late_is_reported(spark, folder, capsys):
    whole = gzip.compress("".join(f"{number},{number * 7919 % 1009}\n" for number in range(5000)).encode())
    (folder / "cut.csv.gz").write_bytes(whole[:-2000])
    assert main(["describe", f"{folder}/cut.csv.gz"]) == 1
    assert (
        f"error[PEN5004]: `{folder}/cut.csv.gz` cannot be read: a compressed file is cut off" in capsys.readouterr().err
    )


@pytest.mark.spark
def test_json_keys_that_differ_only_in_case_are_named(spark, folder, capsys):
    (folder / "case.json").write_text('{"id":1,"A":1,"a":2}\n{"id":2}\n')
    assert main(["describe", f"{folder}/case.json"]) == 1
    reported = capsys.readouterr().err
    assert f"`{folder}/case.json` cannot be read: its keys `A` and `a` differ only in case" in reported
    assert "whose `schema` has only one" in reported
    fields = "schema { fields { id = int, A = int } }"  # as the help says
    block = f'source {{ LocalFile {{ path = "{folder}/case.json", file_format_type = json, {fields} }} }}\n'
    rows = run_block(block, folder, capsys, strict="--strict=types")  # PEN4503 says that `a` is not read
    assert rows == [{"id": 1, "A": 1}, {"id": 2, "A": None}]
