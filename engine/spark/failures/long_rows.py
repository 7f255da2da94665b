"""Rows of local text files that are too long for Java's memory, which its errors do not name."""

import time
from collections.abc import Iterable
from typing import Final

from connectors.files.bad_lines import long_line
from connectors.files.file_options import file_format
from connectors.storage.paths import data_files, local_path
from engine.plan.nodes import AnyNode, Scan

_LIMIT: Final = 32 << 20
"""Bytes of a line; Java needs about ten times as many for it."""
_MOST_FILES: Final = 200
_SECONDS: Final = 10.0
_TEXTS: Final = ("csv", "json", "text", "xml")


def long_row(nodes: Iterable[AnyNode]) -> str | None:
    """The first line of a file of these sources that is longer than 32 MiB, as a sentence; None if there is none."""
    until = time.monotonic() + _SECONDS
    for scan in (node for node in nodes if isinstance(node, Scan)):
        path = scan.options.get("path")
        if not isinstance(path, str) or scan.options.get("file_format_type") is None:
            continue
        local = local_path(path)
        if local is None or file_format(scan.options) not in _TEXTS:
            continue
        for file in data_files(local)[:_MOST_FILES]:
            if time.monotonic() > until:
                return None
            if found := long_line(file, _LIMIT):
                line, length = found
                return f"line {line} of `{file}`, which `{scan.written_name}` reads, has {length / (1 << 20):,.0f} MiB"
    return None


LONG_ROW_HELP: Final = (
    "a row is held in memory as a whole: split the line, look for a missing line break or a quote that is not closed; "
    "or give Java more memory: `spark.driver.memory = 8g` in `env`"
)
