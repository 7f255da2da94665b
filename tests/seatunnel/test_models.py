"""`LLM` and `Embedding` against an HTTP server of OpenAI's API on this machine: batches, retries, refusals."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from engine.transforms.support import model_calls
from engine.transforms.support.endpoints import endpoint
from engine.transforms.support.model_calls import Endpoint, ModelError, found_at


class Model(BaseHTTPRequestHandler):
    """Answers each row with its name in upper case, each text with its length; every third request fails at first."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        server.requests.append((self.path, dict(self.headers), body))
        if server.failures:
            self.send_response(server.failures.pop())
            self.end_headers()
            return
        if self.path.startswith("/embeddings"):
            answer = {"data": [{"embedding": [len(text), 0.5]} for text in body["input"]]}
        else:
            rows = json.loads(body["messages"][-1]["content"])
            answer = {"choices": [{"message": {"content": json.dumps([row["name"].upper() for row in rows])}}]}
        self.answer(answer)

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers), None))
        self.answer({"access_token": "t k"} if "client_secret=s%26" in self.path else {"error": "invalid_client"})

    def answer(self, answer):
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def model() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.requests, server.failures = [], []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def url(server, path: str) -> str:
    return f"http://127.0.0.1:{server.server_port}/{path}"


def names(*values: str | None):
    pyarrow = pytest.importorskip("pyarrow")

    return pyarrow.RecordBatch.from_pydict({"name": pyarrow.array(values, pyarrow.string())})


def completed(server, size: int = 2, **endpoint):
    pyarrow = pytest.importorskip("pyarrow")

    found = Endpoint(url(server, "chat"), "m", {"Authorization": "Bearer k"}, backoff=0.01, **endpoint)
    asked = model_calls.Completion(found, "Shout", ("name",), "llm_output", size)
    schema = pyarrow.schema([("name", pyarrow.string()), ("llm_output", pyarrow.string())])
    (batch,) = model_calls.complete(asked, iter([names("a", "b", "c")]), schema)
    return batch.column("llm_output").to_pylist()


def test_rows_are_asked_in_batches(model):
    assert completed(model) == ["A", "B", "C"]
    assert [len(json.loads(body["messages"][1]["content"])) for _, _, body in model.requests] == [2, 1]
    assert {headers["Authorization"] for _, headers, _ in model.requests} == {"Bearer k"}


def test_transient_errors_are_retried(model):
    model.failures = [429, 503]
    assert completed(model, 3) == ["A", "B", "C"]
    assert len(model.requests) == 3


def test_others_are_not(model):
    model.failures = [401]
    with pytest.raises(ModelError, match="401"):
        completed(model)
    assert len(model.requests) == 1


def test_requests_are_paced(model):
    import time

    started = time.monotonic()
    completed(model, 1, per_second=20.0)
    assert time.monotonic() - started >= 0.1


def test_texts_become_vectors_and_null_stays_null(model):
    pyarrow = pytest.importorskip("pyarrow")

    asked = model_calls.Vectors(Endpoint(url(model, "embeddings"), "m", {}), {"v": "name"}, 10, None)
    schema = pyarrow.schema([("name", pyarrow.string()), ("v", pyarrow.list_(pyarrow.float32()))])
    (batch,) = model_calls.embed(asked, iter([names("ab", None)]), schema)
    assert batch.column("v").to_pylist() == [[2.0, 0.5], None]


def qianfan(server, secret: str) -> Endpoint:
    """The endpoint of a checked `Embedding` block."""
    values = {
        "model_provider": "QIANFAN", "model": "m", "api_key": "k", "secret_key": secret, "requests_per_second": None,
        "api_path": url(server, "embeddings/"), "oauth_path": url(server, "token"), "model_retry_max_attempts": 1,
        "model_retry_backoff_ms": 1, "model_retry_max_backoff_ms": 1, "model_request_timeout_ms": 5000,
    }  # fmt: skip
    found = endpoint(Options(values), {}, Diagnostics())
    assert found is not None
    return found


