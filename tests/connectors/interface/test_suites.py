"""The suites that ship with Penstock, for its own connectors."""

import pytest

import connectors
from connectors.interface.testing import SinkSuite, SourceSuite

pytestmark = pytest.mark.spark

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


class TestLocalFileSink(SinkSuite):
    sink = connectors.sink("LocalFile")
    checks_claim = False

    def given(self, tmp_path):
        return {"path": str(tmp_path / "target"), "file_format_type": "parquet"}

    def read(self, spark, tmp_path):
        if not (tmp_path / "target").exists():
            return []
        return spark.newSession().read.parquet(str(tmp_path / "target")).select("id", "name", "amount").collect()

    def leftovers(self, tmp_path):
        return [path.name for path in tmp_path.iterdir() if path.name not in ("target", "state")]


class TestDeltaSink(SinkSuite):
    sink = connectors.sink("Delta")
    checks_claim = False

    def given(self, tmp_path):
        return {"path": str(tmp_path / "target")}

    def read(self, spark, tmp_path):
        if not (tmp_path / "target").exists():
            return []
        df = spark.newSession().read.format("delta").load(str(tmp_path / "target"))
        return df.select("id", "name", "amount").collect()

    def leftovers(self, tmp_path):
        return [path.name for path in tmp_path.iterdir() if path.name not in ("target", "state")]
