"""Paths of files and directories: which are on this machine, what they match, and what a wrong one may mean."""

import glob
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from math import prod

from catalog.diagnostics.diagnostic import nearest
from catalog.limits import check
from catalog.reach import is_outside

_PLAIN = (".csv", ".json", ".jsonl", ".tsv", ".txt", ".xml")
_TEXT_OF_BYTE = 8
"""How many bytes of text a byte of a compressed or columnar file may hold."""
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")


def local_path(path: str) -> str | None:
    """The path on this machine's file system, or None if another file system holds it.

    As in Hadoop's `Path`, the rest of a `file:` URI is the literal path, without escapes.
    """
    if path.startswith("file:"):
        return "/" + path[len("file:") :].lstrip("/")
    return None if _SCHEME.match(path) else os.path.expanduser(path) if path.startswith("~") else path


def leads_out(path: str) -> bool:
    """Whether a path or pattern is on this machine, and leads out of what may be read now."""
    local = local_path(path)
    if local is None:
        return False
    fixed = re.split(r"[*?\[{]", local)[0]
    return is_outside(fixed if fixed == local else os.path.dirname(fixed) or ".")


def data_files(path: str) -> list[str]:
    """The files under a local path or pattern that Spark would read, sorted (no name begins with `_` or `.`)."""
    found: list[str] = []
    for root in _roots(path):
        found += [root] if os.path.isfile(root) else _files_below(root)
    return [file for file in found if not is_outside(file)]


def size_of(files: Iterable[str]) -> int:
    """About how many bytes of text these files hold; they may vanish meanwhile."""
    return sum(_size(file) * (1 if file.endswith(_PLAIN) else _TEXT_OF_BYTE) for file in files)


def _size(file: str) -> int:
    try:
        return os.path.getsize(file)
    except OSError:
        return 0


def _roots(path: str) -> list[str]:
    if os.path.lexists(path):
        return [path]
    if not _is_pattern(path):
        return []
    return sorted({match for pattern in expand_braces(path) for match in glob.glob(pattern)})


def _is_pattern(path: str) -> bool:
    return glob.has_magic(path) or "{" in path


def readable_path(path: str) -> str:
    """The path for Spark's readers. One that is there under this very name is no pattern to them."""
    path = spark_path(path)
    local = local_path(path)
    is_name = local is not None and _is_pattern(local) and os.path.lexists(local)
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", path) if is_name else path


def spark_path(path: str) -> str:
    """The path for Spark, which does not expand `~`, and whose current folder is that in which Java was started."""
    path = os.path.expanduser(path) if path.startswith("~") else path
    is_relative = "://" not in path and not os.path.isabs(path) and not path.startswith("file:")
    beginning = re.split(r"[*?\[{]", path)[0].rpartition("/")[0] if glob.has_magic(path) or "{" in path else path
    return os.path.abspath(path) if is_relative and os.path.exists(beginning or ".") else path


def target_folder(path: str) -> str:
    """The normalized path: on this machine's file system absolute, with links resolved."""
    local = local_path(path)
    return path.rstrip("/") if local is None else os.path.realpath(local)


def file_name(text: str) -> str:
    """The id of a run, or a name that has one, as the name of a file: Hadoop's paths have no `:`."""
    return text.replace(":", ";")


def near_path(path: str) -> str | None:
    """The path that a local path without files may mean: it is there, up to a pattern; else None."""
    local = local_path(path)
    if local is None or leads_out(path):
        return None
    right = os.sep if local.startswith(os.sep) else ""
    parts = [part for part in local.split(os.sep) if part]
    is_set_right = False
    for index, part in enumerate(parts):
        if glob.has_magic(part):
            right = os.path.join(right, *parts[index:])
            break
        if os.path.lexists(os.path.join(right, part)):
            right = os.path.join(right, part)
            continue
        folder = right or "."
        sys.audit("os.listdir", folder)  # also where its listing is known: who records what is read must hear of it
        meant = _nearest(part, folder, os.stat(folder).st_mtime_ns) if os.path.isdir(folder) else None
        if meant is None:
            return None
        right, is_set_right = os.path.join(right, meant), True
    return right if is_set_right else None


@lru_cache(maxsize=64)
def _nearest(name: str, folder: str, changed: int) -> str | None:
    """The nearest name in a directory that was last changed then. It is kept: the jobs of a folder often read files in
    one missing directory."""
    return nearest(name, [there for there in os.listdir(folder) if not is_hidden(there)])


def _files_below(root: str) -> list[str]:
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        found += [os.path.join(folder, name) for name in sorted(files) if not is_hidden(name)]
    return found


def is_hidden(name: str) -> bool:
    """Whether Spark's readers ignore a file or directory of this name."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def expand_braces(pattern: str) -> Iterator[str]:
    parts = re.split(r"\{([^{}]*)\}", pattern)
    choices = [part.split(",") for part in parts[1::2]]
    check("paths", prod(map(len, choices)), None, f"`{pattern[:80]}`")
    for choice in product(*choices):
        yield "".join(piece for pair in zip(parts[::2], (*choice, ""), strict=True) for piece in pair)
