"""sqlglot's tokens of a text of Spark SQL, found by one regular expression: its tokenizer looks at each character.

A text with rare syntax (escapes in strings, suffixes of numbers, signs next to each other that are no operator) is left
to sqlglot's tokenizer. Comments are left out here; nothing depends on them but hints, which sqlglot reads.

What is valid in Spark is not decided here but in `sql.recognizer.lexer`, which says why there are two.
"""

import re
from functools import lru_cache
from typing import Final

from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import Token, TokenType

SPARK: Final = Spark()
_TOKENIZER: Final = Spark.Tokenizer

_TOKEN: Final = re.compile(
    r"""
    ( [ \t\n]* )
    (?: (
        (?![nNrRxX]['"]) [A-Za-z_][A-Za-z0-9_]* (?![^ \t\n(),.;\[\]=<>+\-*/%:|&^!~'"`])
      | [(),.;\[\]]
      | --[^\n\r]*
      | >(?=>+(?![-+*/%~&|^=<>!:])) | <(?=<(?![-+*/%~&|^=<>!:])) | [-+*/%~&|^=<>!:]+
      | [0-9]+ (?:\.[0-9]+)? (?![^ \t\n(),;\[\]=<>+\-*/%:|&^!~])
      | '[^'\\\r]*' | "[^"\\\r]*"
      | `[^`\\\r]+`(?!`)
    ) | \Z | ( . ) )""",
    re.VERBOSE | re.DOTALL,
)
"""The space before a token, the token, or a character with which rare syntax begins."""

_KINDS: Final[dict[str, TokenType]] = {
    **_TOKENIZER.SINGLE_TOKENS,
    **_TOKENIZER.KEYWORDS,
    **{word.lower(): kind for word, kind in _TOKENIZER.KEYWORDS.items()},
}
_LAST_WORDS: Final = frozenset(phrase.split()[-1] for phrase in _TOKENIZER.KEYWORDS if " " in phrase)
"""Of the keywords of several words: `GROUP BY`."""
_RARE: Final = frozenset((*_TOKENIZER.COMMANDS, TokenType.UNKNOWN))
"""Of unknown signs, and of words behind which sqlglot may take the rest of the text for one token."""
_MOST_WORDS: Final = 10_000
"""Of the names and literals of many queries, which are often the same."""
_QUOTES: Final = {"'": TokenType.STRING, '"': TokenType.STRING, "`": TokenType.IDENTIFIER}


def spark_tokens(text: str) -> list[Token]:
    """The tokens; raises sqlglot's TokenError."""
    found = None if "/*" in text or "{" in text else _plain_tokens(text)
    return SPARK.tokenize(text) if found is None else found


def _plain_tokens(text: str) -> list[Token] | None:
    """The tokens of a text without rare syntax; None for others."""
    tokens: list[Token] = []
    append, word, unknown, sentinel = tokens.append, _word, TokenType.UNKNOWN, TokenType.SENTINEL  # looked up once
    line, line_start, next_line = 1, 0, text.find("\n")
    end = 0
    for space, written, rare in _TOKEN.findall(text):
        start = end + len(space)
        end = start + len(written)
        kind, meant, ends_phrase = word(written)
        if kind is sentinel:
            if rare:
                return None
            continue
        if kind is unknown:
            return None
        while -1 < next_line < end:
            line, line_start, next_line = line + 1, next_line + 1, text.find("\n", next_line + 1)
        if ends_phrase and space and (phrase := _phrase(text, tokens, start, space, written)):
            if "\n" in space:
                return None
            kind, meant, start = _KINDS[phrase], phrase, tokens.pop().start
        append(Token(kind, meant, line, end - line_start, start, end - 1))
    return tokens


def _phrase(text: str, tokens: list[Token], start: int, space: str, written: str) -> str | None:
    """The keyword that a word makes together with the token before it, from which only space separates it."""
    if not tokens:
        return None
    last = tokens[-1]
    phrase = f"{last.text} {written}".upper()
    is_next = last.end + 1 + len(space) == start
    return phrase if phrase in _KINDS and is_next and text[last.start] not in _QUOTES else None


@lru_cache(_MOST_WORDS)
def _word(written: str) -> tuple[TokenType, str, bool]:
    """The kind of a token, its text, and whether it may end a keyword of several words.

    UNKNOWN: rare syntax; SENTINEL: no token, but a comment.
    """
    kind = _KINDS.get(written) or _kind(written)
    is_quoted = kind is TokenType.STRING or kind is TokenType.IDENTIFIER
    meant = written[1:-1] if is_quoted else written
    return TokenType.UNKNOWN if kind in _RARE else kind, meant, written.upper() in _LAST_WORDS


def _kind(written: str) -> TokenType:
    first = written[:1]
    if first.isalpha() or first == "_":
        return _KINDS.get(written.upper(), TokenType.VAR)
    if first.isdigit():
        return TokenType.NUMBER
    if first in _QUOTES:
        return _QUOTES[first]
    return TokenType.SENTINEL if written[:2] in ("--", "") else TokenType.UNKNOWN
