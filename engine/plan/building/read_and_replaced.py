"""Sinks whose target the same job reads: one that would replace the directory, one of a database whose columns the
source declares. So are directories refused that hold files of others."""

import os
from collections.abc import Iterator, Sequence

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import store_assignment
from catalog.reach import is_outside
from catalog.tables.evolution import StoreAssignment
from catalog.tables.narrowing import Narrowing, known_loss
from catalog.tables.savemode import SchemaSaveMode
from connectors.files.foreign_files import foreign_files, foreign_files_error
from connectors.storage.local_files import LocalFiles
from connectors.storage.paths import data_files, local_path, target_folder
from engine.plan.building.write_nodes import column_place, replaces
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.nodes import Node, Scan, Write, children


def refuse_replaced_sources(writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """Report PEN5030 at the sink's `path`; sinks without the option `overwrite_foreign_files` delete no files."""
    replaced: dict[Dataset, list[Write]] = {}
    for write in writes:
        if replaces(write) and write.options.get("overwrite_foreign_files") is False:
            target = dataset_of(write)
            if target is not None:
                replaced.setdefault(target, []).append(write)
    if not replaced:
        return
    read: set[Dataset] = set()
    for scan in _scans(writes):
        folders = {folder for dataset in _read(scan) for folder in dataset.and_above()}
        for target in (target for target in replaced if target in folders):
            read.add(target)
            for write in replaced[target]:
                message = (
                    f"the sink would replace `{write.options['path']}`, from which `{scan.name}` reads "
                    f"`{scan.options['path']}`"
                )
                help = "write to another `path`; `overwrite_foreign_files = true` lets the run delete its own source"
                diagnostics.error("PEN5030", message, write.options.span("path"), help)
    for target in (target for target in replaced if target not in read):
        _refuse_foreign_files(str(target), replaced[target], diagnostics)


def report_narrower_targets(writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """Warn of columns that may not fit the table of a database without loss (PEN4501), as a source of the same job
    declares it, or as the schema lock has it."""
    tables = {dataset_of(scan): scan for scan in _scans(writes) if _is_declared(scan)}
    for write in writes if tables else ():
        scan = tables.get(dataset_of(write))
        if scan is None or not _checks_values(write):
            continue
        for column in scan.table.columns:
            given = write.table.column(column.name)
            if given is not None and known_loss(given.type, column):
                found = Narrowing(given.name, given.type, column)
                message = f"{found}, as `{scan.name}` declares it: the run fails at a value that does not fit"
                place = column_place(write.input, write.options, given.name)
                diagnostics.warning("PEN4501", f"{message} without loss", place, found.remedy)


def _is_declared(scan: Scan) -> bool:
    return scan.connector.name == "Jdbc" and not scan.table.is_open and dataset_of(scan) is not None


def _checks_values(write: Write) -> bool:
    is_kept = write.schema_save_mode is not SchemaSaveMode.RECREATE_SCHEMA and not write.table.is_open
    return is_kept and store_assignment(write.options) is StoreAssignment.LOSSLESS


def _refuse_foreign_files(target: str, writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """As the run does, where the target is on this machine: what validates, runs."""
    path = local_path(target)
    if path is None or is_outside(path) or not os.path.isdir(path):
        return
    try:
        found = foreign_files(LocalFiles(), path)
    except OSError:
        return  # the run reports a directory that cannot be read
    for write in writes if found else ():
        diagnostics.extend(foreign_files_error(path, found, write.options).diagnostics)


def _scans(writes: Sequence[Write]) -> Iterator[Scan]:
    """Every scan that the writes read, without duplicates."""
    seen: set[Node] = set()
    work: list[Node] = [write.input for write in reversed(writes)]
    while work:
        node = work.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Scan):
            yield node
        work.extend(reversed(children(node)))


def _read(scan: Scan) -> Iterator[Dataset]:
    """What a scan reads, as far as its options and the existing files show."""
    dataset = dataset_of(scan)
    if dataset is not None:
        yield dataset.folder
    path = scan.options.get("path")
    local = local_path(path) if isinstance(path, str) else None
    yield from (Dataset.of(target_folder(file)) for file in (data_files(local) if local is not None else ()))
