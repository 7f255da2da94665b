"""The job of the page on change data capture, and jobs as users of Apache SeaTunnel write them, on real databases."""

import re

import pytest

from catalog.compat import Compat
from engine.runtime.execute import run_job
from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.run_stream import run_stream
from tests.connectors.change_capture.capture_jobs import equal, stream
from tests.connectors.kafka.jobs import compiled
from tests.test_pages import ROOT, blocks

pytestmark = pytest.mark.spark
ORDERS = "create table orders (id bigint primary key, item text, amount numeric(12,2))"


def test_the_job_of_the_page(spark, tmp_path, captured, monkeypatch):
    (block,) = [block for block in blocks(ROOT / "docs" / "change-capture.md") if block["title"]]
    for name, value in (("URL", captured.url), ("USER", captured.user), ("PASSWORD", captured.password)):
        monkeypatch.setenv(f"SHOP_{name}", value)
    text = block["text"].replace('"1 second"', '"available_now"')
    captured.run(ORDERS, "insert into orders values (1, 'pen', 1.5), (2, 'ink', 2)")
    for change in ("update orders set amount = 3 where id = 1", "delete from orders where id = 2"):
        stream(spark, tmp_path, text)
        captured.run(change)
    stream(spark, tmp_path, text)
    assert equal(captured, "orders", "orders_copy", "id, item, amount") == 1


def ran(spark, folder, text):
    job = compiled(folder, text, Compat.SEATUNNEL_2)
    run = run_stream if "STREAMING" in text else run_job
    assert run(spark, job, RunRequest(new_run_id())).errors == ()


SEATUNNELS = """
env {{
  # You can set engine configuration here
  execution.parallelism = 1
  job.mode = "{mode}"
  checkpoint.interval = 5000
  read_limit.bytes_per_second=7000000
  read_limit.rows_per_second=400
}}
source {{
  {source}
}}
transform {{
}}
sink {{
  jdbc {{
    source_table_name = "customers"
    url = "{url}"
    driver = "{driver}"
    user = "{user}"
    password = "{password}"
    generate_sink_sql = true
    database = {database}
    table = {table}
    primary_keys = ["id"]
  }}
}}
"""
POSTGRES = """Postgres-CDC {{
    result_table_name = "customers"
    username = "{user}"
    password = "{password}"
    database-names = ["postgres"]
    schema-names = ["public"]
    table-names = ["postgres.public.orders"]
    base-url = "{url}?loggerLevel=OFF"
    decoding.plugin.name = "decoderbufs"
    exactly_once = true
    {more}
  }}"""
MYSQL = """MySQL-CDC {{
    result_table_name = "customers"
    server-id = 5652-5657
    username = "{user}"
    password = "{password}"
    table-names = ["test.orders"]
    base-url = "{url}"
    debezium {{ snapshot.mode = "initial" }}
    table-names-config = [ {{ table = "test.orders", primaryKeys = ["id"] }} ]
    {more}
  }}"""


@pytest.mark.parametrize("kind", [pytest.param("postgres", marks=pytest.mark.soak), "mariadb"])
def test_a_job_of_seatunnels(spark, tmp_path, captured, mariadb, kind):
    database = captured if kind == "postgres" else mariadb
    database.clear()
    connection = {"user": database.user, "password": database.password, "url": database.url}
    names = {"database": "postgres", "table": "public.copied", "driver": "org.postgresql.Driver"}
    if kind == "mariadb":
        names = {"database": "test", "table": "copied", "driver": "org.mariadb.jdbc.Driver"}
    template = POSTGRES if kind == "postgres" else MYSQL
    database.run(re.sub("text", "varchar(20)", ORDERS), "insert into orders values (1, 'pen', 1.5), (2, 'ink', 2)")
    source = template.format(more="", **connection)
    ran(spark, tmp_path, SEATUNNELS.format(mode="BATCH", source=source, **connection, **names))
    assert equal(database, "orders", "copied", "id, item, amount") == 2
    source = template.format(more='stop.mode = "latest"', **connection)
    text = SEATUNNELS.format(mode="STREAMING", source=source, **connection, **names)
    for change in ("update orders set id = 3 where id = 1", "delete from orders where id = 2"):
        ran(spark, tmp_path, text)
        database.run(change)
    ran(spark, tmp_path, text)
    assert equal(database, "orders", "copied", "id, item, amount") == 1
