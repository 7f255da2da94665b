"""Changes of PostgreSQL as streams: what the sinks hold at the end is what the tables hold."""

import pytest

from tests.connectors.change_capture.capture_jobs import ChangingRows, jdbc, job, source, stream

pytestmark = pytest.mark.spark


@pytest.fixture
def captured(postgres):
    """A database without tables, slots and publications of other tests."""
    postgres.clear()
    yield postgres
    for (slot,) in postgres.rows("select slot_name from pg_replication_slots"):
        postgres.run(f"select pg_drop_replication_slot('{slot}')")
    for (publication,) in postgres.rows("select pubname from pg_publication"):
        postgres.run(f"drop publication {publication}")


def equal(database, one, other, columns="id, name, amount"):
    rows = [database.rows(f"select {columns} from {table} order by id") for table in (one, other)]
    assert rows[0] == rows[1]
    return len(rows[0])


ORDERS = "create table orders (id bigint primary key, name text, amount numeric(12,2))"


def test_a_snapshot_then_the_log(spark, tmp_path, captured):
    changing = ChangingRows("orders")
    captured.run(ORDERS, "insert into orders select n, 'n' || n, n from generate_series(1, 300) n")
    text = job(source(captured, '"public.orders"'), jdbc(captured, "copied"))
    stream(spark, tmp_path, text)
    assert equal(captured, "orders", "copied") == 300
    for _ in range(2):
        changing.change(captured, 300)
        stream(spark, tmp_path, text)
        assert equal(captured, "orders", "copied")
