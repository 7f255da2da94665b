"""Sinks that would replace a directory which the same job reads, or which holds files of others."""

import os
import re
from collections.abc import Iterator, Sequence

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.files.foreign_files import foreign_files, foreign_files_error
from connectors.storage.local_files import LocalFiles
from connectors.storage.paths import data_files, local_path, target_folder
from engine.plan.building.write_nodes import replaces
from engine.plan.nodes import Node, Scan, Write, children


def refuse_replaced_sources(writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """Report PEN5030 at the sink's `path`; sinks without the option `overwrite_foreign_files` delete no files."""
    replaced: dict[str, list[Write]] = {}
    for write in writes:
        if replaces(write) and write.options.get("overwrite_foreign_files") is False:
            target = write.connector.target(write.options)
            if target is not None:
                replaced.setdefault(target.rstrip("/") or "/", []).append(write)
    if not replaced:
        return
    read: set[str] = set()
    for scan in _scans(writes):
        folders = {folder for path in _paths(scan) for folder in _folders(path)}
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
        _refuse_foreign_files(target, replaced[target], diagnostics)


def _refuse_foreign_files(target: str, writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """As the run does, where the target is on this machine: what validates, runs."""
    path = local_path(target)
    if path is None or not os.path.isdir(path):
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


def _paths(scan: Scan) -> Iterator[str]:
    """The paths that a scan reads, as far as its path and the existing files show."""
    path = scan.options.get("path")
    if isinstance(path, str):
        yield target_folder(re.split(r"[*?\[{]", path)[0])
        local = local_path(path)
        yield from (target_folder(file) for file in (data_files(local) if local is not None else ()))


def _folders(path: str) -> Iterator[str]:
    """The path and the directories above it."""
    yield path.rstrip("/") or "/"
    while path := path.rpartition("/")[0]:
        yield path
    yield "/"
