"""A stream whose source follows its schema: the plan of a micro-batch has the columns that appear in its records.

Nothing is remembered: what a micro-batch adds follows from its records, so that one that comes again has the same plan.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog.types.datatypes import DataType
from connectors.interface.source import ScanTask
from connectors.interface.source_abilities import SupportsNewColumns
from engine.compile import Compiled, with_columns
from engine.plan.streams import StreamPlan, streams_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(eq=False)
class FollowedSchema:
    """A stream as the job declares it, and as it is with columns that have appeared."""

    compiled: Compiled
    declared: StreamPlan
    changed: dict[tuple[tuple[str, DataType], ...], StreamPlan] = field(default_factory=dict)

    def of_batch(self, batch: "DataFrame") -> StreamPlan:
        """The stream as a micro-batch needs it. Raises a `JobError` where a step cannot take a column that appeared."""
        scan = self.declared.scan
        source = None if scan is None else scan.connector
        if scan is None or not isinstance(source, SupportsNewColumns) or not source.follows_schema(scan.options):
            return self.declared
        columns = source.new_columns(ScanTask(scan.options, scan.table), batch)
        if not columns:
            return self.declared
        key = tuple((column.name, column.type) for column in columns)
        if key not in self.changed:
            streams = streams_of(with_columns(self.compiled, scan, columns).plan)
            self.changed[key] = next(stream for stream in streams if stream.name == self.declared.name)
        return self.changed[key]
