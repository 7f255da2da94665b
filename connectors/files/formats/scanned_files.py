"""Looks into csv files for what Spark reads right only as whole files: quoted values, and rows of empty values.

Files that hold neither are divided among tasks.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from catalog.options import Options
from connectors.storage.paths import data_files, local_path

_BLOCK: Final = 1 << 22
_COMPRESSED: Final = (".gz", ".bz2", ".deflate", ".lz4", ".snappy", ".zst", ".zstd", ".xz", ".lzo")
_BLANKS: Final = bytes(range(33))


def may_hold_quotes(paths: Sequence[str] | None, options: Options) -> bool:
    """Whether the files may hold quoted values; files that are compressed, not on this machine or not there yet (None)
    may."""
    mark = (options.optional_string("quote_char") or '"').encode()
    files = plain_files(paths)
    return files is None or len(mark) > 1 or any(mark in block for file in files for block in blocks_of(file))


def may_hold_blank_rows(paths: Sequence[str] | None, options: Options, *, is_text: bool) -> bool:
    """Whether rows may be lines of characters up to U+0020, which Spark's csv reader leaves out; files that cannot be
    looked into may hold some. `is_text`: the only column is a text, perhaps of spaces."""
    delimiter = options.optional_string("field_delimiter") or ","
    if not is_text and any(sign > " " for sign in delimiter):
        return False
    files = plain_files(paths)
    has_lines = options.optional_string("row_delimiter") in (None, "\n", "\r\n")
    if files is None or not has_lines or options.string("encoding").lower() != "utf-8":
        return True
    starts = {delimiter[0].encode(), b" ", b"\t"} - {b","}
    return any(_has_blank_row(file, starts) for file in files)


def _has_blank_row(file: str, starts: Collection[bytes]) -> bool:
    """Whether a line that starts so has nothing but such characters."""
    rest = b"\n"
    for block in blocks_of(file):
        *lines, rest = (rest + block).replace(b"\r", b"\n").rsplit(b"\n", 1)
        if any(_begins_blank(text + b"\n", start) for text in lines for start in starts):
            return True
        rest = b"\n" + rest
    return any(_begins_blank(rest + b"\n", start) for start in starts)


def _begins_blank(text: bytes, start: bytes) -> bool:
    position = text.find(b"\n" + start)
    while position >= 0:
        end = text.index(b"\n", position + 1)
        if not text[position:end].strip(_BLANKS):
            return True
        position = text.find(b"\n" + start, end)
    return False


def plain_files(paths: Sequence[str] | None) -> list[str] | None:
    """The files, if all are on this machine and none is compressed."""
    if paths is None:
        return None
    local = [local_path(path) for path in paths]
    files = [file for path in local if path for file in data_files(path)]
    return None if None in local or any(file.lower().endswith(_COMPRESSED) for file in files) else files


def blocks_of(file: str) -> Iterator[bytes]:
    with open(file, "rb") as content:
        while block := content.read(_BLOCK):
            yield block
