"""Tables of a local warehouse whose names match a pattern: a level of directories for each name."""

import os
import re
from collections.abc import Callable, Sequence

from catalog.patterns import user_pattern
from connectors.matching.table_patterns import NamePatterns
from connectors.storage.paths import is_hidden


def matching_folders(
    root: str, names: NamePatterns, is_table: Callable[[str], bool], suffixes: Sequence[str] = ()
) -> list[tuple[str, ...]]:
    """The names of the tables, sorted; only directories that match are listed.

    `suffixes`: what the directories of each level end with, such as `.db`.
    """
    found: list[tuple[tuple[str, ...], str]] = [((), root)]
    for level, pattern in enumerate(names):
        suffix = suffixes[level] if level < len(suffixes) else ""
        found = [
            ((*path, name), os.path.join(folder, name + suffix))
            for path, folder in found
            for name in _names_in(folder, suffix)
            if user_pattern(pattern.pattern).fullmatch(name)
        ]
    return [path for path, folder in found if is_table(folder)]


def all_folders(
    root: str, depth: int, is_table: Callable[[str], bool], suffixes: Sequence[str] = ()
) -> list[tuple[str, ...]]:
    """The names of all tables of that many names."""
    return matching_folders(root, (re.compile(".*"),) * depth, is_table, suffixes)


def _names_in(folder: str, suffix: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir() and not is_hidden(entry.name)]
    except OSError:
        return []
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix) and name != suffix)
