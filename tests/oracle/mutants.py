"""Single-error mutants: one change at one token of a valid query, with the offsets where the error then stands."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from tests.oracle.more_mutants import PATTERNS, edits

_WORD = re.compile(r"`[^`]*`|'[^']*'|[A-Za-z_]\w*|\d[\w.]*|<=>|<>|<=|>=|\|\||::|->|\S")
_KEYWORDS = frozenset(
    """select from where group by having order limit as and or not in is null true false between like rlike ilike
    case when then else end join left right full cross semi anti on over partition rows preceding following
    unbounded current row with union all intersect except distinct cast exists interval desc asc values lateral
    view filter escape date timestamp rollup cube grouping sets within any both placing for year month day hour
    hours months second time to timestamp_ntz nulls last first div range array map struct string int bigint double
    float decimal boolean binary smallint mm outer view window pivot unpivot tablesample percent rows bucket out of
    """.split()  # noqa: SIM905 -- a word list reads better than eighty quoted words
)


@dataclass(frozen=True)
class Mutant:
    """A query with one error; it stands between offsets `start` and `end` (end exclusive)."""

    kind: str
    query: str
    start: int
    end: int


@dataclass(frozen=True)
class Token:
    text: str
    start: int
    end: int


def tokens(query: str) -> list[Token]:
    return [Token(match[0], match.start(), match.end()) for match in _WORD.finditer(query)]


def mutate(query: str, seed: int) -> Mutant | None:
    """One mutant of the query; None where no kind of eight that are drawn has a place in it."""
    chooser = random.Random(seed)
    for kind in chooser.sample(KINDS, 8):
        places = _ERRORS[kind](tokens(query)) if kind in _ERRORS else edits(kind, query)
        if places:
            start, end, replacement = chooser.choice(places)
            changed = query[:start] + replacement + query[end:]
            last = start + max(len(replacement), 1)
            if not replacement.strip():  # what is not there is missed at the next token
                last = next((token.end for token in tokens(changed) if token.start >= start), last)
            return Mutant(kind, changed, start, last)
    return None


_Edit = tuple[int, int, str]


def _is_name(token: Token) -> bool:
    return token.text[0].isalpha() and token.text.lower() not in _KEYWORDS


def _calls(words: list[Token]) -> list[Token]:
    return [a for a, b in pairwise(words) if _is_name(a) and b.text == "(" and a.end == b.start]


def _references(words: list[Token]) -> list[Token]:
    calls = {id(token) for token in _calls(words)} | {id(token) for token in _defined(words)}
    found = []
    for before, token, after in zip([Token("", 0, 0), *words], words, [*words[1:], Token("", 0, 0)], strict=False):
        is_alias = before.text.lower() in ("as", "from", "join", ")") or after.text in ("->", ".")
        if _is_name(token) and id(token) not in calls and not is_alias and "." not in before.text:
            found.append(token)
    return found


def _defined(words: list[Token]) -> list[Token]:
    """Names that are defined here, not used: lambda variables, column lists of aliases, windows."""
    found = [a for a, b, c in zip(words, words[1:], words[2:], strict=False) if (b.text.lower(), c.text) == ("as", "(")]
    for i, token in enumerate(words):
        close = _closing(words, i) if token.text == "(" else None
        if close is None or i == 0:
            continue
        after = [each.text.lower() for each in words[close + 1 : close + 3]]
        before = words[i - 2].text.lower() if i > 1 else ""
        if after[:1] == ["->"] or after == ["as", "("] or (before in ("as", ")") and _is_name(words[i - 1])):
            found += words[i:close]
    return found + [a for a, b in pairwise(words) if b.text == "->"]


def _unknown_column(words: list[Token]) -> list[_Edit]:
    return [(each.start, each.end, "no_such_column") for each in _references(words)]


def _unknown_function(words: list[Token]) -> list[_Edit]:
    return [(each.start, each.end, "no_such_function") for each in _calls(words)]


def _unknown_table(words: list[Token]) -> list[_Edit]:
    return [
        (b.start, b.end, "no_such_table")
        for a, b in pairwise(words)
        if a.text.lower() in ("from", "join") and _is_name(b)
    ]


def _unknown_field(words: list[Token]) -> list[_Edit]:
    return [(b.start, b.end, "no_such_field") for a, b in pairwise(words) if a.text == "." and _is_name(b)]


def _no_arguments(words: list[Token]) -> list[_Edit]:
    edits = []
    for i, token in enumerate(words):
        if token in _calls(words[i : i + 2]) and (close := _closing(words, i + 1)) is not None:
            if close + 1 < len(words) and words[close + 1].text.lower() == "as" and words[close + 2].text == "(":
                continue  # the name of a CTE
            edits.append((token.start, words[close].end, f"{token.text}()"))
    return edits


def _many_arguments(words: list[Token]) -> list[_Edit]:
    edits = []
    for i, token in enumerate(words):
        if token in _calls(words[i : i + 2]) and (close := _closing(words, i + 1)) is not None and close > i + 2:
            inside = ", ".join(["1", "1", "1", "1", "1", "1", "1", "1"])
            edits.append((token.start, words[close].end, f"{token.text}({inside})"))
    return edits


def _closing(words: list[Token], opening: int) -> int | None:
    depth = 0
    for i in range(opening, len(words)):
        depth += {"(": 1, ")": -1}.get(words[i].text, 0)
        if depth == 0:
            return i
    return None


def _double_comma(words: list[Token]) -> list[_Edit]:
    return [(each.start, each.end, ",,") for each in words if each.text == ","]


def _drop_parenthesis(words: list[Token]) -> list[_Edit]:
    return [(each.start, each.end, " ") for each in words if each.text == ")"]


def _double_quoted_alias(words: list[Token]) -> list[_Edit]:
    return [(b.start, b.end, f'"{b.text}"') for a, b in pairwise(words) if a.text.lower() == "as" and _is_name(b)]


def _array_for_value(words: list[Token]) -> list[_Edit]:
    return [(each.start, each.end, "array(1)") for each in words if each.text[0].isdigit()]


def _value_for_column(words: list[Token]) -> list[_Edit]:
    return [(each.start, each.end, "map('k', date'2020-01-01')") for each in _references(words)]


def _bad_literal(words: list[Token]) -> list[_Edit]:
    return [(each.start, each.end, "date'2020-13-45'") for each in words if each.text[0].isdigit()]


def _no_grouping(words: list[Token]) -> list[_Edit]:
    return [
        (a.start, len_end(words, i), "group by 'x'")
        for i, (a, b) in enumerate(pairwise(words))
        if a.text.lower() == "group" and b.text.lower() == "by"
    ]


def len_end(words: list[Token], start: int) -> int:
    """Where the clause that starts at a word ends: before the next clause, an outer closing parenthesis, or the end."""
    depth = 0
    for token in words[start:]:
        if depth == 0 and token.text.lower() in (")", "having", "order", "union", "intersect", "except", "limit"):
            return token.start
        depth += {"(": 1, ")": -1}.get(token.text, 0)
    return words[-1].end


def _aggregate_in_where(words: list[Token]) -> list[_Edit]:
    return [(each.start, each.end, "where count(*) > 1 and") for each in words if each.text.lower() == "where"]


def _wider_side(words: list[Token]) -> list[_Edit]:
    return [
        (b.start, b.end, "select 1, 2, 3, 4, 5, 6, ")
        for a, b in pairwise(words)
        if a.text.lower() in ("all", "union", "intersect", "except") and b.text.lower() == "select"
    ]


_ERRORS: dict[str, Callable[[list[Token]], list[_Edit]]] = {
    "unknown column": _unknown_column,
    "unknown function": _unknown_function,
    "unknown table": _unknown_table,
    "unknown field": _unknown_field,
    "no arguments": _no_arguments,
    "many arguments": _many_arguments,
    "double comma": _double_comma,
    "dropped parenthesis": _drop_parenthesis,
    "double-quoted alias": _double_quoted_alias,
    "array for a number": _array_for_value,
    "map for a column": _value_for_column,
    "bad literal": _bad_literal,
    "no grouping": _no_grouping,
    "aggregate in where": _aggregate_in_where,
    "unlike widths": _wider_side,
}

KINDS = (*_ERRORS, *PATTERNS)
