"""Commit staged writes, those that a sink can commit together in one transaction."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from connectors.support.sink import AnySink
from connectors.support.staged import Staged


@dataclass(frozen=True, eq=False, slots=True)
class StagedWrite:
    """A write that is to be committed."""

    write_id: str
    sink: AnySink
    staged: Staged


def commit_groups(writes: Iterable[StagedWrite]) -> Iterator[tuple[StagedWrite, ...]]:
    """The writes, in the order of the job, those of one group together at the place of the first of them."""
    groups: dict[tuple[str, str], list[StagedWrite]] = {}
    for write in writes:
        group = write.sink.commit_group(write.staged)
        key = ("write", write.write_id) if group is None else (write.sink.name, group)
        groups.setdefault(key, []).append(write)
    return (tuple(group) for group in groups.values())


def commit_group(spark: SparkSession | Any, group: tuple[StagedWrite, ...], committed: Callable[[str], None]) -> None:
    """Commit one group and note each of its writes; what is raised in between leaves the rest to a later process."""
    sink = group[0].sink
    if len(group) == 1:
        sink.commit(spark, group[0].staged)
    else:
        sink.commit_all(spark, [write.staged for write in group])
    for write in group:
        committed(write.write_id)
