"""`penstock describe` of web addresses and of tables in Spark's catalogs: its blocks validate and run."""

import gzip
import json

import pytest

from catalog.diagnostics import JobError, RunError
from engine.cli import main
from engine.describing.fetch import Fetched, fetch
from engine.describing.web_address import web_source
from tests.connectors.web.service import service

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


def run_block(block, folder, capsys, path="out"):
    """Validate and run the block with a sink; the rows that it wrote, as texts of JSON."""
    sink = f'sink {{ LocalFile {{ path = "{folder}/{path}", file_format_type = json }} }}\n'
    (folder / f"{path}.conf").write_text(block + sink)
    assert main(["validate", "--strict", f"{path}.conf"]) == 0, capsys.readouterr().out
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
    for name, text in (("a.json", "[1, 2]"), ("b.json", "{"), ("c.json", "[]")):
        (tmp_path / name).write_text(text)
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
