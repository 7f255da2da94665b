"""Rows sent to a service on this machine, and services whose sources know their own headers."""

import json
from base64 import b64encode
from pathlib import Path

import pytest

import connectors
from engine.cli import main
from tests.connectors.http_.service import Request, service

SOURCE = """
FakeSource {
  plugin_output = rows
  schema { table = orders, fields { id = int, name = string, day = date, at = timestamp, sum = "decimal(10,2)" } }
  rows = [
    { kind = INSERT, fields = [1, "a", "2026-01-02", "2026-01-02T03:04:05", 1.50] }
    { kind = INSERT, fields = [2, null, null, null, null] }
    { kind = INSERT, fields = [3, "ü", null, null, 2] }
  ]
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    return tmp_path


def job_of(folder: Path, sink: str, source: str = SOURCE) -> str:
    path = folder / "job.conf"
    path.write_text(f"env {{ job.retry.times = 0 }}\nsource {{ {source} }}\nsink {{ {sink} }}\n")
    return str(path)


def sent(requests: list[Request]) -> list[dict[str, object]]:
    found = []
    for request in requests:
        body = json.loads(request.body)
        found += body if isinstance(body, list) else [body]
    return sorted(found, key=lambda row: row["id"])


@pytest.mark.parametrize(
    ("sink", "code", "said"),
    [
        ('Http { url = "ftp://h/" }', "PEN2004", "neither an http:// nor an https:// URL"),
        ('Http { url = "http://h/", method = GET }', "PEN2004", "GET"),
        ('Http { url = "http://h/", batch_size = 10 }', "PEN2011", "one row as an object"),
    ],
)
def test_options_of_a_sink_that_cannot_be(folder, capsys, sink, code, said):
    main(["validate", job_of(folder, sink)])
    out = "".join(capsys.readouterr())
    assert code in out
    assert said in out


def test_explain_says_what_a_sink_cannot_promise(folder, capsys):
    sink = 'Http { url = "http://h/?token=hunter2", headers { Authorization = "Bearer hunter22" } }'
    assert main(["explain", job_of(folder, sink)]) == 0
    out = "".join(capsys.readouterr())
    assert "at least once: an interrupted commit sends all requests again, with the same `Idempotency-Key`" in out
    assert "hunter2" not in out


@pytest.mark.spark
def test_a_webhook_gets_each_row_as_an_object(spark, folder, capsys):
    """The example of the documentation."""
    with service(lambda request: "ok") as there:
        sink = f'Http {{ url = "{there.url}", headers {{ token = "t1" }}, params {{ v = 2 }} }}'
        assert main(["run", job_of(folder, sink)]) == 0, capsys.readouterr()
    assert sent(there.requests) == [
        {"id": 1, "name": "a", "day": "2026-01-02", "at": sent(there.requests)[0]["at"], "sum": 1.50},
        {"id": 2, "name": None, "day": None, "at": None, "sum": None},
        {"id": 3, "name": "ü", "day": None, "at": None, "sum": 2.00},
    ]
    assert str(sent(there.requests)[0]["at"]).startswith("2026-01-02T03:04:05")
    assert {(r.method, r.headers["token"], r.params["v"]) for r in there.requests} == {("POST", "t1", "2")}
    assert {r.headers["content-type"] for r in there.requests} == {"application/json"}
    assert len({r.headers["idempotency-key"] for r in there.requests}) == 3


@pytest.mark.spark
def test_arrays_of_rows_are_put_and_repeated_with_the_same_key(spark, folder, capsys):
    refused: list[str] = []

    def answer(request):
        if not refused:
            refused.append(request.headers["idempotency-key"])
            return (503, "", {})
        return "ok"

    with service(answer) as there:
        sink = f'Http {{ url = "{there.url}", method = PUT, array_mode = true, batch_size = 100, '
        sink += "parallelism = 1, retry_backoff_multiplier_ms = 1 }"
        assert main(["run", job_of(folder, sink)]) == 0, capsys.readouterr()
    accepted = there.requests[1:]
    assert [row["id"] for row in sent(accepted)] == [1, 2, 3]
    assert {request.method for request in there.requests} == {"PUT"}
    assert refused[0] in {request.headers["idempotency-key"] for request in accepted}


@pytest.mark.spark
def test_nothing_is_sent_where_another_sink_fails(spark, folder, capsys):
    with service(lambda request: "ok") as there:
        sink = f'Http {{ url = "{there.url}" }}\nAssert {{ rules {{ row_rules = ['
        sink += "{ rule_type = MIN_ROW, rule_value = 4 }] } }"
        assert main(["run", job_of(folder, sink)]) == 1
    assert there.requests == []


@pytest.mark.spark
def test_a_commit_that_the_service_refuses_is_an_error_and_can_be_repeated(spark, folder, capsys):
    with service(lambda request: (400, "", {}) if len(there.requests) < 2 else "ok") as there:
        sink = f'Http {{ url = "{there.url}?token=hunter2", idempotency_header = key }}'
        assert main(["run", "--run-id", "r1", job_of(folder, sink)]) == 1
        out = "".join(capsys.readouterr())
        assert "PEN5040" in out
        assert "the server answered 400" in out
        assert "hunter2" not in out
        first = list(there.requests)
        assert main(["run", "--resume", "r1", job_of(folder, sink)]) == 0, capsys.readouterr()
    again = there.requests[len(first) :]
    assert [row["id"] for row in sent(again)] == [1, 2, 3]
    assert {request.headers["key"] for request in first} <= {request.headers["key"] for request in again}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("block", "header", "text"),
    [
        ("Github { access_token = k3y", "authorization", "Bearer k3y"),
        ("Gitlab { access_token = k3y", "private-token", "k3y"),
        (
            'Jira { email = "a@b", api_token = k3y',
            "authorization",
            f"Basic {b64encode(b'a@b:k3y').decode()}",
        ),
        ('Klaviyo { private_key = k3y, revision = "2020-10-17"', "authorization", "Klaviyo-API-Key k3y"),
        ("Lemlist { password = k3y", "authorization", f"Basic {b64encode(b':k3y').decode()}"),
        ('Notion { password = k3y, version = "2022-06-28"', "authorization", "Bearer k3y"),
        ("OneSignal { password = k3y", "authorization", "Basic k3y"),
        ("Persistiq { password = k3y", "x-api-key", "k3y"),
    ],
)
def test_a_source_of_a_service_has_its_headers(spark, folder, capsys, block, header, text):
    with service(lambda request: [{"id": 1}]) as there:
        source = f'{block}, plugin_output = rows, url = "{there.url}", schema {{ fields {{ id = int }} }} }}'
        sink = "Assert { rules { row_rules = [{ rule_type = MIN_ROW, rule_value = 1 }] } }"
        job = job_of(folder, sink, source)
        assert main(["explain", job]) == 0
        assert main(["run", job]) == 0, capsys.readouterr()
        assert "k3y" not in "".join(capsys.readouterr())
    assert {request.headers[header] for request in there.requests} == {text}


@pytest.mark.spark
def test_a_webhook_of_feishu_gets_each_row(spark, folder, capsys):
    with service(lambda request: "ok") as there:
        assert main(["run", job_of(folder, f'Feishu {{ url = "{there.url}" }}')]) == 0, capsys.readouterr()
    assert [row["id"] for row in sent(there.requests)] == [1, 2, 3]


def test_only_the_sink_needs_arrow():
    http = connectors.sink("Http")
    assert http is connectors.source("Http")
    assert http.packages(is_written=True) == ("pyarrow>=17",)
    assert http.packages(is_written=False) == ()
