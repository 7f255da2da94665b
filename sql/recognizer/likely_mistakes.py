"""The likely cause of a syntax error: where Spark's parser stops is often a few tokens behind the mistake.

select select * from t          -- stops at FROM: the first `select` was read as a column
select case when a > then 1 end -- stops at `1`: THEN was read as a column
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from sql.recognizer.cursor import is_name
from sql.recognizer.lexer import END, NUMBER, QUOTED, STRING

_TWICE: Final = frozenset(
    """select from where having and or on join then else when limit with union values lateral case as in between like
    over using set distinct""".upper().split()
)
_TWICE_WITH_BY: Final = frozenset(("GROUP", "ORDER", "PARTITION", "SORT", "CLUSTER", "DISTRIBUTE"))
_OPERATORS: Final = frozenset("+ - / % || = == <=> <> != < <= > >=".split())  # noqa: SIM905
_AFTER_OPERAND: Final = frozenset(
    (END, ",", ")", "|>", "FROM", "WHERE", "HAVING", "THEN", "ELSE", "END", "WHEN", "AND", "OR", "UNION", "LIMIT", "AS")
)
_BEFORE_SUBQUERY: Final = frozenset(("FROM", "JOIN", "LATERAL", "IN", "EXISTS")) | _OPERATORS
_BEFORE_BRACKET: Final = frozenset(
    """select from where having and or on join then else when limit with union all except intersect minus values
    lateral as in exists between like over using not distinct case any some by""".upper().split()
)
"""Words behind which `(SELECT` starts a query; behind another name it starts the arguments of a call."""
_CLAUSES: Final = frozenset(
    """from where group having order limit union join on lateral tablesample pivot unpivot""".upper().split()
)
_NESTED_TYPES: Final = frozenset(("ARRAY", "MAP", "STRUCT"))
"""Behind which `<` and `>` are brackets."""
_NO_ALIASES: Final = (
    _TWICE | _TWICE_WITH_BY | _CLAUSES | frozenset(("IS", "NOT", "LIKE", "ILIKE", "RLIKE", "REGEXP", "END", "BY"))
)


ALIAS: Final = "alias"
"""The message of a cause whose first word was read as an alias."""


class Cause(NamedTuple):
    """The first and last token of a mistake (the last may be the end of the text), and what it is, if that is known."""

    first: int
    last: int
    message: str


def doubled_word(kinds: Sequence[str]) -> Cause | None:
    """`SELECT SELECT`, `GROUP BY GROUP BY`: the first of two words is read as a name."""
    for at, (word, follower) in enumerate(pairwise(kinds)):
        if word == follower and word in _TWICE:
            return Cause(at, at + 1, f"`{word}` is here twice")
        if word in _TWICE_WITH_BY and tuple(kinds[at + 1 : at + 4]) == ("BY", word, "BY"):
            return Cause(at, at + 3, f"`{word} BY` is here twice")
    return None


def unparsed_cause(kinds: Sequence[str]) -> Cause | None:
    """What sqlglot's parser does not take where Spark's does: a word twice, DISTINCT in a call of no aggregate."""
    for at, (before, word) in enumerate(pairwise(kinds)):
        if word == "DISTINCT" and before in ("(", "=>"):
            return Cause(at + 1, at + 1, "DISTINCT is not allowed here")
    return doubled_word(kinds)


def likely_cause(kinds: Sequence[str], stop: int, aliases: frozenset[int]) -> Cause | None:
    """What is wrong at or before the token at which the parser stops; `aliases`: words that it read as names."""
    read = kinds[: stop + 2]
    candidates = (doubled_word(read), _missing_operand(read, stop), _bare_subquery(read), _subquery_as_argument(read))
    first = min((cause for cause in candidates if cause is not None), default=None)
    return first or _between(kinds, stop, aliases)


def _missing_operand(kinds: Sequence[str], stop: int) -> Cause | None:
    """`a > THEN`, `a =` at the end: the word is read as a column."""
    if any(word in _NESTED_TYPES and follower == "<" for word, follower in pairwise(kinds)):
        return None
    for at, (operator, follower) in enumerate(pairwise(kinds)):
        if operator in _OPERATORS and follower in _AFTER_OPERAND and at >= stop - 3:
            what = f"`{follower}`" if follower else "the end"
            return Cause(at, at + 1, f"a value is missing between `{operator}` and {what}")
    return None


def _bare_subquery(kinds: Sequence[str]) -> Cause | None:
    """`FROM SELECT 1`, `x IN SELECT 1`."""
    for at, (before, word) in enumerate(pairwise(kinds)):
        if word == "SELECT" and before in _BEFORE_SUBQUERY:
            return Cause(at + 1, at + 1, f"a subquery behind {before} must be in brackets")
    return None


def _subquery_as_argument(kinds: Sequence[str]) -> Cause | None:
    """`coalesce(SELECT 1)`, and `a.b (SELECT 1)` where a word is missing between the two."""
    for at in range(1, len(kinds) - 2):
        is_call = kinds[at] == "(" and kinds[at - 1].isidentifier() and kinds[at - 1] not in _BEFORE_BRACKET
        if is_call and kinds[at + 1] == "SELECT" and kinds[at + 2] not in (",", ")"):
            message = f"`SELECT` is inside the brackets of a call of `{kinds[at - 1].lower()}`: a subquery has its own"
            return Cause(at, at + 1, message)
    return None


def _between(kinds: Sequence[str], stop: int, aliases: frozenset[int]) -> Cause | None:
    """Two tokens that do not go together: a bracket that closes too early and a clause, an alias and another name."""
    if stop < 2 or kinds[stop] == END:
        return None
    before, follower = kinds[stop - 1], kinds[stop]
    if before == ")" and follower == "FROM":
        return Cause(stop - 1, stop, "")
    is_alias = stop - 1 in aliases and kinds[stop - 2] != "AS" and before not in _NO_ALIASES
    if is_alias and (follower in (NUMBER, STRING, QUOTED, "(", ")") or is_name(follower)) and follower not in _CLAUSES:
        return Cause(stop - 1, stop, ALIAS)
    return None
