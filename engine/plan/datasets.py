"""Which dataset a node reads or writes: one identity for everything that compares the two.

file /data/orders        jdbc:postgresql://host/shop public.orders        kafka://a:9092,b:9092 orders
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from connectors.interface.sink import Sink
from engine.plan.nodes import Scan, Write

FILE: Final = "file"
_STORE: Final = re.compile(r"([a-zA-Z][\w+.-]*)://([^/]*)(/.*)?", re.DOTALL)
_S3: Final = ("s3", "s3n")
_PATTERN: Final = re.compile(r"[*?\[{]")


@dataclass(frozen=True, slots=True, order=True)
class Dataset:
    """`namespace`: the file system, database, brokers or catalog; `name`: the path, table or topics in it. Both are
    free of secrets, and equal for readers and writers. An empty name: something in the namespace that is not known
    without asking it, as the tables of a database that a query reads."""

    namespace: str
    name: str

    def __reduce__(self) -> "tuple[type[Dataset], tuple[str, str]]":
        """Faster to read back than what dataclasses do."""
        return Dataset, (self.namespace, self.name)

    @classmethod
    def of(cls, location: str) -> "Dataset":
        """The dataset at a location as connectors name it (`Source.origin`, `Sink.target`)."""
        if location.startswith("jdbc:"):
            return cls(*_halves(location, "#"))
        if location.startswith(("catalog:", "iceberg:")):
            namespace, _, name = location.rpartition(":")
            return cls("catalog", name.lower()) if namespace == "iceberg" else cls(namespace, name)
        store = _STORE.fullmatch(location)
        if store is None:
            return cls(FILE, location.rstrip("/") or "/")
        scheme, authority, path = store[1].lower(), store[2], store[3] or ""
        if scheme == "kafka":
            topics = path.removeprefix("/").split(",")
            return cls(f"kafka://{_sorted(authority.lower().split(','))}", _sorted(topics))
        if scheme in ("http", "https"):
            return cls(f"{scheme}://{authority.lower()}", path or "/")
        scheme = "s3a" if scheme in _S3 else scheme
        return cls(f"{scheme}://{authority}", re.sub("/{2,}", "/", path).rstrip("/") or "/")

    def __str__(self) -> str:
        if self.namespace == FILE:
            return self.name
        if self.namespace.startswith("jdbc:"):
            return f"{self.namespace}#{self.name}" if self.name else self.namespace
        if "://" in self.namespace:
            return f"{self.namespace}/{self.name.removeprefix('/')}"
        return f"{self.namespace}:{self.name}"

    @property
    def is_folder(self) -> bool:
        """Whether it is a path, which can be in another dataset."""
        return self.namespace == FILE or (self.name.startswith("/") and not self.namespace.startswith("http"))

    @property
    def folder(self) -> "Dataset":
        """The dataset without a pattern of files: `/data/2026-*` is in `/data`."""
        if not self.is_folder or (pattern := _PATTERN.search(self.name)) is None:
            return self
        return Dataset(self.namespace, self.name[: pattern.start()].rpartition("/")[0] or "/")

    def and_above(self) -> Iterator["Dataset"]:
        """The dataset, and the folders that it is in."""
        yield self
        name = self.name.rstrip("/")
        while self.is_folder and name:
            name = name.rpartition("/")[0]
            yield Dataset(self.namespace, name or "/")

    def holds(self, other: "Dataset") -> bool:
        """Whether the other is this one or in it: a partition of a table, one file of a directory."""
        if self.namespace != other.namespace:
            return False
        return self.name == other.name or (self.is_folder and other.name.startswith(f"{self.name.rstrip('/')}/"))

    def overlaps(self, other: "Dataset") -> bool:
        """Whether rows of the one may be rows of the other: it is the same, in it, or they share a topic."""
        if self.namespace.startswith("kafka://"):
            return self.namespace == other.namespace and not _topics(self).isdisjoint(_topics(other))
        return self.folder.holds(other.folder) or other.folder.holds(self.folder)


def dataset_of(node: Scan | Write) -> Dataset | None:
    """What the node reads or writes; None where it is nothing that others could: printed or generated rows."""
    location = node.connector.target(node.options) if isinstance(node, Write) else _origin(node)
    return None if location is None else Dataset.of(location)


def holding(dataset: Dataset, targets: Iterable[Dataset]) -> Dataset:
    """The innermost target that holds the dataset, else the dataset itself without its pattern of files."""
    inside = dataset.folder
    found = [target for target in targets if target.holds(inside)]
    return max(found, key=lambda target: len(target.name), default=inside)


def shown(dataset: Dataset) -> str:
    """The dataset for display: a path is relative to the current folder if it is below it."""
    text = str(dataset)
    here = os.getcwd().rstrip("/") + "/"
    return os.path.relpath(text) if dataset.namespace == FILE and text.startswith(here) else text


def _origin(scan: Scan) -> str | None:
    location = scan.connector.origin(scan.options, scan.table)
    if location is None and isinstance(scan.connector, Sink) and scan.options.get("path") is not None:
        return scan.connector.target(scan.options)
    return location


def _topics(dataset: Dataset) -> frozenset[str]:
    return frozenset(dataset.name.split(","))


def _halves(text: str, separator: str) -> tuple[str, str]:
    before, _, after = text.partition(separator)
    return before, after


def _sorted(names: Iterable[str]) -> str:
    return ",".join(sorted(names))