def test_qianfan_gives_a_token_for_two_keys(model):
    pyarrow = pytest.importorskip("pyarrow")

    asked = model_calls.Vectors(qianfan(model, "s&"), {"v": "name"}, 1, None)
    schema = pyarrow.schema([("name", pyarrow.string()), ("v", pyarrow.list_(pyarrow.float32()))])
    (batch,) = model_calls.embed(asked, iter([names("ab", "c")]), schema)
    assert batch.column("v").to_pylist() == [[2.0, 0.5], [1.0, 0.5]]
    assert [path for path, _, _ in model.requests] == [
        "/token?grant_type=client_credentials&client_id=k&client_secret=s%26",
        "/embeddings/m?access_token=t%20k",
        "/embeddings/m?access_token=t%20k",
    ]


def test_wrong_keys_of_qianfan_are_an_error_without_them(model):
    pytest.importorskip("pyarrow")
    asked = model_calls.Vectors(qianfan(model, "wrong"), {"v": "name"}, 1, None)
    with pytest.raises(ModelError, match="without `access_token`") as raised:
        list(model_calls.embed(asked, iter([names("ab")]), None))
    assert "wrong" not in str(raised.value)


def test_qianfan_needs_both_keys():
    diagnostics = Diagnostics()
    options = Options({"model_provider": "QIANFAN", "model": "m", "api_path": "http://h", "api_key": "k"})
    assert endpoint(options, {}, diagnostics) is None
    assert [item.message for item in diagnostics] == ["`QIANFAN` needs `secret_key`"]


@pytest.mark.parametrize(
    ("answer", "values"),
    [
        ('["a"]', ["a"]),
        ("```json\n[1]\n```", [1]),
        ("[True]", [True]),
        ("['it''s']", ["its"]),
        ("[broken", ["[broken"]),
    ],
)
def test_an_answer_is_json_or_a_list_of_python(answer, values):
    assert model_calls._values_of(answer, 1) == values


def test_a_path_finds_values():
    document = {"choices": [{"message": {"content": "x"}}, {"message": {"content": "y"}}]}
    assert found_at(document, "$.choices[*].message.content") == ["x", "y"]
    assert found_at(document, "$.choices[1]['message'].content") == ["y"]


@pytest.mark.spark
def test_a_job_asks_the_model(spark, model, tmp_path, monkeypatch):
    from engine.compile import Settings, compile_job
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest
    from engine.state.run_state import State

    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job = tmp_path / "job.conf"
    job.write_text(
        f"""
env {{ job.mode = BATCH }}
source {{ FakeSource {{ plugin_output = fake, schema {{ fields {{ name = string }} }}
  rows = [{{ kind = INSERT, fields = ["joy"] }}] }} }}
transform {{
  LLM {{ plugin_input = fake, plugin_output = asked, model_provider = OPENAI, model = m, api_key = sk-xxx
    prompt = "Shout", openai.api_path = "{url(model, "chat")}" }}
  Embedding {{ plugin_input = asked, plugin_output = out, model_provider = OPENAI, model = m, api_key = sk-xxx
    secret_key = s, api_path = "{url(model, "embeddings")}", vectorization_fields {{ v = name }} }}
  Sql {{ plugin_input = out, plugin_output = seen, query = "select llm_output, v[0] as first from dual" }}
}}
sink {{ Assert {{ plugin_input = seen, rules {{ field_rules = [
  {{ field_name = llm_output, field_type = string, field_value = [{{ equals_to = "JOY" }}] }},
  {{ field_name = first, field_type = float, field_value = [{{ rule_type = MIN, rule_value = 3 }}] }} ] }} }} }}
"""
    )
    diagnostics = Diagnostics()
    compiled = compile_job(job, Settings(compat=Compat.SEATUNNEL_2, reads_secrets=True), diagnostics)
    assert compiled is not None, diagnostics.items
    result = run_job(spark, compiled, RunRequest("models"))
    assert result.state is State.FINISHED, result.diagnostics
