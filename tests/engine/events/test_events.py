"""Events of a run: to whom they go, and that no listener holds up the run."""

import importlib.util
import json
import logging
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from engine.cli import main
from engine.compile import Settings, compile_job
from engine.events.dispatch import Dispatcher
from engine.events.event import Event
from engine.events.listeners import JsonLinesListener, LogListener, listener_of
from engine.job.model.job import ListenerConfig
from engine.runtime.job_events import JobEvents
from engine.state.run_state import State
from tests.connectors.http_.service import service as web_service
from tests.engine.events.openlineage_schema import violations

EVENT = Event("2026-01-01T00:00:00.000Z", "r", "job", None, "RUNNING")
JOB = """
env {{ job.retry.times = 0, listeners = [{listeners}] }}
source {{ FakeSource {{ plugin_output = "people", row.num = 3
                        schema {{ fields {{ id = bigint, name = string }} }} }} }}
transform {{ Sql {{ plugin_output = "named", query = "select upper(name) as name from people where id > 0" }} }}
sink {{ LocalFile {{ plugin_output = "lake", path = "{out}", file_format_type = "parquet" }} }}
"""


@pytest.fixture
def service():
    """A web service that answers with the listed status codes, then with 200; `posts` are what it got."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.server.posts.append((self.path, self.headers.get("Authorization"), body))
            self.server.teams.append(self.headers.get("X-Team"))
            time.sleep(self.server.delay)
            self.send_response(self.server.answers.pop(0) if self.server.answers else 200)
            self.send_header("Content-Length", "0")
            if self.server.redirects_to:
                self.send_header("Location", self.server.redirects_to)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.posts, server.answers, server.delay, server.redirects_to, server.teams = [], [], 0.0, None, []
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def plan_of(folder, listeners=""):
    file = folder / "job.conf"
    file.write_text(JOB.format(listeners=listeners, out=folder / "out"))
    diagnostics = Diagnostics()
    compiled = compile_job(file, Settings(), diagnostics)
    assert compiled is not None, diagnostics.items
    return compiled.plan


def test_the_log_has_a_line_for_each_event(caplog):
    with caplog.at_level(logging.INFO, "penstock.events"):
        LogListener("log", 1.0).notify(EVENT)
    assert caplog.messages == ["r job  RUNNING"]


def test_the_log_is_printed_where_no_logging_is_set_up(monkeypatch, capsys):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    LogListener("log", 1.0).notify(EVENT)
    assert capsys.readouterr().err == "r job  RUNNING\n"


def test_json_lines_are_added_to_a_file(tmp_path):
    listener = JsonLinesListener("jsonl", 1.0, str(tmp_path / "new" / "events.jsonl"))
    for _ in range(2):
        listener.notify(EVENT)
    lines = (tmp_path / "new" / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["state"] for line in lines] == ["RUNNING", "RUNNING"]


def test_a_web_service_is_notified_again_after_a_transient_error(service, monkeypatch):
    monkeypatch.setenv("EVENTS_TOKEN", "t0ken-of-a-test")
    config = ListenerConfig("http", url=f"{service.url}/events", retries=2, token_env="EVENTS_TOKEN")
    listener = listener_of(config, None)
    service.answers = [503, 429]
    listener.notify(EVENT)
    assert [(path, token) for path, token, _ in service.posts] == [("/events", "Bearer t0ken-of-a-test")] * 3
    assert service.posts[0][2] == EVENT.to_json()
    service.answers = [400]
    with pytest.raises(RunError, match="400"):
        listener.notify(EVENT)
    assert len(service.posts) == 4


def test_no_other_host_gets_the_token_or_the_event(service, monkeypatch):
    """A redirected POST would arrive as a GET without its body, so that the event would be lost unnoticed."""
    monkeypatch.setenv("EVENTS_TOKEN", "t0ken-of-a-test")
    with web_service(lambda request: "") as other:
        service.redirects_to = f"{other.url}?token=hunter2"
        service.answers = [302]
        listener = listener_of(ListenerConfig("http", url=service.url, retries=2, token_env="EVENTS_TOKEN"), None)
        assert "t0ken" not in repr(listener)
        with pytest.raises(RunError, match="302 Found, a redirect to http") as caught:
            listener.notify(EVENT)
        assert "hunter2" not in str(caught.value)
        assert other.requests == []
    assert len(service.posts) == 1


def test_a_token_that_is_not_set_stops_the_run_before_it_starts(monkeypatch):
    monkeypatch.delenv("NO_TOKEN", raising=False)
    with pytest.raises(RunError, match="NO_TOKEN"):
        listener_of(ListenerConfig("http", url="http://localhost", token_env="NO_TOKEN"), None)


def test_neither_an_error_nor_a_hang_of_a_listener_delays_the_others(tmp_path):
    hung, ended = threading.Event(), threading.Event()

    class Hanging:
        name, timeout = "hanging", 0.3

        def notify(self, event):
            hung.wait(20)
            ended.set()

    class Broken:
        name, timeout = "broken", 0.3

        def notify(self, event):
            raise ValueError("no")

    good = JsonLinesListener("jsonl", 5.0, str(tmp_path / "events"))
    dispatcher = Dispatcher([Hanging(), Broken(), good])
    for _ in range(100):
        dispatcher.notify(EVENT)
    warnings = dispatcher.close()
    assert not ended.is_set(), "the others waited for the listener that hangs"
    hung.set()
    assert [(warning.code, warning.severity.value) for warning in warnings] == [("PEN5051", "warning")] * 2
    assert "hanging" in warnings[0].message
    assert "ValueError: no" in warnings[1].message
    assert len((tmp_path / "events").read_text().splitlines()) == 100


def test_the_moves_of_a_job_are_reported_with_their_cause(tmp_path):
    plan = plan_of(tmp_path, f'{{ type = jsonl, path = "{tmp_path}/events" }}')

    def notified(ending):
        (tmp_path / "events").unlink(missing_ok=True)
        events = JobEvents(plan, "r")
        events.begin()
        ending(events)
        assert events.close() == ()
        records = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
        return [(record["pipeline"], record["state"], record["cause"]) for record in records][3:]

    assert notified(lambda events: events.end(State.FINISHED, None, {})) == [(None, "FINISHED", None)]
    assert notified(lambda events: events.failed(ValueError("why"))) == [
        (None, "FAILING", "why"),
        (None, "FAILED", "why"),
    ]
    assert [state for _, state, _ in notified(lambda events: events.failed(KeyboardInterrupt()))] == [
        "CANCELING",
        "CANCELED",
    ]


def test_headers_of_a_listener_are_texts_of_one_line(tmp_path, capsys):
    service = '{ type = http, url = "http://h", headers { X = "a\\nHost: other" } }'
    (tmp_path / "job.conf").write_text(JOB.format(listeners=service, out=tmp_path / "out"))
    assert main(["validate", str(tmp_path / "job.conf")]) == 2
    assert "`headers` are names with texts of one line" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("{ type = smoke }", "PEN2004"),
        ("{ type = http }", "PEN2005"),
        ('{ type = http, url = "ftp://x" }', "PEN2004"),
        ('{ type = jsonl, path = "x", url = "http://x" }', "PEN2003"),
        ("{ type = log, timeout_seconds = -1 }", "PEN2004"),
    ],
)
def test_a_listener_that_cannot_be_is_an_error_of_the_job(tmp_path, written, code):
    file = tmp_path / "job.conf"
    file.write_text(JOB.format(listeners=written, out="out"))
    diagnostics = Diagnostics()
    assert compile_job(file, Settings(), diagnostics) is None
    assert [diagnostic.code for diagnostic in diagnostics] == [code]


@pytest.mark.skipif(importlib.util.find_spec("openlineage") is None, reason="needs the extra `openlineage`")
def test_openlineage_gets_start_and_end_with_the_lineage_of_columns(tmp_path, service):
    from openlineage.client.event_v2 import RunEvent
    from openlineage.client.facet_v2 import column_lineage_dataset

    options = f'url = "{service.url}", namespace = "tests", timeout_seconds = 30'
    plan = plan_of(tmp_path, f"{{ type = openlineage, {options} }}")
    events = JobEvents(plan, "r1")
    events.begin()
    events.pipeline("1: people", State.RUNNING)
    events.end(State.FINISHED, None, {"sinks": {"lake": {"rows": 3, "bytes": 700}}})
    assert events.close() == ()
    start, complete = (body for _, _, body in service.posts)
    assert [start["eventType"], complete["eventType"]] == ["START", "COMPLETE"]
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert complete["job"] == {"namespace": "tests", "name": "job", "facets": {}}
    (output,) = complete["outputs"]
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 3
    (origin,) = (
        each for each in output["facets"]["columnLineage"]["fields"]["name"]["inputFields"] if each["field"] == "name"
    )
    assert origin["name"] == complete["inputs"][0]["name"]
    assert origin["transformations"][0]["type"] == "DIRECT"
    for body in (start, complete):
        assert violations(body) == []
        assert set(body) <= {attribute.name for attribute in RunEvent.__attrs_attrs__}
        for dataset in body["outputs"]:
            lineage = dataset["facets"]["columnLineage"]
            assert lineage["_schemaURL"] == column_lineage_dataset.ColumnLineageDatasetFacet._get_schema()


@pytest.mark.skipif(importlib.util.find_spec("openlineage") is None, reason="needs the extra `openlineage`")
@pytest.mark.parametrize(("error", "kind"), [(OSError("no space"), "FAIL"), (KeyboardInterrupt("SIGINT"), "ABORT")])
def test_openlineage_gets_the_end_of_a_failed_and_of_a_cancelled_run(tmp_path, service, error, kind):
    plan = plan_of(tmp_path, f'{{ type = openlineage, url = "{service.url}", timeout_seconds = 30 }}')
    events = JobEvents(plan, "r1")
    events.begin()
    events.failed(error)
    assert events.close() == ()
    *_, end = (body for _, _, body in service.posts)
    assert violations(end) == []
    assert end["eventType"] == kind
    assert ("errorMessage" in end["run"]["facets"]) == (kind == "FAIL")


def test_the_schema_of_openlineage_finds_what_is_missing():
    event = {"eventTime": "2026-01-01T00:00:00", "producer": "penstock", "run": {"runId": "r1"}, "outputs": [{}]}
    assert sorted(violation.split(":")[0] for violation in violations(event)) == [
        *("$", "$"),
        *("$.eventTime", "$.outputs[0]", "$.outputs[0]", "$.producer", "$.run.runId"),
    ]


@pytest.mark.spark
def test_a_run_reports_every_state_of_the_job_and_its_pipeline(spark, tmp_path, monkeypatch, service):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    listeners = f'{{ type = jsonl, path = "{tmp_path}/events" }}, {{ type = http, url = "{service.url}", '
    listeners += "headers { X-Team = data } }"
    plan_of(tmp_path, listeners)
    assert main(["run", str(tmp_path / "job.conf"), "--run-id", "reported", "--quiet"]) == 0
    records = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    assert [record["state"] for record in records if record["pipeline"] is None] == [
        "CREATED",
        "SCHEDULED",
        "RUNNING",
        "FINISHED",
    ]
    assert [record["state"] for record in records if record["pipeline"]] == ["SCHEDULED", "RUNNING", "FINISHED"]
    assert records[-1]["counts"]["rows_written"] == 3
    assert [body for _, _, body in service.posts] == records
    assert set(service.teams) == {"data"}
