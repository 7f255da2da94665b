"""One Iceberg table of a test, in a directory, and the writes to it."""

import json

from catalog.tables.table import CatalogTable
from connectors.iceberg.connector import connector
from connectors.interface.source import ScanTask
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, write


class IcebergTarget:
    def __init__(self, spark, folder):
        self.spark = spark
        self.warehouse = folder / "warehouse"
        self.state = str(folder / "state")
        self.runs = 0

    @property
    def folder(self):
        return self.warehouse / "db" / "target"

    @property
    def address(self):
        return {"warehouse": str(self.warehouse), "table": "db.target"}

    def metadata(self):
        latest = max(
            self.folder.glob("metadata/v*.metadata.json"), key=lambda path: int(path.name[1:].partition(".")[0])
        )
        return json.loads(latest.read_text())

    def refs(self):
        return self.metadata()["refs"]

    def job(self, query, columns, **given):
        return write(connector, rows(query, *columns), **self.address, **given)

    def run(self, job):
        self.runs += 1
        run_writes(self.spark, [job], self.state, f"run{self.runs}")

    def write(self, query, columns, **given):
        self.run(self.job(query, columns, **given))

    def read(self, **at):
        options = options_of(connector.source_options, **self.address, **at)
        return connector.read(self.spark.newSession(), ScanTask(options, CatalogTable.unknown("t")))

    def rows(self, *columns, **at):
        df = self.read(**at)
        return sorted(map(tuple, (df.select(*columns) if columns else df).collect()), key=repr)

    def require(self, column):
        """Make a column NOT NULL, which Spark's DDL refuses."""
        from connectors.iceberg.iceberg_table import opened
        from connectors.iceberg.table_address import address_of

        options = options_of(connector.source_options, **self.address)
        with opened(self.spark, address_of(self.spark, options)) as table:
            table.load().updateSchema().allowIncompatibleChanges().requireColumn(column).commit()
