"""What the options of a Jdbc block may say, without a database."""

from dataclasses import replace

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BIGINT, STRING
from connectors.jdbc.connection import connection_of
from connectors.jdbc.connector import connector
from connectors.jdbc.known_dialects import DIALECTS, MARIADB, MYSQL, POSTGRESQL, SQL_SERVER
from connectors.jdbc.partitions import ranges
from connectors.jdbc.table_names import parse_table_name, relative_to
from connectors.jdbc.writing.sink_options import target_of
from engine.compile import Settings, compile_job
from tests.connectors.given_options import options_of

URL = "jdbc:postgresql://db:5432/shop"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "PEN2011"),
        ({"table_path": "a..b"}, "PEN2004"),
        ({"table_path": "t", "partition_num": 3}, "PEN2011"),
        ({"table_path": "t", "partition_column": "id", "partition_num": 3, "split__size": 5}, "PEN2011"),
        ({"table_path": "t", "url": "jdbc:odd://x"}, "PEN2004"),
    ],
)
def test_contradictions_are_reported(given, code):
    diagnostics = Diagnostics()
    connector.tables(options_of(connector.source_options, **{"url": URL, **given}), diagnostics)
    assert [diagnostic.code for diagnostic in diagnostics] == [code]


@pytest.mark.parametrize(
    ("given", "has_row_kind", "messages"),
    [
        ({}, False, ["write_mode changelog needs rows with row kinds, or `delete_condition`"]),
        ({}, True, []),
        ({"delete_condition": "v = 'gone'"}, False, []),
    ],
)
def test_changelog_needs_row_kinds_or_a_condition_for_deletes(given, has_row_kind, messages):
    options = options_of(
        connector.sink_options, url=URL, table="t", primary_keys=["id"], write_mode="changelog", **given
    )
    table = CatalogTable.of("rows", [Column("id", BIGINT), Column("v", STRING)])
    diagnostics = Diagnostics()
    connector.validate(options, replace(table, has_row_kind=has_row_kind), diagnostics)
    assert [(diagnostic.code, diagnostic.message) for diagnostic in diagnostics] == [
        ("PEN2011", message) for message in messages
    ]


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql:",
        "jdbc:postgresql://db:5432",
        "jdbc:postgresql://db:port/shop",
        "jdbc:postgresql:/db/shop",
        "jdbc:mariadb://db:/shop",
        "jdbc:mariadb:shop",
        "jdbc:mysql://db:3306:1/shop",
        "jdbc:sqlite:",
        "jdbc:sqlite::memory:",
    ],
)
def test_an_incomplete_url_is_reported_with_an_example(url):
    diagnostics = Diagnostics()
    connector.tables(options_of(connector.source_options, url=url, table_path="t"), diagnostics)
    [diagnostic] = diagnostics
    assert (diagnostic.code, "not a complete JDBC URL" in diagnostic.message) == ("PEN2004", True)
    assert diagnostic.help.startswith('for example: "jdbc:')


@pytest.mark.parametrize(
    "url",
    [
        *(dialect.example for dialect in DIALECTS),
        "jdbc:postgresql:shop",
        "jdbc:postgresql:///shop",
        "jdbc:postgresql://a:1,[2001:db8::1]:5432/shop?targetServerType=primary",
        "jdbc:postgresql://me:p%40@db/shop",
        "jdbc:mariadb:replication://a:3306,b/shop?connectTimeout=5",
        "jdbc:mariadb://address=(host=db)(port=3306)(type=master)/shop",
        "jdbc:mysql://db",
        "jdbc:sqlite:data.db?foreign_keys=on",
        " JDBC:SQLite:C:/data.db",
    ],
)
def test_urls_of_every_form_are_taken(url):
    diagnostics = Diagnostics()
    connector.tables(options_of(connector.source_options, url=url, table_path="t"), diagnostics)
    assert not diagnostics.has_errors


