"""Changes of MariaDB as streams: what the sinks hold at the end is what the tables hold."""

from datetime import datetime

import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.in_memory import ROWS
from tests.connectors.change_capture.capture_jobs import (
    ChangingRows,
    equal,
    jdbc,
    job,
    kept,
    purge_log,
    source,
    stream,
)
from tests.connectors.kafka.jobs import run

pytestmark = pytest.mark.spark
ORDERS = "create table orders (id bigint primary key, name varchar(50), amount decimal(12,2))"
MEMORY = "InMemory { plugin_input = changes }"
TYPES = {
    "i1": ("tinyint", "-5"), "u1": ("tinyint unsigned", "200"), "b1": ("tinyint(1)", "1"), "i2": ("smallint", "-300"),
    "u2": ("smallint unsigned", "65535"), "i3": ("mediumint", "-8000000"), "u3": ("mediumint unsigned", "16000000"),
    "i4": ("int", "-2147483648"), "u4": ("int unsigned", "4000000000"), "i8": ("bigint", "-9007199254740993"),
    "u8": ("bigint unsigned", "18446744073709551615"), "d1": ("decimal(10,2)", "-1.50"),
    "d2": ("decimal(38,10)", "0.1"),
    "d3": ("decimal(65,10)", "-12345678901234567890.0000000001"), "f8": ("double", "2.2"), "f4": ("float", "1.5"),
    "dt": ("date", "'2024-02-29'"), "t6": ("datetime(6)", "'2024-02-29 12:00:01.123456'"),
    "t0": ("datetime", "'1582-10-15 00:00:00'"), "ts": ("timestamp(3) null", "'2024-02-29 12:00:01.123'"),
    "tm2": ("time(2)", "'-12:00:01.5'"), "tm0": ("time", "'838:59:59'"), "y": ("year", "1999"),
    "bits": ("bit(10)", "b'1000000001'"), "bit1": ("bit(1)", "b'1'"), "e": ("enum('a','b''c')", "'b''c'"),
    "s": ("set('x','y','z')", "'x,z'"), "c": ("char(5)", "'ab'"), "bin": ("binary(4)", "x'01'"),
    "vb": ("varbinary(300)", "x'0203'"), "v": ("varchar(300)", "'Ä名'"), "tx": ("text", "'a\\nb'"),
    "lt": ("longtext character set latin1", "'Ä'"), "bl": ("blob", "x'ff00'"), "j": ("json", "'{\"a\": 1}'"),
    "em": ("text", "''"),
}  # fmt: skip


@pytest.fixture
def captured(mariadb):
    mariadb.clear()
    return mariadb


@pytest.mark.soak
def test_a_snapshot_then_the_log_of_several_tables(spark, tmp_path, captured):
    changing = [ChangingRows("orders"), ChangingRows("other", seed=8)]
    captured.run(ORDERS, "insert into orders select seq, concat('n', seq), seq from seq_1_to_300")
    captured.run(ORDERS.replace("orders", "other"))
    sink = jdbc(captured, "${table_name}_copy")
    text = job(source(captured, '"test.orders", "test.other"', "server-id = 5652-5657"), sink)
    for number in range(3):
        for each in changing if number else ():
            each.change(captured, 200)
        stream(spark, tmp_path, text)
        assert equal(captured, "orders", "orders_copy")
        assert equal(captured, "other", "other_copy") or not number


@pytest.mark.soak
def test_values_of_the_log_are_those_of_a_read_by_jdbc(spark, tmp_path, captured):
    columns = ", ".join(f"{name} {type}" for name, (type, _) in TYPES.items())
    values = ", ".join(value for _, value in TYPES.values())
    nulls = ", ".join("null" for _ in TYPES)
    captured.run(f"create table kinds (id int primary key, {columns})", f"insert into kinds values (1, {values})")
    connection = f'url = "{captured.url}", user = penstock, password = "{captured.password}"'
    by_jdbc = f'Jdbc {{ plugin_output = changes, {connection}, table_path = "test.kinds" }}'
    ROWS.clear()
    run(spark, tmp_path, f"source {{ {by_jdbc} }}\nsink {{ {MEMORY} }}")
    names = ("id", *TYPES)
    (read,) = [tuple(row) for rows in ROWS.values() for row in rows]
    text = job(source(captured, '"kinds"', 'database-names = ["test"]'), MEMORY)
    ((*snapshot, kind),) = kept(spark, tmp_path, text)
    assert {n: (a, b) for n, a, b in zip(names, snapshot, read, strict=True) if a != b} == {}
    assert kind == "+I"
    captured.run(f"insert into kinds values (2, {values})", f"insert into kinds values (3, {nulls})")
    captured.run("update kinds set i1 = 1 where id = 2")
    assert kept(spark, tmp_path, text) == [(2, 1, *read[2:], "+I"), (3, *(None for _ in TYPES), "+I")]
    captured.run("insert into kinds (id, t0) values (4, '1000-01-01')")  # which JDBC's drivers move
    (old,) = kept(spark, tmp_path, text)
    assert old[names.index("t0")] == datetime(1000, 1, 1)
    captured.run("insert into kinds (id, dt) values (5, '0000-00-00')")
    assert "0000-00-00 is no date" in refused(spark, tmp_path, text, "PEN5495")


