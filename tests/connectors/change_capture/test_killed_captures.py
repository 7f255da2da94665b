"""A job that copies tables of PostgreSQL and MariaDB while they change, and while it and the servers are killed."""

import os
import random
import time
from contextlib import suppress
from threading import Event, Thread

import pytest

from tests.connectors.change_capture.capture_jobs import jdbc, job, source
from tests.connectors.killed_runs import Run

pytestmark = pytest.mark.spark
CHANGES = int(os.environ.get("PENSTOCK_TEST_CAPTURED", "20000"))
KILLS = int(os.environ.get("PENSTOCK_TEST_CAPTURE_KILLS", "1"))
"""Of the job, and of each server."""

SEED = int(os.environ.get("PENSTOCK_TEST_CAPTURE_SEED", "11"))
KEYS = 20_000
ORDERS = "create table orders (id bigint primary key, name varchar(50), amount decimal(12,2))"


def changed(cursor, draw):
    """How many rows a random transaction has changed: of some keys, deleted, inserted anew, updated or moved."""
    first = draw.randrange(KEYS)
    keys, kind = f"id between {first} and {first + draw.randrange(40)}", draw.random()
    if kind < 0.5:
        name, add = draw.choice(["'A'", "'Ä名'", "NULL", "''", "name"]), draw.randrange(-1000, 1000)
        cursor.execute(f"update orders set name = {name}, amount = coalesce(amount, 0) + {add} where {keys}")
        return cursor.rowcount
    cursor.execute(f"delete from orders where {keys}")
    count = cursor.rowcount
    if kind < 0.9:
        rows = (f"({first + n}, 'n{n}', {draw.randrange(10**9) / 100:.2f})" for n in range(draw.randrange(1, 40)))
        cursor.execute(f"delete from orders where id between {first} and {first + 40}")
        count += cursor.rowcount
        cursor.execute(f"insert into orders (id, name, amount) values {', '.join(rows)}")
        count += cursor.rowcount
    else:
        source = draw.randrange(KEYS)
        cursor.execute(f"update orders set id = {first} where id = {source}")
        count += cursor.rowcount
    return count


class Writer(Thread):
    """Changes a table until it has made so many changes; a transaction that a killed server has lost is made again or
    not, as it is."""

    def __init__(self, database, count, seed):
        super().__init__(daemon=True)
        self.database, self.count, self.draw, self.made, self.pause = database, count, random.Random(seed), 0, Event()

    def run(self):
        while self.made < self.count:
            with suppress(Exception), self.database.connect() as connection:
                cursor = connection.cursor()
                while self.made < self.count:
                    made = changed(cursor, self.draw)
                    connection.commit()
                    self.made += made
            time.sleep(0.05)


def copied(database, target, name):
    with suppress(Exception):
        return database.rows("select * from orders order by id") == target.rows(f"select * from {name} order by id")
    return False


def prepared(tmp_path, postgres, mariadb, trigger="300 milliseconds"):
    for database in (postgres, mariadb):
        database.clear()
        database.run(ORDERS)
    sources = [source(postgres, '"public.orders"', "slot.name = killed"), source(mariadb, '"test.orders"')]
    sinks = [jdbc(postgres, "from_postgres"), jdbc(postgres, "from_mariadb")]
    named = [
        [text.replace("changes", f"changes_{number}", 1) for text in pair]
        for number, pair in enumerate(zip(sources, sinks, strict=True))
    ]
    text = job("\n".join(pair[0] for pair in named), *(pair[1] for pair in named),
               env=f'stream.trigger = "{trigger}", job.retry.times = 20, job.retry.interval.seconds = 1')  # fmt: skip
    path = tmp_path / "job.conf"
    path.write_text(text)
    return path


def alive(path, runs):
    """Start the job again where it was killed, or has ended because a server was."""
    if runs[-1].process.poll() is not None:
        assert "PEN549" not in runs[-1].text(), runs[-1].text()
        runs.append(Run(path, f"r{len(runs)}"))


def drop_slots(postgres):
    for (slot,) in postgres.rows("select slot_name from pg_replication_slots where not active"):
        postgres.run(f"select pg_drop_replication_slot('{slot}')")


def test_copies_are_equal_after_kills_of_the_job_and_of_the_servers(tmp_path, postgres, mariadb):
    path, draw = prepared(tmp_path, postgres, mariadb), random.Random(SEED)
    writers = [Writer(postgres, CHANGES, SEED), Writer(mariadb, CHANGES, SEED + 1)]
    for writer in writers:
        writer.start()
    runs = [Run(path, "r0")]
    kills = {"job": KILLS, "postgres": KILLS, "mariadb": KILLS}
    started = time.monotonic()
    try:
        while any(kills.values()):
            time.sleep(draw.uniform(1, 12 if KILLS > 1 else 4))
            alive(path, runs)
            victim = draw.choice([name for name, left in kills.items() if left])
            kills[victim] -= 1
            if victim == "job":
                runs[-1].kill()
                alive(path, runs)
            else:
                {"postgres": postgres, "mariadb": mariadb}[victim].restart()
        for writer in writers:
            writer.join(600 + CHANGES / 200)
        until = time.monotonic() + 300 + CHANGES / 500
        pairs = ((postgres, "from_postgres"), (mariadb, "from_mariadb"))
        while not all(copied(database, postgres, name) for database, name in pairs):
            alive(path, runs)
            assert time.monotonic() < until, runs[-1].text()
            time.sleep(0.5)
    finally:
        runs[-1].kill()
        seconds = time.monotonic() - started
        made = sum(writer.made for writer in writers)
        print(f"{made} changes, {KILLS} kills of each, {len(runs)} starts of the job in {seconds:.0f} s")
        drop_slots(postgres)
