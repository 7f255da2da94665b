"""Names of files from text that users write: two texts never share a name, on any file system."""

import re
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
