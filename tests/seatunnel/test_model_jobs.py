"""Jobs with `LLM` and `Embedding` as SeaTunnel's pages show them, against a server of their APIs on this machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from string import Template

import pytest

from catalog.compat import Compat


class Models(BaseHTTPRequestHandler):
    """Answers by the path of the request; anything else than what a job should send is a 400."""

    def do_GET(self):
        keys_are_sent = "client_id=sk-xxx&client_secret=secret" in self.path
        self.answer({"access_token": "token"} if keys_are_sent else None)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = body.get("input") or body.get("inputx")
        match self.path.partition("?"):
            case "/chat", _, _:
                self.complete(body, lambda row: row["name"].upper())
            case "/chinese", _, _:
                self.complete(body, lambda row: row["name"].startswith("Li") and set(row) == {"name"})
            case "/embeddings/bge", _, "access_token=token":
                self.answer({"data": [{"embedding": [len(text), 0.25]} for text in rows]})
            case "/custom/embeddings", _, _:
                is_asked = body["modelx"] == "bge" and self.headers["Authorization"] == "Bearer own"
                self.answer({"vectors": [{"v": [len(text), 1.0]} for text in rows]} if is_asked else None)
            case _:
                self.answer(None)

    def complete(self, body, answer_of):
        answers = [answer_of(row) for row in json.loads(body["messages"][-1]["content"])]
        self.answer({"choices": [{"message": {"content": json.dumps(answers)}}]})

    def answer(self, answer):
        data = json.dumps(answer).encode()
        self.send_response(200 if answer is not None else 400)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    models = ThreadingHTTPServer(("127.0.0.1", 0), Models)
    thread = threading.Thread(target=models.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{models.server_port}"
    models.shutdown()
    models.server_close()
    thread.join()


TRANSFORMS = {
    "llm of all columns": (
        "LLM { model_provider = OPENAI, model = gpt-4o-mini, api_key = sk-xxx, prompt = Shout, process_batch_size = 2\n"
        '  api_path = "$server/chat" }',
        '{ field_name = llm_output, field_type = string, field_value = [{ equals_to = "LI WEI" }] }',
    ),
    "llm with an output of its own": (
        'LLM { model_provider = DEEPSEEK, model = deepseek-chat, api_key = sk-xxx, prompt = "Is the name Chinese?"\n'
        "  inference_columns = [name], output_column_name = is_chinese, output_data_type = boolean\n"
        '  api_path = "$server/chinese" }',
        "{ field_name = is_chinese, field_type = boolean, field_value = [{ equals_to = true }] }",
    ),
    "embedding by a token": (
        "Embedding { model_provider = QIANFAN, model = bge, api_key = sk-xxx, secret_key = secret\n"
        '  api_path = "$server/embeddings", oauth_path = "$server/token", vectorization_fields { v = name } }\n'
        'Sql { query = "select v[1] as second from dual" }',
        "{ field_name = second, field_type = float, field_value = [{ equals_to = 0.25 }] }",
    ),
    "embedding of another API": (
        "Embedding { model_provider = CUSTOM, model = bge, api_key = sk-xxx\n"
        '  api_path = "$server/custom/embeddings", vectorization_fields { v = city }\n'
        "  custom_config = {\n"
        '    custom_response_parse = "$$.vectors[*].v"\n'
        '    custom_request_headers = { Authorization = "Bearer own" }\n'
        '    custom_request_body = { modelx = "$${model}", inputx = ["$${input}"] } } }\n'
        'Sql { query = "select vector_dims(v) as n, v[0] as first from dual" }',
        "{ field_name = first, field_type = float, field_value = [{ equals_to = 4.0 }] }",
    ),
}


@pytest.mark.spark
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_job_has_the_model_s_answers(spark, server, tmp_path, monkeypatch, name):
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.compile import Settings, compile_job
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest
    from engine.state.run_state import State

    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    transform, rule = TRANSFORMS[name]
    job = tmp_path / "job.conf"
    job.write_text(
        "env { job.mode = BATCH, parallelism = 1 }\n"
        "source { FakeSource { schema { fields { name = string, city = string } }\n"
        '  rows = [{ kind = INSERT, fields = ["Li Wei", "Rome"] }] } }\n'
        f"transform {{ {Template(transform).substitute(server=server)} }}\n"
        f"sink {{ Assert {{ rules {{ row_rules = [{{ rule_type = MIN_ROW, rule_value = 1 }}]\n"
        f"  field_rules = [{rule}] }} }} }}\n"
    )
    diagnostics = Diagnostics()
    compiled = compile_job(job, Settings(compat=Compat.SEATUNNEL_2, reads_secrets=True), diagnostics)
    assert compiled is not None, diagnostics.items
    result = run_job(spark, compiled, RunRequest("models"))
    assert result.state is State.FINISHED, result.diagnostics
