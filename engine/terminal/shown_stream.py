"""The streams of the process, on which no text from outside moves the cursor or gives a CI service a command, and no
secret is shown."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from catalog.diagnostics.shown_names import shown_text
from catalog.masks import Masks


class ShownStream:
    """A text stream that shows what it is given by `shown_text`; `plain` is the stream for what is shown already.

    `masks`: the secrets of the command, which it shows as stars.
    """

    def __init__(self, plain: TextIO) -> None:
        self.plain = plain
        self.masks = Masks()
        self._starts_line = True

    def write(self, text: str) -> int:
        self.plain.write(shown_text(self.masks.known(text), starts_line=self._starts_line))
        if text:
            self._starts_line = text.endswith("\n")
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)


def plain_stream(stream: TextIO) -> TextIO:
    """The stream for a text that is shown already, or has commands and colours of our own."""
    return stream.plain if isinstance(stream, ShownStream) else stream


def mask_streams(masks: Masks) -> None:
    """Mask what the command prints from now on; it may learn further secrets meanwhile."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, ShownStream):
            stream.masks = masks


@contextmanager
def shown_streams() -> Iterator[None]:
    """Show what the block prints by `shown_text`."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        stream if isinstance(stream, ShownStream) else cast(TextIO, ShownStream(stream)) for stream in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
