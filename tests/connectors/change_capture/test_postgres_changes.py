"""Changes of PostgreSQL as streams: what the sinks hold at the end is what the tables hold."""

import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.in_memory import ROWS
from tests.connectors.change_capture.capture_jobs import ChangingRows, equal, jdbc, job, kept, source, stream
from tests.connectors.kafka.jobs import run

pytestmark = pytest.mark.spark
ORDERS = "create table orders (id bigint primary key, name text, amount numeric(12,2))"
MEMORY = "InMemory { plugin_input = changes }"


def test_a_snapshot_then_the_log_of_several_tables(spark, tmp_path, captured):
    changing = [ChangingRows("orders"), ChangingRows("other", seed=8)]
    captured.run(ORDERS, "insert into orders select n, 'n' || n, n from generate_series(1, 300) n")
    captured.run(ORDERS.replace("orders", "other"))
    sink = jdbc(captured, "${table_name}_copy")
    text = job(source(captured, '"postgres.public.orders", "public.other"'), sink)
    for number in range(3):
        (before,) = captured.rows("select pg_current_wal_flush_lsn()")
        for each in changing if number else ():
            each.change(captured, 200)
        stream(spark, tmp_path, text)
        assert equal(captured, "orders", "orders_copy")
        assert equal(captured, "other", "other_copy") or not number
    confirmed = captured.rows(f"select confirmed_flush_lsn >= '{before[0]}' from pg_replication_slots")
    assert confirmed == [(True,)]  # the server need not keep its log of before


TYPES = {
    "i2": ("smallint", "-7"), "i4": ("integer", "7"), "i8": ("bigint", "9007199254740993"), "f4": ("real", "1.5"),
    "f8": ("double precision", "'-Infinity'"), "n": ("numeric(20,4)", "-12345.6789"),
    "u": ("numeric", "1.000000000001"),
    "t": ("text", "E'a\\nb\"c,''\\\\'"), "e": ("text", "''"), "c": ("char(4)", "'ab'"), "b": ("boolean", "true"),
    "y": ("bytea", "'\\x00ff27'"), "d": ("date", "'1969-12-31'"), "ts": ("timestamp", "'2024-02-29 23:59:59.123456'"),
    "tz": ("timestamptz", "'2024-02-29 23:59:59.123456+05:45'"), "tm": ("time", "'23:59:59.5'"),
    "j": ("json", "'{\"a\": [1, null]}'"), "jb": ("jsonb", "'{\"b\": 1}'"),
    "id_": ("uuid", "'5f0c1b1e-58a4-4d4b-9a56-0a6f2c7d3c11'"), "bits": ("bit(3)", "B'101'"), "bit1": ("bit(1)", "B'1'"),
    "ai": ("integer[]", "'{1,NULL,3}'"), "at": ("text[]", "'{\"a b\",NULL,\"NULL\",\"q\\\"x\"}'"),
    "mood": ("mood", "'sad'"), "iv": ("interval", "'1 day 02:03:04'"), "ip": ("inet", "'10.0.0.1/8'"),
}  # fmt: skip


def test_values_of_the_log_are_those_of_a_read_by_jdbc(spark, tmp_path, captured):
    captured.run("drop type if exists mood cascade", "create type mood as enum ('ok', 'sad')")
    columns = ", ".join(f"{name} {type}" for name, (type, _) in TYPES.items())
    values = ", ".join(value for _, value in TYPES.values())
    nulls = ", ".join("null" for _ in TYPES)
    captured.run(f"create table kinds (id int primary key, {columns})", f"insert into kinds values (1, {values})")
    text = job(source(captured, '"public.kinds"'), MEMORY)
    connection = f'url = "{captured.url}", user = penstock, password = "{captured.password}"'
    by_jdbc = f'Jdbc {{ plugin_output = changes, {connection}, table_path = "public.kinds" }}'
    ROWS.clear()
    run(spark, tmp_path, f"source {{ {by_jdbc} }}\nsink {{ {MEMORY} }}")
    (read,) = [tuple(row) for rows in ROWS.values() for row in rows]
    assert kept(spark, tmp_path, text) == [(*read, "+I")]
    captured.run(f"insert into kinds values (2, {values})", f"insert into kinds values (3, {nulls})")
    captured.run("update kinds set i2 = 1 where id = 2")
    found = kept(spark, tmp_path, text)
    assert found == [(2, 1, *read[2:], "+I"), (3, *(None for _ in TYPES), "+I")]
    batch = text.replace("job.mode = STREAMING", "job.mode = BATCH").replace("stream.trigger = available_now", "")
    ROWS.clear()
    run(spark, tmp_path, batch)
    assert sorted(row[0] for rows in ROWS.values() for row in rows) == [1, 2, 3]


