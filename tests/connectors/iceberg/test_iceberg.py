"""The Iceberg connector: the shared suite, and what is its own."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.table import CatalogTable
from connectors.iceberg.connector import connector
from connectors.interface.source import ScanTask
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, write
from tests.connectors.suite import COLUMNS, NEW, SHIPPED, WITH_ENGINE, ResolvedSinkSuite, ShippedSuite
from tests.sampling import sampled

pytestmark = pytest.mark.spark


def address(path):
    """A table in the directory `path`, by the warehouse that the directory is in."""
    folder, _, name = str(path).rpartition("/")
    return {"warehouse": folder or ".", "table": "`" + name.replace("`", "``") + "`"}


@sampled(ResolvedSinkSuite, *WITH_ENGINE)
class TestIceberg(ResolvedSinkSuite):
    name = "Iceberg"

    def write(self, path, query=NEW, columns=COLUMNS, id="w", **given):
        return write(self.sink, rows(query, *columns), id, **address(path), **given)

    def read(self, spark, path):
        options = options_of(connector.source_options, **address(path))
        return connector.read(spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))

    def hinder(self, tmp_path):
        files = list(tmp_path.glob("other/data/penstock-*/*.parquet"))
        assert files
        for file in files:
            file.unlink()

    def test_every_mode_is_declared(self):
        diagnostics = Diagnostics()
        self.sink.validate(self.write("/nowhere/x").options, self.write("/nowhere/x").table, diagnostics)
        assert list(diagnostics) == []
        names = {option.name for option in self.sink.sink_options}
        assert names >= {"warehouse", "table", "schema_save_mode", "data_save_mode", "write_mode"}


@sampled(ShippedSuite, *SHIPPED)
class TestShipped(ShippedSuite):
    described = TestIceberg
