"""What a session must not show: the texts of secrets, and where they are in its files.

Compiling a job adds the values of sensitive options. Whatever the session prints or records goes through its masks.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias
from urllib.parse import quote
from zlib import crc32

from catalog.diagnostics.source import SourceFile
from catalog.ordinary_words import secret_pattern
from catalog.secret_names import (
    HIDDEN,
    is_secret_name,
    redacted,
    redacted_mapping,
    redacted_text,
    secret_parts,
    stars,
)

_SHORTEST: Final = 4
"""The length from which a value is masked wherever it appears; shorter ones are parts of ordinary words."""
_LONG: Final = 8
"""The length from which the value of a variable is masked within words too: a job may join it with others."""
_NO_SECRETS: Final = frozenset({"PWD", "OLDPWD"})
"""Variables of a shell that are folders."""

_PIECE: Final = re.compile(r"[^\s,;:=+#{}\[\]()\"'`?&|]+")
"""What remains of a secret where its text was read by another grammar, such as one without quotes in HOCON."""
_CUT: Final = ("…", "...")
_PAGE_ESCAPES: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})

Range: TypeAlias = tuple[int, int]


class Masks:
    """The secrets of one session, such as one command or one compilation; they are never those of another."""

    __slots__ = ("_joined", "_ranges", "_secrets")

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._joined: set[str] = set()
        self._ranges: dict[tuple[str, int], set[Range]] = {}

    def __repr__(self) -> str:
        return f"Masks({len(self._secrets)} secrets)"

    def add(self, value: object) -> None:
        """Mask this text wherever it appears as a word of its own."""
        if isinstance(value, str) and len(value) >= _SHORTEST and value != HIDDEN:
            self._secrets |= _spellings(value)

    def add_parts(self, text: str) -> None:
        """Mask the secrets within a connection text also by themselves, as drivers show them, and in the pieces that
        remain where it was taken for a list."""
        for part in secret_parts(text):
            self.add(part)
            for piece in _PIECE.findall(part):
                self.add(piece)

    def add_named(self, values: Mapping[str, object]) -> None:
        """Mask the values whose name is that of a secret, and the secrets within others."""
        for name, value in values.items():
            self.add_variable(name, value)
            if isinstance(value, str):
                self.add_parts(value)

    def add_variable(self, name: str, value: object) -> None:
        """Mask the value of a variable whose name is that of a secret, also where it was joined with other text."""
        if not is_secret_name(name) or name in _NO_SECRETS:
            return
        self.add(value)
        if isinstance(value, str):
            for text in {value, *value.splitlines(), *_derived_names(value)} - {HIDDEN}:
                self.add(text)
                if len(text) >= _LONG:
                    self._joined |= _spellings(text)

    def hide(self, source: SourceFile, start: int, end: int) -> None:
        """Mask a range of a file. It is known by the file's name and text, since reports read files again."""
        self._ranges.setdefault(_key(source), set()).add((start, end))

    def hidden(self, source: SourceFile) -> frozenset[Range]:
        """The hidden ranges of a file."""
        return frozenset(self._ranges.get(_key(source), ()))

    def adds_nothing_to(self, other: "Masks") -> bool:
        """Whether the other session masks all that this one does."""
        has_ranges = all(ranges <= other._ranges.get(key, set()) for key, ranges in self._ranges.items())
        return has_ranges and self._secrets <= other._secrets and self._joined <= other._joined

    def merge(self, other: "Masks") -> None:
        """Add those of another session, such as a process that has checked some of the jobs."""
        self._secrets |= other._secrets
        self._joined |= other._joined
        for key, ranges in other._ranges.items():
            self._ranges.setdefault(key, set()).update(ranges)

    def known(self, text: str) -> str:
        """The text with stars for the secrets of the session."""
        for secret in self._found(text):
            if secret in self._joined:
                text = re.sub(re.escape(secret), HIDDEN, text, flags=re.IGNORECASE)
            else:
                text = re.sub(secret_pattern(secret), HIDDEN, text)
        return self._without_cut(text)

    def starred(self, text: str) -> str:
        """The text with a star for each character of the session's secrets, so that columns do not shift."""
        for secret in self._found(text):
            is_joined = secret in self._joined
            pattern = re.escape(secret) if is_joined else secret_pattern(secret)
            text = re.sub(pattern, lambda match: stars(match[0]), text, flags=re.IGNORECASE if is_joined else 0)
        return text

    def add_rest(self, value: str) -> None:
        """Mask what stands after the key of a secret, also in the pieces that HOCON makes of it."""
        self.add(value.strip("\"'"))
        for piece in _PIECE.findall(value):
            self.add(piece)

    def _found(self, text: str) -> list[str]:
        """The secrets in a text, the longest first. A job may have changed the case of a variable's value."""
        lowered = text.lower() if self._joined else ""
        found = {secret for secret in self._secrets if secret in text}
        found |= {secret for secret in self._joined if secret.lower() in lowered}
        return sorted(found, key=len, reverse=True)

    def _without_cut(self, text: str) -> str:
        """The text without the beginning of a variable's value, where the rest was cut off to be short."""
        for secret in self._joined if any(mark in text for mark in _CUT) else ():
            for length in range(len(secret) - 1, _SHORTEST - 1, -1) if secret[:_SHORTEST] in text else ():
                for mark in _CUT:
                    text = text.replace(secret[:length] + mark, HIDDEN + mark)
        return text

    def text(self, text: str) -> str:
        """The text with stars for the secrets of the session, and for what looks like a secret.

        Those of the session come first: they are whole, and what only looks like a secret may end within one.
        """
        return self._without_cut(redacted_text(self.known(text)))

    def value(self, value: object) -> object:
        """A value of JSON or an option, masked as `text` does, also within maps and lists."""
        return redacted(value, self.text)

    def mapping(self, values: Mapping[str, object]) -> dict[str, object]:
        """The values, masked as `value` does; those under the name of a secret are stars."""
        return redacted_mapping(values, self.text)


class MaskedVariables(Mapping[str, str]):
    """Variables of the environment, of which those that a job reads are masked where their names say secret."""

    def __init__(self, values: Mapping[str, str], masks: Masks) -> None:
        self._values = values
        self.masks = masks

    def __getitem__(self, name: str) -> str:
        value = self._values[name]
        self.masks.add_variable(name, value)
        self.masks.add_parts(value)
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _spellings(value: str) -> set[str]:
    """The value as it is in texts, in JSON, in a page and in a URL."""
    in_json = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    in_page = {text.translate(_PAGE_ESCAPES) for text in in_json} | {
        html.escape(value),
        html.escape(value, quote=False),
    }
    in_url = quote(value, safe="", errors="replace")
    return {value, value.replace("\\", "\\\\").replace('"', '\\"'), *in_json, *in_page, in_url}


def _derived_names(value: str) -> set[str]:
    """The names that a target gets from the end of its path."""
    ends = [value[match.end() :] for match in re.finditer("/", value)]
    return {re.sub(r"\W+", "_", end).strip("_") for end in (value, *ends)}


def _key(source: SourceFile) -> tuple[str, int]:
    return source.path, crc32(source.text.encode(errors="surrogatepass"))