@pytest.mark.soak
def test_every_change_where_the_job_asks_for_it(spark, tmp_path, captured):
    captured.run(ORDERS, "alter table orders replica identity full", "insert into orders values (1, 'a', 1)")
    text = job(source(captured, '"public.orders"', "startup.mode = latest, changes = all"), MEMORY)
    assert kept(spark, tmp_path, text) == []
    captured.run("update orders set name = 'b'", "update orders set id = 2", "delete from orders")
    assert [(row[0], row[1], row[-1]) for row in kept(spark, tmp_path, text)] == [
        (1, "a", "-U"), (1, "b", "+U"), (1, "b", "-U"), (2, "b", "+U"), (2, "b", "-D")]  # fmt: skip


def refused(spark, folder, text, code):
    with pytest.raises(RunError) as caught:
        stream(spark, folder, text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code, diagnostic
    return f"{diagnostic.message}; {diagnostic.help}"


@pytest.mark.soak
def test_what_changes_the_table_itself_stops_the_stream(spark, tmp_path, captured):
    captured.run(ORDERS, "insert into orders values (1, 'a', 1)")
    text = job(source(captured, '"public.orders"'), jdbc(captured, "copied"))
    stream(spark, tmp_path, text)
    captured.run("insert into orders values (2, 'b', 2)", "alter table orders add column note text")
    captured.run("insert into orders values (3, 'c', 3, 'x')")
    assert "the column `note` (text) was added to `public.orders`" in refused(spark, tmp_path, text, "PEN5492")
    assert captured.rows("select id from copied") == [(1,)]
    declared = 'schema { fields { id = bigint, name = string, amount = "decimal(12,2)", note = string } }'
    sink = jdbc(captured, "copied", "primary_keys = [id], write_mode = changelog, schema_evolution = add_columns")
    stream(spark, tmp_path, job(source(captured, '"public.orders"', "", declared), sink))
    assert equal(captured, "orders", "copied", "id, name, amount, note") == 3
    captured.run("alter table orders rename column note to remark", "insert into orders values (4, 'd', 4, 'y')")
    text = job(source(captured, '"public.orders"', "", declared), sink)
    stream(spark, tmp_path, text)  # the column was not there when the stream began: NULL
    captured.run("alter table orders rename column name to title", "insert into orders values (5, 'd', 4, 'y')")
    assert "the column `name` of `public.orders` was dropped or renamed" in refused(spark, tmp_path, text, "PEN5492")
    captured.run("truncate orders")


@pytest.mark.soak
def test_columns_are_followed_where_the_job_asks_for_it(spark, tmp_path, captured):
    captured.run(ORDERS, "insert into orders values (1, 'a', 1)")
    columns = "schema { columns = [{ name = id, type = bigint, nullable = false }, { name = name, type = string }, " \
              '{ name = amount, type = "decimal(12,2)" }], primaryKey { columnNames = [id] } }'  # fmt: skip
    text = job(
        source(captured, '"public.orders"', "schema-changes.enabled = true", columns),
        jdbc(captured, "copied", "write_mode = changelog, schema_evolution = add_columns"),
    )
    stream(spark, tmp_path, text)
    captured.run("update orders set name = 'b'", "alter table orders add column note varchar(20)")
    captured.run("insert into orders values (2, 'c', 3, 'x')")
    stream(spark, tmp_path, text)
    assert equal(captured, "orders", "copied", "id, name, amount, note") == 2


@pytest.mark.soak
def test_a_truncated_table(spark, tmp_path, captured):
    captured.run(ORDERS, "insert into orders values (1, 'a', 1)")
    text = job(source(captured, '"public.orders"'), jdbc(captured, "copied"))
    stream(spark, tmp_path, text)
    captured.run("truncate orders")
    assert "`public.orders` was truncated" in refused(spark, tmp_path, text, "PEN5493")
    assert captured.rows("select id from copied") == [(1,)]


@pytest.mark.soak
def test_a_log_that_is_lost_is_refused_before_anything_is_written(spark, tmp_path, captured):
    captured.run(ORDERS, "insert into orders values (1, 'a', 1)")
    text = job(source(captured, '"public.orders"', "slot.name = mine"), jdbc(captured, "copied"))
    stream(spark, tmp_path, text)
    captured.run("insert into orders values (2, 'b', 2)")
    captured.run("select pg_replication_slot_advance('mine', pg_current_wal_lsn())")
    assert "`mine` of `127.0.0.1:" in (said := refused(spark, tmp_path, text, "PEN5494"))
    assert "was moved to" in said
    captured.run("select pg_drop_replication_slot('mine')")
    assert "has no replication slot `mine`" in refused(spark, tmp_path, text, "PEN5494")
    assert captured.rows("select id from copied") == [(1,)]
    captured.run("select pg_create_logical_replication_slot('mine', 'pgoutput')")
    assert "was moved to" in refused(spark, tmp_path, text, "PEN5494")
    (tmp_path / "other").mkdir()
    assert "which this stream has not made" in refused(spark, tmp_path / "other", text, "PEN5490")


@pytest.mark.soak
def test_tables_that_cannot_be_captured(spark, tmp_path, captured):
    captured.run("create table keyless (id int, name text)")
    text = job(source(captured, '"keyless"'), MEMORY)
    assert "`public.keyless` has no primary key" in refused(spark, tmp_path, text, "PEN5490")
    assert "no table `public.missing`" in refused(spark, tmp_path, text.replace("keyless", "missing"), "PEN5004")
    captured.run("alter table keyless replica identity full", "insert into keyless values (1, 'a')")
    keys = 'table-names-config = [{ table = "public.keyless", primaryKeys = [id] }], slot.name = second'
    text = job(source(captured, '"keyless"', keys), jdbc(captured, "copied"))
    stream(spark, tmp_path, text)
    captured.run(
        "update keyless set name = 'b'", "insert into keyless values (2, 'x')", "delete from keyless where id = 2"
    )
    stream(spark, tmp_path, text)
    assert captured.rows("select id, name from copied") == [(1, "b")]


@pytest.mark.soak
def test_a_long_value_that_an_update_leaves_as_it_is(spark, tmp_path, captured):
    long = "(select string_agg(md5(n::text), '') from generate_series(1, 500) n)"
    captured.run(ORDERS, f"insert into orders values (1, {long}, 1)")
    text = job(source(captured, '"public.orders"'), jdbc(captured, "copied"))
    stream(spark, tmp_path, text)
    captured.run(f"insert into orders values (2, {long}, 1)", "update orders set amount = 2 where id = 2")
    stream(spark, tmp_path, text)  # the insert has the value
    assert equal(captured, "orders", "copied") == 2
    captured.run("alter table orders replica identity full", "update orders set amount = 3 where id = 1")
    stream(spark, tmp_path, text)
    assert equal(captured, "orders", "copied") == 2
    captured.run("alter table orders replica identity default", "update orders set amount = 4 where id = 1")
    assert "has no value for `name`" in refused(spark, tmp_path, text, "PEN5491")
