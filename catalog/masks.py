"""What a session must not show: the texts of secrets, and where they are in its files.

Compiling a job adds the values of sensitive options. Whatever the session prints or records goes through its masks.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias
from zlib import crc32

from catalog.diagnostics.source import SourceFile
from catalog.secret_names import HIDDEN, is_secret_name, redacted, redacted_mapping, redacted_text

_SHORTEST: Final = 4
"""The length from which a value is masked wherever it appears; shorter ones are parts of ordinary words."""

Range: TypeAlias = tuple[int, int]


class Masks:
    """The secrets of one session, such as one command or one compilation; they are never those of another."""

    __slots__ = ("_ranges", "_secrets")

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._ranges: dict[tuple[str, int], set[Range]] = {}

    def __repr__(self) -> str:
        return f"Masks({len(self._secrets)} secrets)"

    def add(self, value: object) -> None:
        """Mask this text wherever it appears as a word of its own."""
        if isinstance(value, str) and len(value) >= _SHORTEST and value != HIDDEN:
            self._secrets |= {value, value.replace("\\", "\\\\").replace('"', '\\"')}  # also as in JSON

    def add_named(self, values: Mapping[str, object]) -> None:
        """Mask the values whose name is that of a secret."""
        for name, value in values.items():
            if is_secret_name(name):
                self.add(value)

    def hide(self, source: SourceFile, start: int, end: int) -> None:
        """Mask a range of a file. It is known by the file's name and text, since reports read files again."""
        self._ranges.setdefault(_key(source), set()).add((start, end))

    def hidden(self, source: SourceFile) -> frozenset[Range]:
        """The hidden ranges of a file."""
        return frozenset(self._ranges.get(_key(source), ()))

    def merge(self, other: "Masks") -> None:
        """Add those of another session, such as a process that has checked some of the jobs."""
        self._secrets |= other._secrets
        for key, ranges in other._ranges.items():
            self._ranges.setdefault(key, set()).update(ranges)

    def known(self, text: str) -> str:
        """The text with stars for the secrets of the session."""
        if self._secrets:
            for secret in sorted((secret for secret in self._secrets if secret in text), key=len, reverse=True):
                text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
        return text

    def text(self, text: str) -> str:
        """The text with stars for the secrets of the session, and for what looks like a secret."""
        return self.known(redacted_text(text))

    def value(self, value: object) -> object:
        """A value of JSON or an option, masked as `text` does, also within maps and lists."""
        return redacted(value, self.text)

    def mapping(self, values: Mapping[str, object]) -> dict[str, object]:
        """The values, masked as `value` does; those under the name of a secret are stars."""
        return redacted_mapping(values, self.text)


def _key(source: SourceFile) -> tuple[str, int]:
    return source.path, crc32(source.text.encode(errors="surrogatepass"))
