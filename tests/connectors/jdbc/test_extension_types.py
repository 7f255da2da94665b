"""Types that an extension of PostgreSQL adds, such as PostGIS's geometry: read and written as texts, as in SeaTunnel.

The extension of the tests is pgvector: PostGIS is not among them.
"""

import pytest

from catalog.compat import Compat
from tests.connectors.kafka.jobs import run
from tests.services.databases import PASSWORD

pytestmark = pytest.mark.spark


def test_types_of_an_extension_are_texts(spark, tmp_path, postgres):
    postgres.clear()
    postgres.run(
        "create extension if not exists vector",
        "create table places (id int primary key, at vector(2))",
        "insert into places values (1, '[1,2.5]'), (2, null)",
        "create table copied (id int primary key, at vector(2))",
        "create table inserted (id int primary key, at vector(2))",
    )
    place = f'url = "{postgres.url}", user = {postgres.user}, password = "{PASSWORD}"'
    source = f'source {{ Jdbc {{ {place}, query = "select id, at from places" }} }}'
    for sink in (
        "generate_sink_sql = true, database = postgres, table = public.copied, primary_keys = [id]",
        'query = "insert into inserted (id, at) values (?, ?)"',
    ):
        job = f"{source}\nsink {{ Jdbc {{ {place}, {sink} }} }}"
        assert run(spark, tmp_path, job, compat=Compat.SEATUNNEL_2).errors == ()
    for table in ("copied", "inserted"):
        assert postgres.rows(f"select id, at::text from {table} order by id") == [(1, "[1,2.5]"), (2, None)]
