"""Change logs as rows with row kinds: the four envelopes, Debezium's encodings, and records that cannot be read."""

import json
from datetime import date, datetime, time, timezone
from decimal import Decimal

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.row_kind import ROW_KIND
from connectors.kafka.read_records import RECORD_DDL, rows_of
from engine.compile import Settings, compile_job
from engine.plan.nodes import Scan
from tests.services.debezium import base64_decimal

pytestmark = pytest.mark.spark
COLUMNS = "schema { fields { id = bigint, name = string } }"


def scan_of(folder, options, columns=COLUMNS):
    path = folder / "job.conf"
    source = f'Kafka {{ bootstrap.servers = "b:9092", topic = t, {columns}\n{options} }}'
    path.write_text(f"source {{ {source} }}\nsink {{ Console {{}} }}")
    diagnostics = Diagnostics()
    job = compile_job(path, Settings(), diagnostics)
    assert job is not None, list(diagnostics)
    return next(node for node in job.plan.nodes() if isinstance(node, Scan))


def read(spark, folder, values, options, columns=COLUMNS):
    """The rows of records with these values, with their kinds first."""
    scan = scan_of(folder, options, columns)
    texts = [value if isinstance(value, str) or value is None else json.dumps(value) for value in values]
    records = [
        (b"k", None if text is None else text.encode(), "t", 0, offset, None, 0, [])
        for offset, text in enumerate(texts)
    ]
    df = rows_of(spark.createDataFrame(records, RECORD_DDL), scan.options, scan.table)
    names = [ROW_KIND, *scan.table.schema.names]
    assert sorted(df.columns) == sorted(names)
    return [tuple(row) for row in df.select(*names).collect()]


def debezium(op, before=None, after=None, **source):
    return {"op": op, "before": before, "after": after, "source": {"db": "d", "table": "t", **source}, "ts_ms": 5}


A, B = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}
LOGS = {
    "debezium_json": [debezium("c", None, A), debezium("u", A, B), None, debezium("d", B), debezium("r", None, A)],
    "canal_json": [
        {"type": "INSERT", "data": [{"id": "1", "name": "a"}], "old": None, "database": "d", "table": "t", "es": 5},
        {"type": "UPDATE", "data": [{"id": "1", "name": "b"}], "old": [{"name": "a"}], "isDdl": False},
        {"type": "ALTER", "isDdl": True, "sql": "alter table t add x int", "data": None},
        {"type": "QUERY", "isDdl": False, "data": None},
        {"type": "DELETE", "data": [{"id": "1", "name": "b"}]},
        {"type": "INSERT", "data": [{"id": "1", "name": "a"}]},
    ],
    "maxwell_json": [
        {"type": "insert", "data": A, "database": "d", "table": "t", "ts": 5},
        {"type": "update", "data": B, "old": {"name": "a"}},
        {"type": "table-alter", "def": {}},
        {"type": "delete", "data": B},
        {"type": "bootstrap-start", "data": {}},
        {"type": "bootstrap-insert", "data": A},
    ],
    "ogg_json": [
        {"op_type": "I", "after": A, "table": "D.T", "op_ts": "2024-05-01 10:00:00.000000"},
        {"op_type": "U", "before": A, "after": {"id": 1, "name": "b"}},
        {"op_type": "D", "before": B},
        {"op_type": "I", "after": A},
    ],
}


@pytest.mark.parametrize("name", LOGS)
def test_the_same_changes_in_every_envelope(spark, tmp_path, name):
    assert read(spark, tmp_path, LOGS[name], f"format = {name}") == [
        ("+I", 1, "a"), ("-U", 1, "a"), ("+U", 1, "b"), ("-D", 1, "b"), ("+I", 1, "a"),
    ]  # fmt: skip


def test_old_values_that_were_null_and_keys_that_change(spark, tmp_path):
    canal = {"type": "UPDATE", "data": [{"id": "2", "name": "b"}, {"id": "4", "name": "d"}],
             "old": [{"id": "1", "name": None}, {"id": "3"}]}  # fmt: skip
    assert read(spark, tmp_path, [canal], "format = canal_json") == [
        ("-U", 1, None), ("+U", 2, "b"), ("-U", 3, "d"), ("+U", 4, "d"),
    ]  # fmt: skip


def test_an_update_without_the_row_before_it(spark, tmp_path):
    assert read(spark, tmp_path, [debezium("u", None, B)], "format = debezium_json") == [("+U", 1, "b")]


TYPED = (
    'schema { columns = [{ name = d, type = "decimal(38,4)" }, { name = day, type = date }, '
    "{ name = ms, type = timestamp, columnScale = 3 }, { name = us, type = timestamp_ntz, columnScale = 6 }, "
    '{ name = any, type = timestamp }, { name = t, type = "time(3)" }, { name = b, type = bytes }, '
    '{ name = tags, type = "array<string>" }, { name = j, type = "struct<a: int>" }] }'
)


