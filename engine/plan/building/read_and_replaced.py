"""Sinks that would replace a directory which the same job reads: a run must not delete its own source."""

import re
from collections.abc import Iterator, Sequence

from catalog.diagnostics import Diagnostics
from connectors.support.files.file_schema import data_files, local_path, target_folder
from engine.plan.building.write_nodes import replaces
from engine.plan.nodes import Node, Scan, Write, children


def refuse_replaced_sources(writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """Report PEN5030 at the sink's `path`; sinks without the option `overwrite_foreign_files` delete no files."""
    replaced = [each for each in writes if replaces(each) and each.options.get("overwrite_foreign_files") is False]
    if not replaced:
        return
    for scan in _scans(writes):
        for write in replaced:
            target = write.connector.target(write.options)
            if target is not None and _reads_below(scan, target):
                message = (
                    f"`{write.options['path']}` is replaced, and `{scan.name}` reads `{scan.options['path']}` in it"
                )
                help = "write to another `path`; `overwrite_foreign_files = true` lets the run delete its own source"
                diagnostics.error("PEN5030", message, write.options.span("path"), help)


def _scans(writes: Sequence[Write]) -> Iterator[Scan]:
    """Every scan that the writes read, once, in the order in which they are met."""
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


def _reads_below(scan: Scan, target: str) -> bool:
    """Whether what a scan reads is the target or in it, as far as its path and the files that are there say."""
    path = scan.options.get("path")
    if not isinstance(path, str):
        return False
    fixed = target_folder(re.split(r"[*?\[{]", path)[0])
    if _is_below(fixed, target):
        return True
    local = local_path(path)
    return local is not None and any(_is_below(target_folder(file), target) for file in data_files(local))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
