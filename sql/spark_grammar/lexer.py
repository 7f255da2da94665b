"""The tokens of Spark's lexer: words in upper case, signs as written, and one mark for each kind of literal."""

import re
from dataclasses import dataclass
from typing import Final

STRING: Final = "'"
NUMBER: Final = "0"
QUOTED: Final = "`"
END: Final = ""
"""Behind the last token, several times, so that a look ahead needs no check."""

_TOKEN: Final = re.compile(
    r"""
    (?P<skip>\s+ | --(?:\\\n|[^\n])* | /\*(?:[^*]|\*(?!/))*\*/)
  | (?P<string>[rR]'[^']*' | [rR]"[^"]*" | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*")
  | (?P<quoted>`(?:[^`]|``)*`)
  | (?P<number>
        (?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[bB][dD]|[dDfF])?(?!\w)
      | \d+[eE][+-]?\d+(?:[bB][dD]|[dDfF])?(?!\w)
      | \d+(?:[bB][dD]|[lLsSyYdDfF])?(?!\w)
    )
  | (?P<word>\w+)
  | (?P<sign><=> | <> | != | <= | >= | == | \|\| | \|> | -> | => | :: | << | !> | !< | [-+*/%~&|^=<>!.,()\[\]?:;])
    """,
    re.VERBOSE | re.DOTALL,
)


class LexicalError(Exception):
    """A character at which no token starts."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Tokens:
    """`kinds`: a word in upper case, a sign, or the mark of a literal; `spans`: start and end (exclusive) of each."""

    kinds: list[str]
    spans: list[tuple[int, int]]


def tokenized(text: str) -> Tokens:
    """The tokens of a text; raises `LexicalError`."""
    kinds: list[str] = []
    spans: list[tuple[int, int]] = []
    offset, end = 0, len(text)
    match = _TOKEN.match
    while offset < end:
        found = match(text, offset)
        if found is None:
            raise LexicalError(offset)
        group = found.lastgroup
        stop = found.end()
        if group != "skip":
            if group == "word":
                kinds.append(found.group().upper())
            elif group == "sign":
                kinds.append(found.group())
            else:
                kinds.append(STRING if group == "string" else QUOTED if group == "quoted" else NUMBER)
            spans.append((offset, stop))
        offset = stop
    while kinds and kinds[-1] == ";":
        kinds.pop()
        spans.pop()
    kinds += [END] * 8
    return Tokens(kinds, spans)
