"""Looks for quotes in csv files: where there are none, no value spans lines, and Spark can split the files."""

from collections.abc import Sequence
from typing import Final

from connectors.support.files.paths import data_files, local_path
from connectors.support.option import Options

_BLOCK: Final = 1 << 22
_COMPRESSED: Final = (".gz", ".bz2", ".deflate", ".lz4", ".snappy", ".zst", ".zstd", ".xz", ".lzo")


def may_hold_quotes(paths: Sequence[str], options: Options) -> bool:
    """Whether the files may hold quoted values; files that are compressed or not on this machine may."""
    mark = (options.optional_string("quote_char") or '"').encode()
    local = [local_path(path) for path in paths]
    return None in local or any(_holds(file, mark) for path in local if path for file in data_files(path))


def _holds(file: str, mark: bytes) -> bool:
    if file.lower().endswith(_COMPRESSED) or len(mark) > 1:
        return True
    with open(file, "rb") as content:
        while block := content.read(_BLOCK):
            if mark in block:
                return True
    return False
