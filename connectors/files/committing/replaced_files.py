"""What a commit that moves file by file replaces: listed once, before it moves the first file.

    <staging>/replaced.json    what the commit deletes or overwrites in the target

The list stays as it is for everyone who goes on with the commit: a later look at the target would find the new files.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from connectors.files.committing.file_staged import PARTITIONS, REPLACE
from connectors.storage.filesystem import Files
from connectors.storage.paths import is_hidden


@dataclass(frozen=True, slots=True)
class ReplacedFiles:
    """Files of the target, by their path in it."""

    deleted: tuple[str, ...]
    overwritten: frozenset[str]


def replaced_files(files: Files, mode: str, staging: str, target: str, new: Collection[str]) -> ReplacedFiles:
    """What the staged files `new` replace, as the target was when the commit began.

    Raises FileNotFoundError if the commit has ended meanwhile, in another process: the list would be of what it wrote.
    """
    record = f"{staging}/replaced.json"
    if not files.exists(record):
        there = files.files(target)
        folders = {_folder(name) for name in new if not is_hidden(name.rpartition("/")[2])} - {""}
        replaced = {
            name for name in there if mode == REPLACE or (mode == PARTITIONS and _is_below(name, folders))
        } - set(new)
        files.write_new(record, json.dumps({"deleted": sorted(replaced), "overwritten": sorted(set(there) & set(new))}))
    found = json.loads(files.read(record))
    if not files.exists(f"{staging}/staged.json"):
        raise FileNotFoundError(f"{staging}/staged.json")
    return ReplacedFiles(tuple(found["deleted"]), frozenset(found["overwritten"]))


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _is_below(name: str, folders: Iterable[str]) -> bool:
    return any(name.startswith(f"{folder}/") for folder in folders)
