"""The Paimon connector: the shared suite, and what is its own."""

import pytest

from catalog.tables.table import CatalogTable
from connectors.interface.source import ScanTask
from connectors.interface.testing import SourceSuite
from connectors.paimon.connector import connector
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, write
from tests.connectors.paimon.table_rows import rows_of_table
from tests.connectors.suite import SHIPPED, WITH_ENGINE, ResolvedSinkSuite, ShippedSuite
from tests.sampling import sampled

pytestmark = pytest.mark.spark


@sampled(ResolvedSinkSuite, *WITH_ENGINE)
class TestPaimon(ResolvedSinkSuite):
    name = "Paimon"

    def read(self, spark, path):
        options = options_of(connector.source_options, path=path)
        return connector.read(spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))

    def rows_at(self, spark, path):
        """By pypaimon, unless the path is an odd one: Spark starts processes for each read of the connector."""
        if path.name != "target":
            return super().rows_at(spark, path)
        return sorted(rows_of_table(path, ("id", "name", "amount")))

    def hinder(self, tmp_path):
        files = list(tmp_path.glob("other/bucket-*/penstock-*"))
        assert files
        for file in files:
            file.unlink()


@sampled(ShippedSuite, *SHIPPED)
class TestShipped(ShippedSuite):
    described = TestPaimon


@sampled(SourceSuite, "test_rows_have_the_columns_and_types_of_the_table", "test_filters_hold")
class TestSource(SourceSuite):
    source = connector
    expected = ((1, "a"), (2, None))
    column, filter = "id", "id > 1"

    @pytest.fixture(autouse=True)
    def _table(self, spark, tmp_path):
        two = rows("select * from values (1L, 'a'), (2L, null) as t(id, name)", "id bigint", "name string")
        run_writes(spark, [write(connector, two, path=str(tmp_path / "t"))], str(tmp_path / "state"), "run")

    def given(self, tmp_path):
        return {"path": str(tmp_path / "t")}
