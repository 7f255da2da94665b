"""The tokens of Spark's lexer: words in upper case, signs as written, and one mark for each kind of literal.

This is Spark's own division of a text, which decides what is valid. `sql.parsing.spark_tokens` makes the other one that
sqlglot's parser needs: the tokens of sqlglot's tokenizer, where `GROUP BY` is one token and a text has lost its quotes.
A test compares it with that tokenizer. The two share no rules but a few patterns (`sql.quoted_forms`).
"""

import re
from dataclasses import dataclass
from typing import Final

from sql.quoted_forms import LINE_COMMENT, QUOTED_NAME, TEXT

STRING: Final = "'"
NUMBER: Final = "0"
QUOTED: Final = "`"
END: Final = ""
"""Behind the last token, several times, so that a look ahead needs no check."""

_TOKEN: Final = re.compile(
    r"""\s*(?:
    ( (?:[A-QS-Za-qs-z_] | [rR](?!['"])) \w* | [,()=] (?![=>]) )
  | ( [rR]'[^']*' | [rR]"[^"]*" | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" )
  | (
        (?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[bB][dD]|[dDfF])?(?!\w)
      | \d+[eE][+-]?\d+(?:[bB][dD]|[dDfF])?(?!\w)
      | \d+(?:[bB][dD]|[lLsSyYdDfF])?(?!\w)
    )
  | ( `(?:[^`]|``)*` )
  | ( --(?:\\\n|[^\n])* | /\*(?:[^*]|\*(?!/))*\*/ )
  | ( \w+ | <=> | <> | != | <= | >= | == | \|\| | \|> | -> | => | :: | << | !> | !< | [-+*/%~&|^=<>!.,()\[\]?:;] )
  | \Z
  | (.)
    )""",
    re.VERBOSE | re.DOTALL,
)
"""What is most frequent comes first: plain words, commas and brackets."""
_COMMENT, _UNKNOWN = 5, 7
_MARKS: Final = {2: STRING, 3: NUMBER, 4: QUOTED}
"""By the group of `_TOKEN`; the other groups are the text itself."""


class LexicalError(Exception):
    """A character at which no token starts."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Tokens:
    """`kinds`: a word in upper case, a sign, or the mark of a literal, and `END` behind the last; `matches` of each."""

    kinds: list[str]
    matches: list[re.Match[str]]

    def span(self, at: int) -> tuple[int, int]:
        """Start and end (exclusive) of a token."""
        match = self.matches[at]
        return match.span(match.lastindex or 0)


def tokenized(text: str) -> Tokens:
    """The tokens of a text; raises `LexicalError`."""
    if "/*" in text:
        text = _without_comments(text)
    matches = list(_TOKEN.finditer(text))
    while matches and matches[-1].lastindex is None:  # the end of the text
        matches.pop()
    groups = [match.lastindex or 0 for match in matches]
    if _UNKNOWN in groups:
        raise LexicalError(matches[groups.index(_UNKNOWN)].start(_UNKNOWN))
    if _COMMENT in groups:
        matches = [match for match in matches if match.lastindex != _COMMENT]
        groups = [group for group in groups if group != _COMMENT]
    marks = _MARKS
    kinds = [marks.get(group) or match[group].upper() for match, group in zip(matches, groups, strict=True)]
    while kinds and kinds[-1] == ";":
        kinds.pop()
        matches.pop()
    kinds += [END] * 8
    return Tokens(kinds, matches)


_COMMENT_MARKS: Final = re.compile(rf"{TEXT}|{QUOTED_NAME}|{LINE_COMMENT}|(?P<open>/\*)|(?P<close>\*/)", re.DOTALL)


def _without_comments(text: str) -> str:
    """The text with blanks for its bracketed comments, which nest."""
    made, depth, start, at = list(text), 0, 0, 0
    while mark := _COMMENT_MARKS.search(text, at) if not depth else _NESTED_MARKS.search(text, at):
        at = mark.end()
        if mark["open"]:
            start = start if depth else mark.start()
            depth += 1
        elif mark["close"] and depth:
            depth -= 1
            if not depth:
                made[start:at] = " " * (at - start)
    if depth:
        raise LexicalError(start)
    return "".join(made)


_NESTED_MARKS: Final = re.compile(r"(?P<open>/\*)|(?P<close>\*/)")
