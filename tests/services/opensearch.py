"""The nodes of OpenSearch and Elasticsearch that tests start: one each, from its Maven jars, on a free port.

Their main class wants the folders of an installation, a security manager and a user who is not root. A node needs none
of them: py4j's server, which PySpark has, makes one in a process of its own.
"""

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.services.processes import accepts, free_port, wait_until

ROOT = Path(__file__).parents[2]
_PLUGINS = {
    "opensearch": ("org.opensearch.transport.Netty4Plugin", "org.opensearch.index.reindex.ReindexPlugin"),
    "elasticsearch": ("org.elasticsearch.transport.Netty4Plugin", "org.elasticsearch.reindex.ReindexPlugin"),
}
_SETTINGS = {
    "cluster.name": "tests",
    "node.name": "tests",
    "discovery.type": "single-node",
    "http.type": "netty4",
    "transport.type": "netty4",
    "http.host": "127.0.0.1",
    "transport.host": "127.0.0.1",
    "cluster.routing.allocation.disk.threshold_enabled": "false",
}


@dataclass(eq=False)
class SearchServer:
    """A running node, and a client that owes nothing to Penstock."""

    host: str
    client: Any

    def documents(self, index: str) -> dict[str, dict[str, Any]]:
        """The documents of an index by their ids."""
        if not self.client.indices.exists(index=index):
            return {}
        self.client.indices.refresh(index=index)
        found = self.client.search(index=index, body={"size": 1000, "query": {"match_all": {}}})
        return {hit["_id"]: hit["_source"] for hit in found["hits"]["hits"]}


@pytest.fixture(scope="module")
def opensearch() -> Iterator[SearchServer]:
    """OpenSearch 2.19, without security; stopped after the tests of a file."""
    yield from _server("opensearch")


@pytest.fixture(scope="module")
def elasticsearch() -> Iterator[SearchServer]:
    """Elasticsearch 7.17, without security; stopped after the tests of a file."""
    yield from _server("elasticsearch")


def _server(kind: str) -> Iterator[SearchServer]:
    from opensearchpy import OpenSearch

    found = subprocess.run([str(ROOT / ".ci" / kind)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, f"the jars of {kind} are missing: {found.stderr[-800:]}"
    with tempfile.TemporaryDirectory(prefix="penstock-search-", ignore_cleanup_errors=True) as name:
        folder, port = Path(name), free_port()
        with _running(kind, folder, found.stdout.strip(), port):
            client = OpenSearch(hosts=[{"host": "127.0.0.1", "port": port}])
            yield SearchServer(f"127.0.0.1:{port}", client)
            client.close()


@contextmanager
def _running(kind: str, folder: Path, classpath: str, port: int) -> Iterator[None]:
    """A node in a process that ends with this one."""
    import pyspark
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    [py4j] = (Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar")
    options = ["-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
    with open(folder / "log", "ab") as log:
        control, token, process = launch_gateway(
            classpath=classpath, jarpath=str(py4j), javaopts=options, die_on_exit=True, redirect_stdout=log,
            redirect_stderr=log, enable_auth=True, return_proc=True,
        )  # fmt: skip
        try:
            given = GatewayParameters(port=control, auth_token=token, enable_memory_management=False)
            gateway = JavaGateway(gateway_parameters=given)
            _start_node(kind, gateway, {**_SETTINGS, "path.home": str(folder), "http.port": str(port)})
            gateway.close()
            wait_until(lambda: accepts(port), process, folder / "log")
            yield
        finally:
            process.stdin.close()
            process.kill()
            process.wait()


def _start_node(kind: str, gateway: Any, settings: Mapping[str, str]) -> None:
    """The node's constructor takes the plugins of its class path, and is not public."""
    jvm = gateway.jvm
    package = getattr(jvm.org, kind)
    given = package.common.settings.Settings.builder()
    for name, value in settings.items():
        given.put(name, value)
    plugins = jvm.java.util.ArrayList()
    for plugin in _PLUGINS[kind]:
        plugins.add(jvm.java.lang.Class.forName(plugin))
    arguments = gateway.new_array(jvm.java.lang.Object, 3)
    arguments[0], arguments[1], arguments[2] = package.env.Environment(given.build(), None), plugins, False
    constructors = jvm.java.lang.Class.forName(f"org.{kind}.node.Node").getDeclaredConstructors()
    [constructor] = [each for each in constructors if each.getParameterCount() == len(arguments)]
    constructor.setAccessible(True)
    constructor.newInstance(arguments).start()
