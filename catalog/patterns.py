"""Regular expressions of users, which match in a time that grows with the text alone.

A job's pattern is Java's; `(a+)+$` makes Python's engine try more ways than there are seconds. RE2 tries none twice. It
has no lookaround and no backreferences: patterns with these are matched by Python's engine, within the limit of time of
the command.
"""

import re
import warnings
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1024)
def user_pattern(text: str) -> "Pattern":
    """The pattern. Raises `re.error`."""
    return Pattern(text)


class Pattern:
    """A pattern of a user, with what is asked of it here."""

    def __init__(self, text: str) -> None:
        self.pattern = text
        with warnings.catch_warnings():  # what Python may read otherwise some day, such as `[[`, Java does not
            warnings.simplefilter("ignore")
            self._python = re.compile(text)  # says what is wrong with it, as before
        self._fast = _fast(text)

    def fullmatch(self, text: str) -> bool:
        return (self._fast or self._python).fullmatch(text) is not None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where it matches in the text."""
        return [match.span() for match in (self._fast or self._python).finditer(text)]


def _fast(text: str) -> Any:
    try:
        import re2
    except ImportError:  # no wheel for this platform
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error:
        return None
