"""The Paimon connector: the shared suite, and what is its own."""

import pytest

from catalog.tables.table import CatalogTable
from connectors.interface.source import ScanTask
from connectors.paimon.connector import connector
from tests.connectors.jobs import options_of
from tests.connectors.suite import ResolvedSinkSuite

pytestmark = pytest.mark.spark


class TestPaimon(ResolvedSinkSuite):
    name = "Paimon"

    def read(self, spark, path):
        options = options_of(connector.source_options, path=path)
        return connector.read(spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))

    def hinder(self, tmp_path):
        files = list(tmp_path.glob("other/bucket-*/penstock-*"))
        assert files
        for file in files:
            file.unlink()
