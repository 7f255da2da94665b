"""How far a copy is behind its table at a steady rate, and how fast it catches up: measured on a quiet machine."""

import os
import random
import time
from contextlib import suppress
from threading import Event, Thread

import pytest

from tests.connectors.change_capture.capture_jobs import jdbc, job, source
from tests.connectors.change_capture.test_killed_captures import ORDERS, copied, drop_slots
from tests.connectors.killed_runs import Run

pytestmark = [pytest.mark.spark, pytest.mark.soak]
RATE, SECONDS, BACKLOG = 2_000, int(os.environ.get("PENSTOCK_TEST_LAG_SECONDS", "60")), 500_000
KEYS, MARK = 50_000, -1


class SteadyWriter(Thread):
    """Changes rows at a rate; each transaction also writes its number into a row of its own, and `sent` when it was
    committed."""

    def __init__(self, database):
        super().__init__(daemon=True)
        self.database, self.ends, self.sent, self.rows = database, Event(), {}, 0

    def run(self):
        draw, each = random.Random(5), 20
        with self.database.connect() as connection:
            cursor, began = connection.cursor(), time.monotonic()
            while not self.ends.is_set():
                first, number = draw.randrange(KEYS - each), len(self.sent) + 1
                cursor.execute(f"update orders set amount = {number} where id between {first} and {first + each - 2}")
                cursor.execute(f"update orders set name = '{number}' where id = {MARK}")
                connection.commit()
                self.sent[number] = time.monotonic()
                self.rows += each
                time.sleep(max(began + self.rows / RATE - time.monotonic(), 0))


def mark(database):
    with suppress(Exception):
        return int(database.rows(f"select name from copied where id = {MARK}")[0][0])
    return 0


@pytest.mark.parametrize("kind", ["postgres", "mariadb"])
def test_lag_and_catching_up(tmp_path, request, kind):
    database = request.getfixturevalue(kind)
    database.clear()
    numbers = "generate_series(1, {0}) n" if kind == "postgres" else "(select seq as n from seq_1_to_{0}) s"
    database.run(ORDERS, f"insert into orders select n, 'n', 0 from {numbers.format(KEYS)}")
    database.run(f"insert into orders values ({MARK}, '0', 0)")
    table = "public.orders" if kind == "postgres" else "test.orders"
    text = job(source(database, f'"{table}"'), jdbc(database, "copied"), env='stream.trigger = "200 milliseconds"')
    path = tmp_path / "job.conf"
    path.write_text(text)
    run, writer = Run(path, "lag"), SteadyWriter(database)
    try:
        wait_for(lambda: copied(database, database, "copied"), run)
        writer.start()
        lags, seen, until = [], 0, time.monotonic() + SECONDS
        while time.monotonic() < until:
            found, now = mark(database), time.monotonic()
            lags += [now - writer.sent[number] for number in range(seen + 1, found + 1) if number in writer.sent]
            seen = max(seen, found)
            time.sleep(0.02)
        writer.ends.set()
        writer.join()
        wait_for(lambda: copied(database, database, "copied"), run)
        run.kill()
        ranges = (n * 500 % KEYS for n in range(BACKLOG // 500))
        database.run(*(f"update orders set amount = amount + 1 where id between {n} and {n + 499}" for n in ranges))
        database.run(f"update orders set name = '{10**9}' where id = {MARK}")
        began, run = time.monotonic(), Run(path, "catching-up")
        wait_for(lambda: mark(database) == 10**9, run)
        ended = time.monotonic()
        wait_for(lambda: copied(database, database, "copied"), run)
    finally:
        run.kill()
        writer.ends.set()
        if kind == "postgres":
            drop_slots(database)
    lags.sort()
    p50, p99 = (lags[int(len(lags) * part)] for part in (0.5, 0.99))
    print(f"{kind}: {writer.rows / SECONDS:.0f} changes a second, lag p50 {p50:.2f} s, p99 {p99:.2f} s")
    rate = BACKLOG / (ended - began)
    print(f"{kind}: {BACKLOG} changes in {ended - began:.1f} s with the start of Spark, {rate:.0f} a second")
    assert p99 <= 2
    assert rate >= 10_000


def wait_for(holds, run, seconds=240):
    until = time.monotonic() + seconds
    while not holds():
        assert run.process.poll() is None, run.text()
        assert time.monotonic() < until, run.text()
        time.sleep(0.1)
