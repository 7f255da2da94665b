"""Jobs of MongoDB without a server: options, queries, and the types of documents."""

import json
from datetime import datetime, timezone

import pytest

from catalog.types.datatypes import Field, Struct
from catalog.types.typenames import parse_type
from connectors.documents.exact_json import parsed, shaped
from connectors.mongodb.bson_values import bson_value, extended_text, json_value
from connectors.mongodb.mongo_client import place_of
from connectors.mongodb.shell_json import extended_json
from connectors.mongodb.write_documents import _id_of
from engine.cli import main
from tests.connectors.kafka.jobs import compiled

KEYED = "id = bigint, name = string"
SECRET = "planted-secret-7f3a"
PLACE = f'uri = "mongodb://u:{SECRET}@b:27017,a:27017/?replicaSet=rs", database = shop, collection = orders'


def struct(**types: str) -> Struct:
    return Struct(tuple(Field(name, parse_type(text)) for name, text in types.items()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{status: 'A'}", {"status": "A"}),
        ('{ "a.b": {$gte: 1.5e3}, ok: true }', {"a.b": {"$gte": 1.5e3}, "ok": True}),
        ('{d:ISODate("2023-06-26T16:00:00.000Z")}', {"d": {"$date": "2023-06-26T16:00:00.000Z"}}),
        ('{d: ISODate("2023-06-26")}', {"d": {"$date": "2023-06-26T00:00:00Z"}}),
        ('{_id: ObjectId("643d41f5fdc6a52e90e59cbf"), n: NumberLong(7)}',
         {"_id": {"$oid": "643d41f5fdc6a52e90e59cbf"}, "n": {"$numberLong": "7"}}),
        ('{s: "a: b, c: \'d\'"}', {"s": "a: b, c: 'd'"}),
    ],
)  # fmt: skip
def test_queries_of_the_shell_are_extended_json(text, expected):
    assert json.loads(extended_json(text)) == expected


@pytest.mark.parametrize("text", ["[1]", "{status: }", "status", "{"])
def test_what_is_no_document_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        extended_json(text)


def test_documents_are_read_as_json_of_the_columns():
    from bson import Binary, Decimal128, Int64, ObjectId, Timestamp

    document = {
        "_id": ObjectId("643d41f5fdc6a52e90e59cbf"), "n": Int64(2**60), "d": Decimal128("1234567890123456.5000"),
        "at": datetime(2024, 5, 1, 10, tzinfo=timezone.utc), "b": Binary(b"\x00\xff"), "l": [1, 2],
        "t": Timestamp(0, 1), "home": {"no": 3}, "nan": float("nan"),
        "x": {"any": [True, None]},
    }  # fmt: skip
    row = struct(_id="string", n="bigint", d="decimal(20,4)", at="timestamp", b="binary", l="array<int>", t="timestamp",
                 home="struct<no:int>", nan="double", x="string")  # fmt: skip
    assert shaped(json_value(document), row) == {
        "_id": "643d41f5fdc6a52e90e59cbf", "n": 2**60, "d": "1234567890123456.5000", "at": "2024-05-01T10:00:00+00:00",
        "b": "AP8=", "l": [1, 2], "t": "1970-01-01T00:00:00+00:00", "home": {"no": 3}, "nan": "NaN",
        "x": '{"any": [true, null]}',
    }  # fmt: skip
    assert json.loads(extended_text({"n": Int64(3)})) == {"n": {"$numberLong": "3"}}


def test_rows_are_written_as_documents_of_their_types():
    from bson import Decimal128, Int64

    text = (
        '{"n": 7, "i": 8, "d": 1234567890123456.5000, "at": "2024-05-01T10:00:00.123456Z", "day": "2024-05-01", '
        '"b": "AP8=", "f": 0.1, "l": [1], "home": {"sum": 1.50}, "m": {"k": null}, "local": "2024-05-01T10:00:00"}'
    )
    row = struct(n="bigint", i="int", d="decimal(20,4)", at="timestamp", day="date", b="binary", f="double",
                 l="array<bigint>", home="struct<sum:decimal(4,2)>", m="map<string,int>",
                 local="timestamp")  # fmt: skip
    found = bson_value(parsed(text), row)
    assert (type(found["n"]), type(found["i"]), type(found["l"][0])) == (Int64, int, Int64)
    assert (found["d"], found["home"]["sum"]) == (Decimal128("1234567890123456.5000"), Decimal128("1.50"))
    assert found["at"] == datetime(2024, 5, 1, 10, 0, 0, 123456, tzinfo=timezone.utc)
    assert found["day"] == datetime(2024, 5, 1, tzinfo=timezone.utc)
    assert found["local"] == datetime(2024, 5, 1, 10, tzinfo=timezone.utc)
    assert (found["b"], found["f"], found["m"]) == (b"\x00\xff", 0.1, {"k": None})


def test_a_repeated_commit_gives_a_row_the_same_id():
    assert _id_of("run.w", 5) == _id_of("run.w", 5)
    assert len({_id_of(run, position) for run in ("a", "b") for position in range(100)}) == 200


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ('uri = "http://h", database = d, collection = c', "PEN2004", "no URI of MongoDB"),
        (f"{PLACE}, primary-key = [idd]", "PEN4008", "`idd`"),
        (f"{PLACE}, upsert-enable = true", "PEN2011", "needs a key"),
        ("uri = x, database = d", "PEN2005", "collection"),
    ],
)
def test_options_of_a_sink_that_cannot_be(tmp_path, capsys, options, code, said):
    path = tmp_path / "job.conf"
    path.write_text(
        f"source {{ FakeSource {{ schema {{ fields {{ {KEYED} }} }} }} }}\nsink {{ MongoDB {{ {options} }} }}"
    )
    assert main(["validate", str(path)]) == 2
    out = "".join(capsys.readouterr())
    assert code in out
    assert said in out
    assert SECRET not in out


def test_a_job_of_the_page_is_valid_and_shows_no_password(tmp_path, capsys):
    fields = "schema { fields { _id = string, status = string } }"
    job = tmp_path / "job.conf"
    job.write_text(
        f"source {{ MongoDB {{ {PLACE}, match.query = \"{{status: 'A'}}\", {fields} }} }}\n"
        f"sink {{ MongoDB {{ {PLACE.replace('orders', 'copied')}, upsert-enable = true, primary-key = [_id] }} }}"
    )
    assert main(["explain", str(job)]) == 0
    out = capsys.readouterr().out
    assert SECRET not in out
    assert "none is doubled" in " ".join(out.split())
    [write] = compiled(tmp_path, job.read_text()).plan.writes
    assert place_of(write.options) == "mongodb://a:27017,b:27017/shop.copied"
    assert write.write_mode.needs_key


def test_the_columns_of_a_source_are_declared(tmp_path, capsys):
    job = tmp_path / "job.conf"
    job.write_text(f"source {{ MongoDB {{ {PLACE} }} }}\nsink {{ Console {{}} }}")
    assert main(["validate", str(job)]) == 2
    assert "schema" in "".join(capsys.readouterr())