@pytest.mark.parametrize(
    ("url", "plain", "user", "secrets"),
    [
        (URL, URL, None, {}),
        (f"{URL}?user=me&password=p%40&ssl=true", f"{URL}?user=me&ssl=true", None, {"password": "p@"}),
        ("jdbc:mysql://me:pw@db/shop?a=1", "jdbc:mysql://db/shop?a=1", "me", {"password": "pw"}),
        (
            "jdbc:sqlserver://db;databaseName=x;password=pqr",
            "jdbc:sqlserver://db;databaseName=x",
            None,
            {"password": "pqr"},
        ),
    ],
)
def test_passwords_are_taken_out_of_urls(url, plain, user, secrets):
    connection = connection_of(options_of(connector.source_options, url=url, table_path="t"))
    assert (connection.url, connection.user, dict(connection.secrets)) == (plain, user, secrets)
    assert not any(value in repr(connection) for value in secrets.values())


def test_spark_knows_mariadb_as_mysql():
    options = options_of(connector.source_options, url="jdbc:mariadb://db/shop", table_path="t")
    assert connection_of(options).spark_options()["url"] == "jdbc:mysql://db/shop?permitMysqlScheme"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("t", ("t",)),
        ("s.t", ("s", "t")),
        ('"a.b"."c""d"', ("a.b", 'c"d')),
        ("`a`.[b]]c].d", ("a", "b]c", "d")),
    ],
)
def test_table_names(text, parts):
    assert parse_table_name(text) == parts


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a.b.c.d", '"a', "a..b"])
def test_what_is_no_table_name(text):
    with pytest.raises(ValueError, match=r".*"):
        parse_table_name(text)


@pytest.mark.parametrize(
    ("dialect", "name", "expected"),
    [
        (POSTGRESQL, ("shop", "public", "t"), ("public", "t")),
        (POSTGRESQL, ("other", "public", "t"), ("other", "public", "t")),
        (MYSQL, ("shop", "t"), ("shop", "t")),
        (MARIADB, ("t",), ("t",)),
        (SQL_SERVER, ("dbo", "t"), ("dbo", "t")),
    ],
)
def test_names_from_the_connection(dialect, name, expected):
    assert relative_to(dialect, "shop", name) == expected


def test_identifiers_and_texts_are_quoted():
    assert [dialect.quote("a`b\"c]d") for dialect in (POSTGRESQL, MARIADB, SQL_SERVER)] == [
        '"a`b""c]d"', '`a``b"c]d`', '[a`b"c]]d]'
    ]  # fmt: skip
    assert MARIADB.text("it's \\ x") == "'it''s \\\\ x'"
    assert POSTGRESQL.text("it's \\ x") == "'it''s \\ x'"


def test_ranges_cover_everything():
    assert ranges("x", ("1", "5")) == ("x < 1 or x is null", "x >= 1 and x < 5", "x >= 5")
    assert ranges("x", ()) == ("1 = 1",)


def test_each_dialect_has_one_scheme():
    assert len({dialect.scheme for dialect in DIALECTS}) == len(DIALECTS)


@pytest.mark.parametrize(
    ("table", "flag", "expected"),
    [
        ("other.public.t", Compat.SEATUNNEL_2, ("public", "t")),
        ("sales.t", Compat.SEATUNNEL_2, ("sales", "t")),
        ("t", Compat.SEATUNNEL_2, ("t",)),
        ("shop.public.t", Compat.OFF, ("public", "t")),
        ("other.public.t", Compat.OFF, None),
    ],
)
def test_a_schema_and_a_table_are_taken_from_the_end_of_a_name_in_jobs_of_seatunnel(tmp_path, table, flag, expected):
    job = tmp_path / "job.conf"
    sink = f'Jdbc {{ url = "{URL}", table = "{table}", generate_sink_sql = true }}'
    job.write_text(f"source {{ FakeSource {{ schema {{ fields {{ id = bigint }} }} }} }}\nsink {{ {sink} }}")
    diagnostics = Diagnostics()
    compiled = compile_job(job, Settings(compat=flag), diagnostics)
    found = None if compiled is None else target_of(compiled.plan.writes[0].options)
    assert found == expected
    assert [each.code for each in diagnostics if each.severity.value == "error"] == ([] if expected else ["PEN2011"])
