"""Elasticsearch takes the same requests as OpenSearch, but for a point in time."""

from pathlib import Path

import pytest

import connectors
from connectors.interface.testing import SinkSuite
from tests.connectors.kafka.jobs import rows, run

pytestmark = [pytest.mark.spark, pytest.mark.soak]


class TestSink(SinkSuite):
    sink = connectors.sink("Elasticsearch")

    @pytest.fixture(autouse=True)
    def _server(self, elasticsearch):
        self.server = elasticsearch
        elasticsearch.client.indices.delete(index="suite*")

    def given(self, tmp_path: Path):
        return {"hosts": [self.server.host], "index": f"suite-{abs(hash(str(tmp_path)))}"}

    def read(self, spark, tmp_path: Path):
        found = self.server.documents(str(self.given(tmp_path)["index"])).values()
        return [(document["id"], document["name"], document["amount"]) for document in found]


@pytest.mark.parametrize("way", ["SCROLL", "PIT"])
def test_an_index_is_read_in_slices(spark, tmp_path, elasticsearch, way):
    name = f"slices-{way.lower()}"
    elasticsearch.client.indices.create(index=name, body={"settings": {"number_of_shards": 3}})
    lines = "".join(f'{{"index":{{"_id":"{id}"}}}}\n{{"id":{id}}}\n' for id in range(500))
    elasticsearch.client.bulk(body=lines, index=name, params={"refresh": "true"})
    place = f'hosts = ["{elasticsearch.host}"], index = "{name}"'
    asked = f"schema {{ fields {{ id = int }} }}, search_api_type = {way}, scroll_size = 7"
    job = f"source {{ Elasticsearch {{ {place}, {asked} }} }}\nsink {{ InMemory {{}} }}"
    assert sorted(id for (id,) in rows(spark, tmp_path, job)) == list(range(500))


def test_changes_are_applied_by_key(spark, tmp_path, elasticsearch):
    changes = (("INSERT", 1), ("INSERT", 2), ("DELETE", 2))
    listed = ", ".join(f'{{ kind = {kind}, fields = [{id}, "a"] }}' for kind, id in changes)
    source = f"FakeSource {{ schema {{ fields {{ id = bigint, name = string }} }}, rows = [{listed}] }}"
    place = f'hosts = ["{elasticsearch.host}"], index = changes, primary_keys = [id]'
    assert run(spark, tmp_path, f"source {{ {source} }}\nsink {{ Elasticsearch {{ {place} }} }}").errors == ()
    assert elasticsearch.documents("changes") == {"1": {"id": 1, "name": "a"}}
