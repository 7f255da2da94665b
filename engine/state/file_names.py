"""Names of files from text that users write: two texts never share a name, on any file system."""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

_PLAIN: Final = re.compile(r"[a-z0-9_][a-z0-9._-]{0,99}")
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]")
_WITH_HASH: Final = re.compile(r".*-[0-9a-f]{16}", re.DOTALL)


def file_name(text: str) -> str:
    """The text where every file system takes it as it is, else a readable part of it and its hash.

    Capitals get a hash, too: some file systems do not distinguish them.
    """
    if _PLAIN.fullmatch(text) and not _WITH_HASH.fullmatch(text):
        return text
    readable = _ODD.sub("_", text).lstrip(".")[:64] or "_"
    return f"{readable}-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def run_ids(run_id: str, names: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """The id of each job's run, by the name of the job, or by its file where two jobs have one name: `daily.orders`.

    The order of the jobs does not matter: a rerun with the same id finds its rows when a job was added. One job alone
    has the id itself; a file that is named twice is numbered.
    """
    if len(names) == 1:
        return (run_id,)
    known, seen = Counter(names), Counter[str]()
    found: list[str] = []
    for name, file in zip(names, files, strict=True):
        own = f"{run_id}.{file_name(name if known[name] == 1 else file)}"
        seen[own] += 1
        found.append(own if seen[own] == 1 else f"{own}-{seen[own]}")
    return tuple(found)
