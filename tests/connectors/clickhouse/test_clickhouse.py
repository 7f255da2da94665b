"""Tables of ClickHouse's engine: types both ways, staged rows, and commits that a repetition does not double."""

import re
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest

import connectors
from catalog.diagnostics.diagnostic import RunError
from connectors.interface.testing import SinkSuite, SourceSuite
from engine.cli import main
from tests.connectors.kafka.jobs import compiled, rows, run
from tests.sampling import sampled

pytestmark = pytest.mark.spark

KEYED = "id = bigint, name = string"


def place(server) -> str:
    return f'host = "127.0.0.1:{server.port}"'


def reading(server, options: str) -> str:
    return f"source {{ Clickhouse {{ {place(server)}, {options} }} }}\nsink {{ InMemory {{}} }}"


def writing(server, options: str, listed: str, fields: str = KEYED) -> str:
    source = f"FakeSource {{ schema {{ fields {{ {fields} }} }}, rows = [{listed}] }}"
    return f"source {{ {source} }}\nsink {{ Clickhouse {{ {place(server)}, {options} }} }}"


def inserted(*values: str) -> str:
    return ", ".join(f"{{ kind = INSERT, fields = [{value}] }}" for value in values)


@pytest.fixture(autouse=True)
def _empty(clickhouse):
    for (name,) in clickhouse.rows("show tables"):
        clickhouse.client.command(f"drop table `{name}` sync")


class TestSource(SourceSuite):
    source = connectors.source("Clickhouse")
    expected = ((1, "a"), (2, None))

    @pytest.fixture(autouse=True)
    def _server(self, clickhouse):
        self.server = clickhouse

    def given(self, tmp_path: Path):
        self.server.client.command("create table t (id Int64, name Nullable(String)) engine = MergeTree order by id")
        self.server.client.command("insert into t select * from values((1, 'a'), (2, null))")
        schema = {"fields": {"id": "bigint", "name": "string"}}
        return {"host": f"127.0.0.1:{self.server.port}", "table_path": "t", "schema": schema}


@sampled(
    SinkSuite,
    "test_options_are_documented_and_named_once",
    "test_importing_it_imports_no_spark",
    "test_the_modes_that_it_declares_are_offered",
    "test_rows_that_it_can_write_are_valid",
    "test_staged_rows_are_not_visible",
    "test_another_process_commits_from_the_journal",
    "test_another_process_aborts_from_the_journal",
    "test_a_repeated_commit_does_nothing",
    "test_a_process_that_has_lost_its_run_commits_nothing",
)
class TestSink(SinkSuite):
    sink = connectors.sink("Clickhouse")

    @pytest.fixture(autouse=True)
    def _server(self, clickhouse):
        self.server = clickhouse

    def given(self, tmp_path: Path):
        return {"host": f"127.0.0.1:{self.server.port}", "table": "target"}

    def read(self, spark, tmp_path: Path):
        is_there = ("target",) in self.server.rows("show tables")
        return self.server.rows("select id, name, amount from target") if is_there else []

    def leftovers(self, tmp_path: Path):
        return [name for (name,) in self.server.rows("show tables") if "penstock" in name]


def test_values_are_read_in_their_types(spark, tmp_path, clickhouse):
    clickhouse.client.command(
        "create table typed (id Int64, u8 UInt8, u64 UInt64, s Nullable(String), d Date, dt DateTime, "
        "dt6 DateTime64(6), dec Decimal(20, 4), arr Array(UInt16), m Map(String, UInt32), "
        "e Enum('a' = 1), tup Tuple(a Int32), ok Bool) "
        "engine = MergeTree partition by id % 3 order by id"
    )
    clickhouse.client.command(
        "insert into typed select number, 200, 18446744073709551615, if(number % 2 = 0, null, 'x'), '2024-05-01', "
        "'2024-05-01 10:00:00', '2024-05-01 10:00:00.123456', 1.5, [1, 2], map('k', 3), 'a', tuple(1), true "
        "from numbers(7)"
    )
    moment = datetime(2024, 5, 1, 10, tzinfo=timezone.utc)
    found = rows(spark, tmp_path, reading(clickhouse, 'table_path = "default.typed", filter_query = "id > 0"'))
    assert [row[0] for row in found] == list(range(1, 7))
    _id, u8, u64, s, d, dt, dt6, dec, arr, m, e, tup, ok = found[0]
    assert (u8, u64, s, d, dec, arr, m, e, tup, ok) == (
        200, Decimal(2**64 - 1), "x", date(2024, 5, 1), Decimal("1.5"), [1, 2], {"k": 3}, "a", '{"a":1}', True,
    )  # fmt: skip
    assert (dt.timestamp(), dt6.timestamp()) == (moment.timestamp(), moment.timestamp() + 0.123456)
    assert rows(spark, tmp_path, reading(clickhouse, 'sql = "select max(id) as most from typed"')) == [(6,)]


