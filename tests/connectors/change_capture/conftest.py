"""A database whose changes are captured."""

from collections.abc import Iterator

import pytest

from tests.services.databases import Database


@pytest.fixture
def captured(postgres: Database) -> Iterator[Database]:
    """PostgreSQL without tables, and after the test without slots and publications."""
    postgres.clear()
    yield postgres
    for (slot,) in postgres.rows("select slot_name from pg_replication_slots"):
        postgres.run(f"select pg_drop_replication_slot('{slot}')")
    for (publication,) in postgres.rows("select pubname from pg_publication"):
        postgres.run(f"drop publication {publication}")
