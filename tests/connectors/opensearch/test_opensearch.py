"""Indices of a real OpenSearch node: what is written is read back, by key, in slices, and never doubled."""

import json
import re
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import connectors
from catalog.compat import Compat
from catalog.diagnostics.diagnostic import RunError
from connectors.interface.testing import SinkSuite, SourceSuite
from connectors.interface.testing.driving import options_of
from connectors.opensearch.key_stores import client_certificate
from connectors.opensearch.search_client import reported
from engine.cli import main
from tests.connectors.kafka.jobs import compiled, rows, run
from tests.sampling import sampled

pytestmark = pytest.mark.spark

COLUMNS = {"fields": {"id": "bigint", "name": "string"}}
FIELDS = """
  id = bigint, tiny = tinyint, name = string, sum = "decimal(20,4)", day = date, at = timestamp
  ok = boolean, f = double, tags = "array<string>", at_home = { street = string, no = int }
  more = "map<string,int>", b = bytes
"""
ROW = (
    '[1, 7, "ü \\"x\\"", "1234567890123456.5000", "2024-05-01", "2024-05-01T10:00:00.123456", true, 0.1, '
    '["a", "b"], ["Elm", 3], {"k": 1}, "AP8="]'
)


def place(server) -> str:
    return f'hosts = ["{server.host}"]'


def writing(server, index: str, options: str = "", rows: str = ROW, fields: str = FIELDS, key: str = "") -> str:
    listed = rows if "kind" in rows else f"{{ kind = INSERT, fields = {rows} }}"
    schema = f"schema {{ fields {{ {fields} }} {key} }}"
    sink = f'OpenSearch {{ {place(server)}, index = "{index}", {options} }}'
    return f"source {{ FakeSource {{ {schema}, rows = [{listed}] }} }}\nsink {{ {sink} }}"


def reading(server, index: str, options: str = "") -> str:
    return f'source {{ OpenSearch {{ {place(server)}, index = "{index}", {options} }} }}\nsink {{ InMemory {{}} }}'


class OnServer:
    @pytest.fixture(autouse=True)
    def _server(self, opensearch):
        self.server = opensearch
        opensearch.client.indices.delete(index="suite*")


class TestSource(OnServer, SourceSuite):
    source = connectors.source("OpenSearch")
    expected = ((1, "a"), (2, None))

    def given(self, tmp_path: Path):
        index = f"suite-{abs(hash(str(tmp_path)))}"
        for id, name in self.expected:
            self.server.client.index(index=index, id=str(id), body={"id": id, "name": name}, params={"refresh": "true"})
        return {"hosts": [self.server.host], "index": index, "schema": COLUMNS}


@sampled(
    SinkSuite,
    "test_options_are_documented_and_named_once",
    "test_importing_it_imports_no_spark",
    "test_the_modes_that_it_declares_are_offered",
    "test_rows_that_it_can_write_are_valid",
    "test_staged_rows_are_not_visible",
    "test_another_process_commits_from_the_journal",
    "test_a_repeated_commit_does_nothing",
    "test_an_aborted_run_creates_no_target",
    "test_a_process_that_has_lost_its_run_commits_nothing",
)
class TestSink(OnServer, SinkSuite):
    sink = connectors.sink("OpenSearch")

    def given(self, tmp_path: Path):
        return {"hosts": [self.server.host], "index": f"suite-{abs(hash(str(tmp_path)))}"}

    def read(self, spark, tmp_path: Path):
        found = self.server.documents(str(self.given(tmp_path)["index"])).values()
        return [(document["id"], document["name"], document["amount"]) for document in found]


def test_values_come_back_in_their_types(spark, tmp_path, opensearch):
    assert run(spark, tmp_path, writing(opensearch, "types")).errors == ()
    [document] = opensearch.documents("types").values()
    assert document["sum"] == 1234567890123456.5
    schema = f'schema {{ fields {{ {FIELDS}, nothing = "null" }} }}'
    declared = rows(spark, tmp_path, reading(opensearch, "types", schema))
    [(id, tiny, name, total, day, at, ok, f, tags, home, more, b, nothing)] = declared
    assert nothing is None
    assert (id, tiny, name, str(total), str(day), ok, f) == (
        1, 7, 'ü "x"', "1234567890123456.5000", "2024-05-01", True, 0.1,
    )  # fmt: skip
    assert at.isoformat()[:26] == "2024-05-01T10:00:00.123456"
    assert (tags, tuple(home), more, bytes(b)) == (["a", "b"], ("Elm", 3), {"k": 1}, b"\x00\xff")
    mapped = 'source = [_id, id, name, tags], array_column = { tags = "array<string>" }'
    [(document_id, *others)] = rows(spark, tmp_path, reading(opensearch, "types", mapped))
    assert others == [1, 'ü "x"', ["a", "b"]]
    assert document_id in opensearch.documents("types")


