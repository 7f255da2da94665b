"""Keys of a real Redis server, of each type: what is written is read back, and a repeated commit changes nothing."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

import connectors
from catalog.diagnostics.diagnostic import RunError
from catalog.tables.savemode import Action, WriteMode
from connectors.interface.row_sink import RowWrite
from connectors.interface.run_context import RunContext
from engine.cli import main
from tests.connectors.kafka.jobs import compiled, rows, run
from tests.services.databases import PASSWORD

pytestmark = pytest.mark.spark

KEYED = 'id = bigint, name = string, sum = "decimal(10,2)"'
TWO = '{ kind = INSERT, fields = [1, "a", 1.50] }, { kind = INSERT, fields = [2, "ü", 2.25] }'
SCHEMA = f"schema {{ fields {{ {KEYED} }} }}"


@pytest.fixture(autouse=True)
def _empty(redis):
    redis.client.flushall()


def writing(redis, options: str, listed: str = TWO) -> str:
    source = f"FakeSource {{ {SCHEMA}, rows = [{listed}] }}"
    return f"source {{ {source} }}\nsink {{ Redis {{ {redis.options}, {options} }} }}"


def reading(redis, options: str) -> str:
    return f"source {{ Redis {{ {redis.options}, {options} }} }}\nsink {{ InMemory {{}} }}"


EXPECTED = [(1, "a", Decimal("1.50")), (2, "ü", Decimal("2.25"))]


def test_keys_of_each_type_are_written_and_read_back(spark, tmp_path, redis):
    for kind, key, pattern in (
        ("key", "name", "*"), ("hash", "id", "[12]"), ("list", "all-l", "all-l*"), ("set", "all-s", "all-s*"),
        ("zset", "all-z", "all-z*"),
    ):  # fmt: skip
        redis.client.flushall()
        result = run(spark, tmp_path, writing(redis, f'data_type = {kind}, key = "{key}", expire = 1000'))
        assert result.errors == ()
        found = redis.client.keys(pattern)
        assert all(0 < redis.client.ttl(name) <= 1000 for name in found)
        assert rows(spark, tmp_path, reading(redis, f'data_type = {kind}, keys = "{pattern}", {SCHEMA}')) == EXPECTED
    assert redis.client.zscore("all-z", redis.client.zrange("all-z", 0, -1)[0]) == 1


def test_values_without_a_schema_are_texts(spark, tmp_path, redis):
    redis.client.mset({f"k{number}": f"v{number}" for number in range(1000)})
    redis.client.rpush("k-list", "x")
    assert len(rows(spark, tmp_path, reading(redis, 'data_type = string, keys = "k*", batch_size = 7'))) == 1000
    redis.client.hset("h", mapping={"a": "1"})
    [(text,)] = rows(spark, tmp_path, reading(redis, "data_type = hash, keys = h"))
    assert json.loads(text) == {"hash_key": "h", "a": "1"}


def test_entries_of_a_hash_can_be_rows(spark, tmp_path, redis):
    redis.client.hset("people", mapping={"7": '{"name": "a"}', "8": '{"name": "b"}'})
    schema = "schema { fields { id = int, name = string } }"
    asked = f"data_type = hash, keys = people, hash_key_parse_mode = kv, {schema}"
    assert rows(spark, tmp_path, reading(redis, asked)) == [(7, "a"), (8, "b")]
    written = 'data_type = hash, key = "by-id", hash_key_field = id, hash_value_field = name'
    assert run(spark, tmp_path, writing(redis, written)).errors == ()
    assert redis.client.hgetall("by-id") == {"1": "a", "2": "ü"}


def test_a_key_can_be_made_of_columns(spark, tmp_path, redis):
    options = 'data_type = key, key = "user:{id}:{name}", support_custom_key = true, value_field = sum'
    assert run(spark, tmp_path, writing(redis, options)).errors == ()
    assert {key: redis.client.get(key) for key in redis.client.scan_iter()} == {"user:1:a": "1.50", "user:2:ü": "2.25"}


def test_changes_are_applied(spark, tmp_path, redis):
    listed = (
        f'{TWO}, {{ kind = UPDATE_BEFORE, fields = [1, "a", 1.5] }}, {{ kind = UPDATE_AFTER, fields = [1, "A", 1] }}'
    )
    listed += ', { kind = DELETE, fields = [2, "ü", 2.25] }'
    options = "data_type = key, key = id, value_field = name"
    assert run(spark, tmp_path, writing(redis, options, listed)).errors == ()
    assert {key: redis.client.get(key) for key in redis.client.scan_iter()} == {"1": "A"}


def test_a_repeated_commit_pushes_only_what_is_missing(redis):
    """The second attempt comes after a first one that was killed between two of its requests."""
    import pyarrow as pa

    sink = connectors.sink("Redis")
    options = {"host": "127.0.0.1", "port": redis.port, "auth": PASSWORD, "db_num": 0, "mode": "single",
               "data_type": "list", "key": "l", "batch_size": 2, "expire": -1}  # fmt: skip
    write = RowWrite("id", "run", "", (Action.ADD_ROWS,), WriteMode.APPEND, (), options)

    def batch(count: int) -> pa.RecordBatch:
        positions = [number if number < 3 else (1 << 33) + number for number in range(count)]
        return pa.RecordBatch.from_pydict(
            {"value": ["{}"] * count, "position": positions, "is_delete": [False] * count, "redis_key": ["l"] * count,
             "redis_value": [str(number) for number in range(count)], "hash_entry": pa.nulls(count, pa.string())}
        )  # fmt: skip

    for count in (4, 7, 7):
        assert sink.write_rows(write, iter([batch(count)])) is None
    sink.commit_rows(write, [None], RunContext("run", "4.1"))
    assert redis.client.lrange("l", 0, -1) == [str(number) for number in reversed(range(7))]


def test_a_key_of_another_type_fails_the_run_and_says_why(spark, tmp_path, redis):
    redis.client.set("l", "x")
    with pytest.raises(RunError, match=r"WRONGTYPE") as caught:
        run(spark, tmp_path, "env { job.retry.times = 0 }\n" + writing(redis, "data_type = list, key = l"))
    assert caught.value.diagnostics[0].code == "PEN5005"
    redis.client.set("j", "no json")
    result = run(
        spark, tmp_path, "env { job.retry.times = 0 }\n" + reading(redis, f"data_type = key, keys = j, {SCHEMA}")
    )
    assert "a value of the key `j` is no JSON object: `no json`" in result.diagnostics[0].message


def test_a_wrong_password_is_reported_and_shown_nowhere(spark, tmp_path, redis):
    job = "env { job.retry.times = 0 }\n" + writing(redis, "data_type = key, key = id").replace(
        PASSWORD, f"{PASSWORD}x"
    )
    with pytest.raises(RunError) as caught:
        run(spark, tmp_path, job)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "PEN5005"
    assert "the server refused the user" in diagnostic.message
    assert PASSWORD not in str(caught.value)
    assert not [path for path in tmp_path.rglob("*.json") if PASSWORD in path.read_text()]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ("data_type = key, key = id", "PEN2005", "`host` is missing"),
        ("mode = cluster, data_type = key, key = id", "PEN2011", "needs `nodes`"),
        ("host = h, data_type = stream, key = id", "PEN2004", "data_type"),
        ("host = h, data_type = key, key = id, value_field = nme", "PEN4008", "`nme`"),
        ('host = h, data_type = key, key = "{idd}", support_custom_key = true', "PEN4008", "`idd`"),
        ("host = h, data_type = hash, key = id, hash_key_field = id", "PEN2011", "belong together"),
    ],
)
def test_options_of_a_sink_that_cannot_be(tmp_path, capsys, options, code, said):
    path = tmp_path / "job.conf"
    path.write_text(f"source {{ FakeSource {{ {SCHEMA} }} }}\nsink {{ Redis {{ {options} }} }}")
    assert main(["validate", str(path)]) == 2
    out = "".join(capsys.readouterr())
    assert code in out
    assert said in out


def test_explain_says_what_a_commit_does_not_promise(tmp_path, redis):
    job = compiled(tmp_path, writing(redis, "data_type = list, key = l"))
    [write] = job.plan.writes
    notes = " ".join(write.connector.caveats(write.options, ()))
    assert "pushes only the values that are not in the list yet" in notes
    assert "no transaction" in notes


def test_the_documented_job(spark, tmp_path, redis):
    """That of the how-to page, with the server of the tests."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "search-and-stores.md").read_text(encoding="utf-8")
    [job] = [block for block in re.findall(r"```hocon\n(.*?)```", page, re.S) if "Redis {" in block]
    job = job.replace("host = cache.example.com", redis.options).replace("auth = ${?REDIS_PASSWORD}", "")
    assert run(spark, tmp_path, job).errors == ()
    assert json.loads(redis.client.get("order:1")) == {"id": 1, "customer": "Ann", "amount": 12.5}
    assert redis.client.ttl("order:1") > 80_000
