r"""How a name is shown, and how it is written into a file: whatever it holds, it stays a part of its line.

shown_name("a\nb")      a\nb
shown("\x1b[31mred")    \x1b[31mred
"""

import re
from typing import Final

_UNSAFE: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Controls, ends of lines, signs that turn the direction of writing or have no width, and halves of characters."""
_COMMAND: Final = re.compile(r"^(\s*)(::|##\[)", re.MULTILINE)
"""What a CI service takes for a command of its own at the beginning of a line."""


def shown_name(name: str) -> str:
    """A name within a line: also its ends of lines are escaped."""
    return shown(name).replace("\n", "\\n")


def shown(text: str) -> str:
    """A text of one or several lines for a terminal, a log or a CI service: it moves no cursor and gives no command."""
    if not text.isascii() or not text.isprintable():
        text = _UNSAFE.sub(_escaped, text)
    return _COMMAND.sub(r"\1\\\2", text) if "::" in text or "##[" in text else text


def _escaped(match: "re.Match[str]") -> str:
    return "\t" if match[0] == "\t" else match[0].encode("unicode_escape").decode("ascii")