@pytest.mark.parametrize("way", ["SCROLL", "PIT"])
def test_an_index_is_read_in_slices(spark, tmp_path, opensearch, way):
    name = f"slices-{way.lower()}"
    opensearch.client.indices.create(index=name, body={"settings": {"number_of_shards": 3}})
    lines = "".join(f'{{"index":{{"_id":"{id}"}}}}\n{{"id":{id},"at":{id * 1000}}}\n' for id in range(500))
    opensearch.client.bulk(body=lines, index=name, params={"refresh": "true"})
    asked = f"search_api_type = {way}, scroll_size = 7, query = {{ range {{ id {{ gte = 10 }} }} }}"
    given = f"schema {{ fields {{ id = int, at = timestamp }} }}, {asked}"
    found = rows(spark, tmp_path, reading(opensearch, name, given))
    assert sorted(id for id, _ in found) == list(range(10, 500))
    assert {at.timestamp() - id for id, at in found} == {0.0}


CHANGES = """
    { kind = INSERT, fields = [1, "a"] }, { kind = INSERT, fields = [2, "b"] }, { kind = INSERT, fields = [3, "c"] }
    { kind = UPDATE_BEFORE, fields = [1, "a"] }, { kind = UPDATE_AFTER, fields = [1, "A"] }
    { kind = UPDATE_BEFORE, fields = [2, "b"] }, { kind = UPDATE_AFTER, fields = [4, "B"] }
    { kind = DELETE, fields = [3, "c"] }
"""
KEYED = "id = bigint, name = string"


def test_changes_are_applied_by_key(spark, tmp_path, opensearch):
    job = writing(opensearch, "changes", "primary_keys = [id]", CHANGES, KEYED)
    for _ in range(2):
        assert run(spark, tmp_path, job).errors == ()
        assert opensearch.documents("changes") == {"1": {"id": 1, "name": "A"}, "4": {"id": 4, "name": "B"}}


def test_rows_of_a_key_replace_its_document(spark, tmp_path, opensearch):
    key = ", primaryKey { name = pk, columnNames = [id, name] }"
    twice = ", ".join(f'{{ kind = INSERT, fields = [1, "{name}"] }}' for name in "aab")
    job = writing(opensearch, "keyed", 'key_delimiter = "#"', twice, KEYED, key)
    assert run(spark, tmp_path, job).errors == ()
    assert sorted(opensearch.documents("keyed")) == ["1#a", "1#b"]


def test_each_row_can_choose_its_index(spark, tmp_path, opensearch):
    two = '{ kind = INSERT, fields = [1, "A"] }, { kind = INSERT, fields = [2, "b"] }'
    job = writing(opensearch, "by-${name}", "", two, KEYED)
    assert run(spark, tmp_path, job, compat=Compat.SEATUNNEL_2).errors == ()
    assert [document["id"] for document in opensearch.documents("by-a").values()] == [1]
    assert [document["id"] for document in opensearch.documents("by-b").values()] == [2]


def test_a_refused_document_fails_the_run_and_is_named(spark, tmp_path, opensearch):
    opensearch.client.indices.create(index="strict", body={"mappings": {"properties": {"name": {"type": "integer"}}}})
    job = writing(opensearch, "strict", "primary_keys = [id]", '[5, "no number"]', KEYED)
    with pytest.raises(RunError) as caught:
        run(spark, tmp_path, "env { job.retry.times = 0 }\n" + job)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "PEN5005"
    assert re.search(r"refused the document `5` \(400\): .*no number", diagnostic.message)


