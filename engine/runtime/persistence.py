"""Persists rows that several nodes of a running pipeline read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from connectors.storage.filesystem import as_uri
from engine.plan.nodes import Node, Persisted, Scan, Shuffle
from engine.runtime.counting.counts import ScanIdentity
from engine.runtime.counting.executions import attributes_of
from engine.spark.persist import persist, persist_by, release
from engine.state.journal import Journal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(eq=False)
class Persistence:
    """The persisted rows of a running pipeline; `label` names the work in Spark and in messages."""

    label: Callable[[Node], str]
    log: Journal
    attempt: int
    descriptions: dict[str, str] = field(default_factory=dict)
    scans: list[ScanIdentity] = field(default_factory=list)
    persisted: "list[DataFrame]" = field(default_factory=list)
    folders: list[str] = field(default_factory=list)

    def persist(self, node: Node, persisted: Persisted, df: "DataFrame") -> "DataFrame":
        self.descriptions[node.id] = self.label(node)
        if isinstance(node, Scan):
            self.scans.append(identity(node, attributes_of(df)))
        if isinstance(node, Shuffle) and persisted.by is not None and self.is_shared(df):
            folder = f"{self.log.scratch}/{node.id}-{self.attempt}"
            rows = persist_by(df, persisted.by, as_uri(folder), node.values)
            self.folders.append(folder)
        else:
            rows = persist(df, persisted.cache)
            self.persisted.append(rows)
        self.scans.append(ScanIdentity(f"{node.name} (persisted)", attributes_of(rows), is_persisted=True))
        return rows

    def is_shared(self, df: "DataFrame") -> bool:
        """Whether the executors write where the driver reads: not on a cluster with the state directory on a disk."""
        return str(df.sparkSession.sparkContext.master).startswith("local") or not self.log.uri.startswith("file:")

    def close(self) -> None:
        for rows in self.persisted:
            release(rows)
        for folder in self.folders:
            self.log.files.delete(folder)


def identity(scan: Scan, attributes: frozenset[int]) -> ScanIdentity:
    path = scan.options.get("path")
    return ScanIdentity(scan.written_name, attributes, (path,) if isinstance(path, str) else ())