def refused(spark, folder, text, code):
    with pytest.raises(RunError) as caught:
        stream(spark, folder, text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code, diagnostic
    return f"{diagnostic.message}; {diagnostic.help}"


@pytest.mark.soak
def test_what_changes_the_table_itself(spark, tmp_path, captured):
    captured.run(ORDERS, "insert into orders values (1, 'a', 1)")
    text = job(source(captured, '"test.orders"'), jdbc(captured, "copied"))
    stream(spark, tmp_path, text)
    captured.run("insert into orders values (2, 'b', 2)", "alter table orders add index by_name (name)")
    captured.run("create unique index by_amount on orders (amount)", "insert into orders values (3, 'c', 3)")
    stream(spark, tmp_path, text)
    assert equal(captured, "orders", "copied") == 3
    captured.run("alter table orders add column note text", "insert into orders values (4, 'd', 4, 'x')")
    assert "the columns of `test.orders`" in refused(spark, tmp_path, text, "PEN5492")
    captured.run("truncate table orders")
    assert captured.rows("select count(*) from copied") == [(3,)]


@pytest.mark.soak
def test_columns_that_the_log_names_are_followed(spark, tmp_path, captured):
    columns = "schema { columns = [{ name = id, type = bigint, nullable = false }, { name = name, type = string }, " \
              '{ name = amount, type = "decimal(12,2)" }], primaryKey { columnNames = [id] } }'  # fmt: skip
    captured.run(ORDERS, "insert into orders values (1, 'a', 1)")
    text = job(
        source(captured, '"test.orders"', "schema-changes.enabled = true", columns),
        jdbc(captured, "copied", "write_mode = changelog, schema_evolution = add_columns"),
    )
    stream(spark, tmp_path, text)
    captured.run("set global binlog_row_metadata = FULL")
    try:
        captured.run("update orders set name = 'b'")
        stream(spark, tmp_path, text)
        captured.run("alter table orders add column note varchar(20) after id")
        captured.run("insert into orders values (2, 'x', 'c', 3)")
        stream(spark, tmp_path, text)
        assert equal(captured, "orders", "copied", "id, name, amount, note") == 2
    finally:
        captured.run("set global binlog_row_metadata = NO_LOG")


@pytest.mark.soak
def test_a_truncated_table(spark, tmp_path, captured):
    captured.run(ORDERS, "insert into orders values (1, 'a', 1)")
    text = job(source(captured, '"test.orders"'), jdbc(captured, "copied"))
    stream(spark, tmp_path, text)
    captured.run("truncate table orders")
    assert "`test.orders` was truncated" in refused(spark, tmp_path, text, "PEN5493")
    assert captured.rows("select id from copied") == [(1,)]


@pytest.mark.soak
def test_a_log_that_is_lost_is_refused_before_anything_is_written(spark, tmp_path, captured):
    captured.run(ORDERS, "insert into orders values (1, 'a', 1)")
    text = job(source(captured, '"test.orders"'), jdbc(captured, "copied"))
    stream(spark, tmp_path, text)
    captured.run("insert into orders values (2, 'b', 2)")
    purge_log(captured)
    captured.run("insert into orders values (3, 'b', 2)")
    assert "has purged its log up to" in refused(spark, tmp_path, text, "PEN5494")
    assert captured.rows("select id from copied") == [(1,)]


@pytest.mark.soak
def test_tables_and_events_that_cannot_be_captured(spark, tmp_path, captured):
    captured.run("create table other (id int primary key) engine = MyISAM")
    captured.run("create table made (id int primary key, u uuid)", ORDERS)
    for name, said in (("other", "is stored by MyISAM"), ("made", "`test.made`.`u` is uuid")):
        text = job(source(captured, f'"test.{name}"'), MEMORY)
        assert said in refused(spark, tmp_path, text, "PEN5490")
    text = job(source(captured, '"test.orders"', "startup.mode = latest"), MEMORY)
    stream(spark, tmp_path, text)
    captured.run("set session binlog_format = STATEMENT", "insert into orders values (1, 'a', 1)")
    assert "a statement on `test.orders`, not its rows" in refused(spark, tmp_path, text, "PEN5490")


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["earliest", "specific"])
def test_other_starts(spark, tmp_path, captured, mode):
    captured.run("reset master", ORDERS, "insert into orders values (1, 'a', 1), (2, 'b', 2)")
    ((file, position, *_),) = captured.rows("show master status")
    captured.run("delete from orders where id = 1")
    at = f"startup.specific-offset.file = {file}, startup.specific-offset.pos = {position}"
    options = f"startup.mode = {mode}" + (f", {at}" if mode == "specific" else "")
    found = kept(spark, tmp_path, job(source(captured, '"test.orders"', options), MEMORY))
    assert [(row[0], row[-1]) for row in found] == ([(2, "+I")] if mode == "earliest" else [(1, "-D")])
