"""The suites that ship with Penstock, for its own connectors."""

import json
from uuid import uuid4

import pytest

import connectors
from connectors.interface import testing as shipped
from connectors.interface.testing import SourceSuite
from tests.connectors.delta import test_delta
from tests.connectors.files import test_local_file
from tests.connectors.http_.service import service
from tests.connectors.suite import SHIPPED, ShippedSuite
from tests.sampling import sampled

pytestmark = pytest.mark.spark

FEW = ("test_another_process_commits_from_the_journal", "test_rows_that_fail_change_nothing")
COLUMNS = {"fields": {"id": "bigint", "name": "string"}}


class TestFakeSource(SourceSuite):
    source = connectors.source("FakeSource")
    expected = ((1, "a"), (2, None))

    def given(self, tmp_path):
        return {"schema": COLUMNS, "rows": [{"fields": [1, "a"]}, {"fields": [2, None]}]}


class TestLocalFileSource(SourceSuite):
    source = connectors.source("LocalFile")
    expected = ((1, "a"), (2, None))
    column = "id"

    def given(self, tmp_path):
        (tmp_path / "in.csv").write_text("1,a\n2,\n")
        return {"path": str(tmp_path / "in.csv"), "file_format_type": "csv", "schema": COLUMNS}


class TestLocalFileSink(ShippedSuite):
    described = test_local_file.TestParquet


@pytest.mark.delta
@sampled(ShippedSuite, *SHIPPED, "test_what_is_there_is_found")
class TestDeltaSink(ShippedSuite):
    described = test_delta.TestDelta


@sampled(shipped.SinkSuite, *FEW)
class TestSparkSink(shipped.SinkSuite):
    sink = connectors.sink("Spark")
    checks_claim = False

    def given(self, tmp_path):
        return {"format": "parquet", "path": str(tmp_path / "target")}

    def read(self, spark, tmp_path):
        return spark.read.parquet(str(tmp_path / "target")).collect() if (tmp_path / "target").exists() else []


@sampled(shipped.SinkSuite, *FEW)
class TestKafkaSink(shipped.SinkSuite):
    sink = connectors.sink("Kafka")
    checks_claim = False

    @pytest.fixture(autouse=True)
    def _broker(self, kafka):
        self.broker, self.topic = kafka, f"s{uuid4().hex[:10]}"

    def given(self, tmp_path):
        return {"bootstrap.servers": self.broker.servers, "topic": self.topic}

    def read(self, spark, tmp_path):
        return [tuple(json.loads(value).values()) for value in self.broker.values(self.topic)]


@sampled(shipped.SinkSuite, *FEW)
class TestHttpSink(shipped.SinkSuite):
    sink = connectors.sink("Http")
    checks_claim = False

    @pytest.fixture(autouse=True)
    def _service(self):
        with service(lambda _: {}) as self.served:
            yield

    def given(self, tmp_path):
        return {"url": self.served.url}

    def read(self, spark, tmp_path):
        return [tuple(json.loads(request.body).values()) for request in self.served.requests]
