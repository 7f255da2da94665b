"""Incremental sources with a `lag`, of which rows are read again, and sinks that would add those rows again."""

from collections.abc import Iterator, Sequence

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from connectors.interface.incremental import incremental_of
from connectors.interface.source_abilities import SupportsIncremental
from engine.plan.datasets import dataset_of
from engine.plan.nodes import AnyNode, Scan, Write, below, children


def refuse_repeated_rows(writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """Report PEN5260 at the `lag` of a source for the first sink of it that only adds rows.

    A write that also reads its own target is not reported: its query can leave out the rows that are there.
    """
    if not any(_repeats(scan) for scan in _scans(writes)):
        return
    reported: set[Scan] = set()
    for write in filter(_only_adds, writes):
        scans = [node for node in below(write) if isinstance(node, Scan)]
        target = dataset_of(write)
        if target is not None and any(dataset_of(scan) == target for scan in scans):
            continue
        for scan in scans:
            if scan not in reported and _repeats(scan):
                reported.add(scan)
                message = f"`lag` reads rows of `{scan.written_name}` again, and `{write.name}` would add them again"
                diagnostics.error("PEN5260", message, scan.options.span("incremental.lag"), _remedy(write))


def _scans(writes: Sequence[Write]) -> Iterator[Scan]:
    """Every scan that the writes read, without duplicates."""
    seen: set[AnyNode] = set()
    work: list[AnyNode] = list(writes)
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work.extend(children(node))
            if isinstance(node, Scan):
                yield node


def _only_adds(write: Write) -> bool:
    """Whether each run adds its rows to those of a target; sinks without the option have none (Console), or their
    readers know records by their keys (Kafka)."""
    adds = write.data_save_mode is DataSaveMode.APPEND_DATA and write.write_mode is WriteMode.APPEND
    has_target = any(option.name == "data_save_mode" for option in write.connector.sink_options)
    has_query = write.options.get("query") is not None  # a statement of the user's, which may know the key
    return adds and has_target and not has_query and write.schema_save_mode is not SchemaSaveMode.RECREATE_SCHEMA


def _repeats(scan: Scan) -> bool:
    asked = incremental_of(scan.options)
    if asked is None or asked.lag is None or not isinstance(scan.connector, SupportsIncremental):
        return False
    return scan.connector.repeats_within_lag(scan.options)


def _remedy(write: Write) -> str:
    if WriteMode.UPSERT in write.connector.sink_capabilities.write_modes:
        return 'write_mode = upsert, primary_keys = ["id"] replaces rows that are read again; or leave `lag` out'
    return "write to a table by `write_mode = upsert`, for example of `Delta`; or leave `lag` out"
