"""Documents of FerretDB, a server that speaks MongoDB's protocol: it proves requests and types, and is not MongoDB."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.connectors.kafka.jobs import rows, run
from tests.services.processes import accepts, free_port, start, stop, wait_until

pytestmark = [pytest.mark.spark, pytest.mark.soak]

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def ferretdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    """The URI of a running server, and a client of its own."""
    from pymongo import MongoClient

    found = subprocess.run([str(ROOT / ".ci" / "ferretdb")], capture_output=True, text=True, check=False)
    assert found.returncode == 0, f"FerretDB is missing: {found.stderr[-800:]}"
    folder, port = tmp_path_factory.mktemp("ferretdb"), free_port()
    command = [found.stdout.strip(), "--handler=sqlite", f"--sqlite-url=file:{folder}/", "--telemetry=disable",
               f"--state-dir={folder}", "--debug-addr=-", f"--listen-addr=127.0.0.1:{port}"]  # fmt: skip
    process = start(command, folder / "log")
    try:
        wait_until(lambda: accepts(port), process, folder / "log")
        with MongoClient(f"mongodb://127.0.0.1:{port}") as client:
            yield f"mongodb://127.0.0.1:{port}", client
    finally:
        stop(process)


def test_documents_are_written_by_key_and_read_back(spark, tmp_path, ferretdb):
    uri, client = ferretdb
    fields = 'id = bigint, name = string, sum = "decimal(20,4)", at = timestamp, tags = "array<string>"'
    place = f'uri = "{uri}", database = shop, collection = orders'
    given = ", ".join(
        f'{{ kind = INSERT, fields = [{id}, "n{id}", "1234567890123456.5000", "2024-05-01T10:00:00", ["a"]] }}'
        for id in (1, 2, 2)
    )
    source = f"FakeSource {{ schema {{ fields {{ {fields} }} }}, rows = [{given}] }}"
    job = f"source {{ {source} }}\nsink {{ MongoDB {{ {place}, upsert-enable = true, primary-key = [id] }} }}"
    for _ in range(2):
        assert run(spark, tmp_path, job).errors == ()
        assert client["shop"]["orders"].count_documents({}) == 2
    asked = (
        f'cursor.no-timeout = false, match.query = "{{id: {{$gt: NumberLong(1)}}}}", schema {{ fields {{ {fields} }} }}'
    )
    [(id, name, total, at, tags)] = rows(
        spark, tmp_path, f"source {{ MongoDB {{ {place}, {asked} }} }}\nsink {{ InMemory {{}} }}"
    )
    assert (id, name, str(total), at.isoformat()[:19], tags) == (
        2, "n2", "1234567890123456.5000", "2024-05-01T10:00:00", ["a"],
    )  # fmt: skip


def test_the_documented_job(spark, tmp_path, ferretdb):
    """That of the how-to page, with the server of the tests; FerretDB has no cursors without an end."""
    uri, client = ferretdb
    client["shop"]["orders"].drop()
    client["shop"]["orders"].insert_many([{"_id": str(n), "status": "A", "amount": n} for n in (5, 50)])
    page = (ROOT / "docs" / "how-to" / "search-and-stores.md").read_text(encoding="utf-8")
    [job] = [block for block in re.findall(r"```hocon\n(.*?)```", page, re.S) if "MongoDB {" in block]
    job = job.replace("${?MONGO_URI}", f'"{uri}"').replace("match.query", "cursor.no-timeout = false\n    match.query")
    assert run(spark, tmp_path, job).errors == ()
    assert [document["_id"] for document in client["shop"]["large_orders"].find()] == ["50"]
