r"""How a name is shown, and how it is written into a file: whatever it holds, it stays a part of its line.

shown_name("a\nb")           a\nb
shown_text("\x1b[31mred")    \x1b[31mred
"""

import json
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
    return shown_text(name).replace("\n", "\\n")


def shown_text(text: str, *, starts_line: bool = True) -> str:
    """A text of one or several lines for a terminal, a log or a CI service: it moves no cursor and gives no command.

    `starts_line`: whether its first line begins here.
    """
    if not text.isascii() or not text.isprintable():
        text = _UNSAFE.sub(_escaped, text)
    if "::" not in text and "##[" not in text:
        return text
    first, end, rest = ("", "", text) if starts_line else text.partition("\n")
    return first + end + _COMMAND.sub(r"\1\\\2", rest)


def written_line(line: str) -> str:
    """A line of a file, as it is or, where it would be more than a line, as a JSON text."""
    return json.dumps(line) if _UNSAFE.search(line) or "\n" in line or line.startswith('"') else line


def read_line(line: str) -> str:
    """The line that `written_line` wrote. Raises ValueError."""
    return str(json.loads(line)) if line.startswith('"') else line


def _escaped(match: "re.Match[str]") -> str:
    """As JSON escapes it, so that a text of JSON stays one."""
    return "\t" if match[0] == "\t" else json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"