def test_debezium_encodings_by_the_declared_types(spark, tmp_path):
    first = {"d": base64_decimal(Decimal("-12345678901234567890.1234"), 4), "day": 19844, "ms": 1714557600123,
             "us": 1714557600123456, "any": 1714557600123456, "t": 36000000, "b": "AAE=", "tags": ["x", None],
             "j": '{"a": 1}'}  # fmt: skip
    second = {"d": {"scale": 1, "value": "fw=="}, "day": "2024-05-01", "ms": "2024-05-01T10:00:00Z",
              "us": -1, "any": 1714557600123, "t": "10:00:00Z", "b": None, "tags": None, "j": {"a": "2"}}  # fmt: skip
    rows = read(spark, tmp_path, [debezium("c", None, first), debezium("c", None, second)], "format = debezium_json",
                TYPED)  # fmt: skip
    day, moment = date(2024, 5, 1), datetime(2024, 5, 1, 10, tzinfo=timezone.utc)
    kind, d, found, ms, us, any, t, b, tags, j = rows[0]
    assert (kind, d, found, t, bytes(b), tags) == ("+I", Decimal("-12345678901234567890.1234"), day, time(10), b"\0\1",
                                                    ["x", None])  # fmt: skip
    assert ms.timestamp() == moment.timestamp() + 0.123
    assert us == datetime(2024, 5, 1, 10, 0, 0, 123456)
    assert any.timestamp() == moment.timestamp() + 0.123456
    assert j.a == 1
    _, d, found, ms, us, any, t, *_, j = rows[1]
    assert (d, found, t, us) == (Decimal("12.7"), day, time(10), datetime(1969, 12, 31, 23, 59, 59, 999999))
    assert (ms.timestamp(), any.timestamp(), j.a) == (moment.timestamp(), moment.timestamp() + 0.123, 2)


def test_the_schema_of_a_record_decides(spark, tmp_path):
    fields = [
        {"field": "d", "type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "parameters": {"scale": "1"}},
        {"field": "s", "type": "string"},
        {"field": "at", "type": "int64", "name": "io.debezium.time.NanoTimestamp", "version": 1},
    ]
    schema = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": fields}]}
    after = {"d": base64_decimal(Decimal("1.5"), 1), "s": "1234", "at": 1714557600123456789}
    columns = 'schema { fields { d = "decimal(10,2)", s = "decimal(10,2)", at = timestamp_ntz } }'
    record = {"schema": schema, "payload": debezium("c", None, after)}
    [row] = read(spark, tmp_path, [record], "format = debezium_json", columns)
    assert row == ("+I", Decimal("1.50"), Decimal("1234.00"), datetime(2024, 5, 1, 10, 0, 0, 123456))


@pytest.mark.parametrize(("mode", "expected"), [("precise", Decimal("-26588.24")), ("string", Decimal("1234.00"))])
def test_texts_in_columns_of_decimals(spark, tmp_path, mode, expected):
    columns = 'schema { fields { d = "decimal(10,2)" } }'
    options = f"format = debezium_json, debezium_decimals = {mode}"
    assert read(spark, tmp_path, [debezium("c", None, {"d": "1234"})], options, columns) == [("+I", expected)]


def test_values_that_postgresql_did_not_send_come_from_the_row_before(spark, tmp_path):
    unsent = {"id": 1, "name": "__debezium_unavailable_value"}
    assert read(spark, tmp_path, [debezium("u", A, unsent)], "format = debezium_json")[1] == ("+U", 1, "a")
    marking = "format = debezium_json, format_error_handle_way = mark"
    [(_, id, name, error, _)] = read(spark, tmp_path, [debezium("u", None, unsent)], marking)
    assert (id, name) == (None, None)
    assert error == "the database did not send the value of `name`: REPLICA IDENTITY FULL does"


BAD = {
    "{": "it is not JSON",
    '{"a": 1}': "it is no change of Debezium: it has no `op`",
    '{"op": "x"}': "it is no change of Debezium: `op` is x",
    '{"op": "t"}': "it truncates the table, which row kinds cannot express",
    '{"op": "c", "after": null}': "the row after the change is missing",
    '{"op": "d"}': "the row before the change is missing",
    '{"op": "c", "after": "{}"}': "a row of it is not a JSON object",
    '{"op": "c", "after": {"id": 1.5}}': "the value of `id` is not bigint",
}


def test_records_that_cannot_be_read(spark, tmp_path):
    good = debezium("c", None, A)
    marking = "format = debezium_json, format_error_handle_way = mark"
    rows = read(spark, tmp_path, [good, *BAD], marking)
    assert rows[0] == ("+I", 1, "a", None, None)
    assert {row[4]: row[3] for row in rows[1:]} == BAD
    skipping = "format = debezium_json, format_error_handle_way = skip"
    assert read(spark, tmp_path, [*BAD, good], skipping) == [("+I", 1, "a")]
    with pytest.raises(
        Exception, match=r"a record does not fit: the value of `id` is not bigint \(topic t, partition 0"
    ):
        read(spark, tmp_path, [list(BAD)[-1]], "format = debezium_json")


def test_an_update_of_goldengate_that_lacks_a_column(spark, tmp_path):
    compressed = {"op_type": "U", "before": {"id": 1}, "after": {"id": 1}}
    marking = "format = ogg_json, format_error_handle_way = mark"
    assert [row[3] for row in read(spark, tmp_path, [compressed], marking)] == [
        None,
        "the update lacks the column `name`",
    ]


def test_tables_of_one_topic(spark, tmp_path):
    values = [
        debezium("c", None, A, db="shop", schema="public", table=table, ts_ms=1000) for table in ("orders", "people")
    ]
    told = "metadata_columns = [table_path, database, schema, table, change_time, offset]"
    rows = read(spark, tmp_path, values, f"format = debezium_json, {told}")
    assert rows[1][3:7] == ("shop.public.people", "shop", "public", "people")
    assert (rows[1][7].timestamp(), rows[1][8]) == (1.0, 1)
    chosen = "debezium_record_table_filter { database_name = shop, table_name = orders }, metadata_columns = [table]"
    assert [row[3] for row in read(spark, tmp_path, values, f"format = debezium_json, {chosen}")] == ["orders"]
    included = 'table.include = "peo.*", metadata_columns = [table]'
    assert [row[3] for row in read(spark, tmp_path, values, f"format = debezium_json, {included}")] == ["people"]
