"""Takes secrets out of the arguments of this process: every user of a machine can see them while it runs.

    penstock run job.conf -i password=hunter2       penstock run job.conf -i *****************

They can be seen until the process has begun, so that a variable of the environment is the better way. Linux only.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

_START, _END = 45, 46
"""Where /proc/self/stat has the addresses of the arguments, after the name of the program (proc(5): 48 and 49)."""
_OPTION: Final = re.compile(r"^--[\w-]+=")
_ARE_SECRETS: Final = (["encrypt"], ["decrypt"])
"""Commands whose words are secrets themselves."""


def hide_arguments(masked: Callable[[str], str]) -> None:
    """Overwrite each argument that `masked` changes."""
    if not sys.platform.startswith("linux"):
        return
    try:
        own = Path("/proc/self/cmdline").read_bytes()
        stat = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        start, end = int(stat[_START]), int(stat[_END])
    except (OSError, ValueError, IndexError):
        return
    words = own.split(b"\0")
    is_secret = [_is_secret(word.decode(errors="replace"), masked) for word in words]
    if 0 in (start, end) or end - start != len(own) or not any(is_secret):
        return
    import ctypes

    position = start
    for word, hidden in zip(words, is_secret, strict=True):
        if hidden:
            ctypes.memset(position, ord("*"), len(word))
        position += len(word) + 1


def hide_words(words: list[str]) -> None:
    """Overwrite the arguments that are secrets as they stand, before anything is read."""
    from catalog.secret_names import redacted_text

    named = {word for word in words[1:] if not word.startswith("-")} if words[:1] in _ARE_SECRETS else ()
    hide_arguments(lambda word: "" if word in named else redacted_text(word))


def _is_secret(word: str, masked: Callable[[str], str]) -> bool:
    value = _OPTION.sub("", word)  # of `--variable=password=…`
    return bool(value) and masked(value) != value
