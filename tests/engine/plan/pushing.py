"""A source that takes columns and filters, for the tests: FakeSource that can do what a database can."""

from dataclasses import replace
from typing import ClassVar

from connectors.fake_source.connector import FakeSource
from connectors.interface.source import SourceCapabilities


class Pushing(FakeSource):
    name: ClassVar[str] = "Pushing"
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(column_pushdown=True, filter_pushdown=True)

    def read(self, spark, task):
        df = super().read(spark, replace(task, columns=None, filters=()))
        for predicate in task.filters:
            df = df.where(predicate)
        return df if task.columns is None else df.select(*task.columns)


connector = Pushing()