def test_a_cluster_that_does_not_answer_is_reported(spark, tmp_path):
    class Nobody:
        host = "127.0.0.1:9"

    result = run(
        spark, tmp_path, "env { job.retry.times = 0 }\n" + reading(Nobody, "x", f"schema {{ fields {{ {KEYED} }} }}")
    )
    [diagnostic] = result.diagnostics
    assert diagnostic.code == "PEN5004"
    assert "no node of the cluster answers (http://127.0.0.1:9)" in diagnostic.message


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ('hosts = ["ftp://h"], index = a', "PEN2004", "`ftp://h` names no node"),
        ("hosts = [], index = a", "PEN2004", "`hosts` names no node"),
        ('hosts = [h], index = "Upper"', "PEN2004", "the name of an index has no `U`"),
        ('hosts = [h], index = "a-$${nme}"', "PEN4008", "`nme`"),
        ("hosts = [h], index = a, primary_keys = [idd]", "PEN4008", "`idd`"),
        ("hosts = [h], index = a, write_mode = upsert", "PEN2011", "needs a key"),
        ('hosts = ["https://h"], index = a, tls_keystore_path = "/k.jks"', "PEN2004", "a key store of Java"),
        ('hosts = [h], index = "a-$${name}", data_save_mode = DROP_DATA', "PEN2011", "each row"),
    ],
)
def test_options_of_a_sink_that_cannot_be(tmp_path, capsys, options, code, said):
    path = tmp_path / "job.conf"
    path.write_text(
        f"source {{ FakeSource {{ schema {{ fields {{ {KEYED} }} }} }} }}\nsink {{ OpenSearch {{ {options} }} }}"
    )
    assert main(["validate", str(path)]) == 2
    out = "".join(capsys.readouterr())
    assert code in out
    assert said in out


def test_explain_says_what_a_commit_does_not_promise(tmp_path, opensearch):
    job = compiled(tmp_path, writing(opensearch, "explained"))
    [write] = job.plan.writes
    notes = write.connector.caveats(write.options, ())
    assert any("no transaction" in note for note in notes)
    assert any("none is doubled" in note for note in notes)


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")  # that is what the option asks for
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "CERTIFICATE_VERIFY_FAILED"),
        ({"tls_verify_certificate": False}, None),
        ({"tls_truststore_path": "store.p12", "tls_truststore_password": "secret"}, "127.0.0.1"),
        (
            {"tls_truststore_path": "store.p12", "tls_truststore_password": "secret", "tls_verify_hostnames": False},
            None,
        ),
        ({"tls_truststore_path": "store.p12", "tls_truststore_password": "wrong"}, "PEN1006"),
    ],
)
def test_certificates_are_checked_as_the_options_say(tmp_path, options, said):
    """The certificate of this server is its own, of another host, and in the store."""
    store = tmp_path / "store.p12"
    store.write_bytes(_store(b"secret"))
    with _https_server(store) as port:
        given = {"hosts": [f"https://127.0.0.1:{port}"], "index": "x", **options}
        if "tls_truststore_path" in given:
            given["tls_truststore_path"] = str(store)
        asked = options_of(connectors.source("OpenSearch").source_options, given)
        if said is None:
            with reported(asked, "PEN5004") as client:
                assert client.info() == {"ok": True}
            return
        with pytest.raises(RunError, match=said), reported(asked, "PEN5004") as client:
            client.info()


@contextmanager
def _https_server(store: Path):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b'{"ok": true}')

        def log_message(self, *_arguments) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with client_certificate(store, "secret") as (pem, password):
        context.load_cert_chain(pem, password=password)
        assert b"ENCRYPTED PRIVATE KEY" in Path(pem).read_bytes()
    assert not Path(pem).exists()
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _store(password: bytes) -> bytes:
    from datetime import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(datetime(2020, 1, 1)).not_valid_after(datetime(2120, 1, 1))
    certificate = builder.sign(key, hashes.SHA256())
    encryption = serialization.BestAvailableEncryption(password)
    return serialize_key_and_certificates(b"tests", key, certificate, None, encryption)


def test_documents_are_json_of_the_row(spark, tmp_path, opensearch):
    """Under the flag, times have SeaTunnel's form."""
    job = writing(opensearch, "times", "", '["2024-05-01T10:00:00"]', "at = timestamp")
    assert run(spark, tmp_path, job, compat=Compat.SEATUNNEL_2).errors == ()
    [document] = opensearch.documents("times").values()
    assert json.dumps(document) == '{"at": "2024-05-01T10:00:00"}'


def test_the_documented_jobs(spark, tmp_path, opensearch):
    """Those of the how-to page, with the node of the tests."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "search-and-stores.md").read_text(encoding="utf-8")
    writes, reads = re.findall(r"```hocon\n(.*?)```", page, re.S)[:2]
    host = "https://search.example.com:9200"
    out = str(tmp_path / "out/orders")
    here = {"out/orders": out, host: opensearch.host, "username = loader": "", "${?SEARCH_PASSWORD}": "null"}
    for job in (writes, writes, reads):
        text = job
        for old, new in {**here, "password = null": ""}.items():
            text = text.replace(old, new)
        assert run(spark, tmp_path, text).errors == ()
    assert opensearch.documents("orders")["1"] == {"id": 1, "customer": "Ann", "amount": 12.5}
    found = spark.read.parquet(out).collect()
    assert [(row["_id"], row.customer, str(row.amount)) for row in found] == [("1", "Ann", "12.50")]
