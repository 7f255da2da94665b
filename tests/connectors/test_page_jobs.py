"""The first job of each page of a connector runs as it is there, but for the places of its servers and files."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from tests.connectors.http_.service import service
from tests.connectors.kafka.jobs import run
from tests.services.file_servers import PASSWORD
from tests.services.s3 import SECRET_KEY

pytestmark = pytest.mark.spark
DOCS = Path(__file__).parents[2] / "docs"
ORDERS = [(1, "A", Decimal("1.50")), (2, "B", Decimal("2.00"))]


def page_job(page: str, replaced: dict[str, str], number: int = 0) -> str:
    """A job of a page with other texts in it, each of which it must have."""
    jobs = re.findall(r"```hocon[^\n]*\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    text = jobs[number]
    for old, new in replaced.items():
        assert old in text, f"{page}: {old}"
        text = text.replace(old, new)
    return text


def ended(spark, folder: Path, text: str) -> None:
    assert run(spark, folder, text).errors == ()


def kept(df) -> list[tuple]:
    return sorted(tuple(row) for row in df.collect())


def test_delta(spark, tmp_path):
    changes = spark.sql("select 1L id, date'2024-01-01' day, timestamp'2024-01-01 10:00:00' at")
    changes.write.format("delta").save(str(tmp_path / "changes"))
    ended(spark, tmp_path, page_job("delta.md", {"/data/changes": f"{tmp_path}/changes", "/lake": f"{tmp_path}/lake"}))
    assert spark.read.format("delta").load(f"{tmp_path}/lake/orders").count() == 1


def test_paimon(spark, tmp_path):
    rows = '{ kind = INSERT, fields = [1, "2024-01-01", 5] }'
    fake = f"FakeSource {{ schema {{ fields {{ id = bigint, day = string, n = int }} }}, rows = [{rows}] }}"
    ended(spark, tmp_path, f'source {{ {fake} }}\nsink {{ Paimon {{ path = "{tmp_path}/changes" }} }}')
    places = {"/data/changes": f"{tmp_path}/changes", "/data/warehouse": f"{tmp_path}/warehouse"}
    ended(spark, tmp_path, page_job("paimon.md", places))
    assert (tmp_path / "warehouse/sales.db/orders/snapshot/LATEST").exists()


def test_iceberg(spark, tmp_path):
    """A warehouse of a directory stands for the REST catalog."""
    fields = "id = bigint, ordered_at = timestamp, changed_at = timestamp"
    row = '{ kind = INSERT, fields = [1, "2024-01-01T10:00:00", "2024-01-02T10:00:00"] }'
    fake = f"FakeSource {{ schema {{ fields {{ {fields} }} }}, rows = [{row}] }}"
    changes = f'Iceberg {{ warehouse = "{tmp_path}", table = "sales.changes" }}'
    ended(spark, tmp_path, f"source {{ {fake} }}\nsink {{ {changes} }}")
    settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop", ".warehouse": f"{tmp_path}/lake"}
    for name, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.lake{name}", value)  # `env` makes a session, and this one is there
    try:
        ended(spark, tmp_path, page_job("iceberg.md", {"/data/warehouse": str(tmp_path)}))
    finally:
        for name in settings:
            spark.conf.unset(f"spark.sql.catalog.lake{name}")
    assert spark.read.format("iceberg").load(f"{tmp_path}/lake/sales/orders").count() == 1


def test_kafka(spark, tmp_path, kafka):
    topic = kafka.topic()
    kafka.send(topic, [json.dumps({"id": id, "customer": name, "amount": str(many)}) for id, name, many in ORDERS])
    places = {"broker1:9092,broker2:9092": kafka.servers, 'topic = "orders"': f'topic = "{topic}"',
              "lake/orders": f"{tmp_path}/orders"}  # fmt: skip
    ended(spark, tmp_path, page_job("kafka.md", places))
    assert kept(spark.read.format("delta").load(f"{tmp_path}/orders")) == ORDERS


def test_jdbc(spark, tmp_path, postgres, mariadb):
    for database in (postgres, mariadb):
        database.clear()
    postgres.run("create table customers (id bigint primary key, name varchar(9))")
    postgres.run("insert into customers values (1, 'Ann'), (2, 'Bob')")
    (tmp_path / "mart").write_text(str(mariadb.password))
    places = {"jdbc:postgresql://db:5432/shop": postgres.url, "jdbc:mariadb://mart:3306/mart": mariadb.url,
              '"etl"': f'"{postgres.user}"', "${?SHOP_PASSWORD}": f'"{postgres.password}"',
              "/run/secrets/mart": f"{tmp_path}/mart"}  # fmt: skip
    ended(spark, tmp_path, page_job("databases.md", places))
    assert mariadb.rows("select id, name from customers order by id") == [(1, "Ann"), (2, "Bob")]


def test_s3(s3_spark, tmp_path, s3, monkeypatch):
    raw, reports = s3.bucket(), s3.bucket()
    monkeypatch.setenv("S3_KEY", "key")
    monkeypatch.setenv("S3_SECRET", SECRET_KEY)
    server = f'fs.s3a.endpoint = "{s3.endpoint}"\n    hadoop_s3_properties {{ "fs.s3a.path.style.access" = "true" }}'
    s3_spark.createDataFrame(
        [(1, "n", Decimal("1.50")), (2, "n", Decimal("2.00"))], "id long, region string, amount decimal(10,2)"
    ).coalesce(1).write.parquet(f"{tmp_path}/orders")
    (file,) = (tmp_path / "orders").glob("*.parquet")
    s3.client.upload_file(str(file), raw.bucket, "orders/2024-02-01/orders.parquet")
    places = {"s3a://sales-raw": str(raw), "s3a://sales-reports": str(reports),
              "access_key = ${?S3_KEY}": f"access_key = ${{?S3_KEY}}\n    {server}"}  # fmt: skip
    ended(s3_spark, tmp_path, page_job("how-to/object-store.md", places))
    assert [key for key in reports.keys() if key.endswith(".parquet")]  # noqa: SIM118 (of a bucket)


def test_sftp(spark, tmp_path, sftp, monkeypatch):
    monkeypatch.setenv("SFTP_PASSWORD", PASSWORD)
    (sftp.folder / "in" / "orders").mkdir(parents=True)
    (sftp.folder / "in" / "orders" / "a.csv").write_text("id,amount\n1,1.50\n")
    places = {"host = files.example.com": f"host = 127.0.0.1, port = {sftp.port}",
              'private_key_file = "~/.ssh/etl"': "password = ${?SFTP_PASSWORD}",
              'host_key = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"': ""}  # fmt: skip
    ended(spark, tmp_path, page_job("how-to/file-servers.md", places))
    assert list((sftp.folder / "out" / "orders").glob("*.parquet"))


def test_http(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "t1")
    monkeypatch.setenv("HOOK_TOKEN", "t2")
    pages = {"1": [{"id": 1, "amount": 1.5}], "2": []}

    def answer(request):
        return {"data": pages[request.params["page"]]} if request.method == "GET" else {}

    with service(answer) as served:
        out = f"{tmp_path}/out/orders"
        ended(spark, tmp_path, page_job("how-to/web-services.md",
                                        {"https://api.example.com": served.url, "out/orders": out}))  # fmt: skip
        ended(spark, tmp_path, page_job("how-to/web-services.md",
                                        {"https://hooks.example.com": served.url, "in/orders": out}, 1))  # fmt: skip
    *read, sent = served.requests
    assert {request.headers["authorization"] for request in read} == {"Bearer t1"}
    assert (sent.headers["authorization"], json.loads(sent.body)) == ("Bearer t2", [{"id": 1, "amount": 1.5}])