def test_rows_are_written_in_their_types(spark, tmp_path, clickhouse):
    fields = (
        'id = bigint, sum = "decimal(20,4)", day = date, at = timestamp, ok = boolean, tags = "array<string>", '
        'more = "map<string,int>", home = { no = int }'
    )
    row = '[1, "1234567890123456.5000", "2024-05-01", "2024-05-01T10:00:00.123456", true, ["a"], {"k": 1}, [7]]'
    listed = f"{{ kind = INSERT, fields = {row} }}"
    assert run(spark, tmp_path, writing(clickhouse, "table = w, primary_key = [id]", listed, fields)).errors == ()
    types = dict(clickhouse.rows("select name, type from system.columns where table = 'w'"))
    assert (types["id"], types["sum"], types["at"]) == (
        "Int64", "Nullable(Decimal(20, 4))", "Nullable(DateTime64(6, 'UTC'))",
    )  # fmt: skip
    [(id, total, day, ok, tags, more)] = clickhouse.rows("select id, sum, toString(day), ok, tags, more from w")
    assert (id, total, day, ok, tags, more) == (1, Decimal("1234567890123456.5"), "2024-05-01", True, ["a"], {"k": 1})


def test_rows_of_a_key_replace_the_others(spark, tmp_path, clickhouse):
    clickhouse.client.command("create table keyed (id Int64, name Nullable(String)) engine = MergeTree order by id")
    clickhouse.client.command("insert into keyed select * from values((1, 'old'), (2, 'kept'))")
    job = writing(clickhouse, "table = keyed, primary_key = [id], support_upsert = true", inserted('1, "a"', '1, "b"'))
    for _ in range(2):
        assert run(spark, tmp_path, job).errors == ()
        assert sorted(clickhouse.rows("select id, name from keyed")) == [(1, "b"), (2, "kept")]


def test_errors_of_the_server_are_those_of_the_run(spark, tmp_path, clickhouse):
    job = "env { job.retry.times = 0 }\n" + reading(clickhouse, 'sql = "select nme from system.one"')
    [diagnostic] = run(spark, tmp_path, job).diagnostics
    assert diagnostic.code == "PEN5004"
    assert "nme" in diagnostic.message
    clickhouse.port, port = 9, clickhouse.port
    try:
        nobody = "env { job.retry.times = 0 }\n" + writing(clickhouse, "table = w", inserted('1, "a"'))
    finally:
        clickhouse.port = port
    with pytest.raises(RunError) as caught:
        run(spark, tmp_path, nobody)
    assert caught.value.diagnostics[0].code == "PEN5005"


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ('host = "ftp://h", table = t', "PEN2004", "names no server"),
        ("host = h, table = t, primary_key = [idd]", "PEN4008", "`idd`"),
        ("host = h, table = t, write_mode = upsert", "PEN2011", "needs a key"),
        ("host = h", "PEN2005", "table"),
    ],
)
def test_options_of_a_sink_that_cannot_be(tmp_path, capsys, options, code, said):
    path = tmp_path / "job.conf"
    path.write_text(
        f"source {{ FakeSource {{ schema {{ fields {{ {KEYED} }} }} }} }}\nsink {{ Clickhouse {{ {options} }} }}"
    )
    assert main(["validate", str(path)]) == 2
    out = "".join(capsys.readouterr())
    assert code in out
    assert said in out


def test_explain_says_what_a_commit_does_not_promise(tmp_path, clickhouse):
    job = compiled(
        tmp_path, writing(clickhouse, "table = t, primary_key = [id], write_mode = upsert", inserted('1, "a"'))
    )
    [write] = job.plan.writes
    from catalog.tables.savemode import Action

    notes = " ".join(write.connector.caveats(write.options, (Action.KEEP, Action.UPSERT_ROWS)))
    assert "deleted before the new ones are there" in notes


def test_the_documented_job(spark, tmp_path, clickhouse):
    """That of the how-to page, with the server of the tests."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "search-and-stores.md").read_text(encoding="utf-8")
    [job] = [block for block in re.findall(r"```hocon\n(.*?)```", page, re.DOTALL) if "Clickhouse {" in block]
    job = job.replace('host = "https://ch.example.com:8443"', place(clickhouse))
    job = job.replace("password = ${?CLICKHOUSE_PASSWORD}", "")
    clickhouse.client.command("create database shop")
    try:
        assert run(spark, tmp_path, job).errors == ()
        assert clickhouse.rows("select * from shop.orders") == [(1, "Ann", Decimal("12.50"))]
    finally:
        clickhouse.client.command("drop database shop")
