"""A cursor over the tokens of a query, and the small parts that every rule of the grammar is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sql.recognizer.lexer import END, QUOTED, STRING, Tokens

_RESERVED: Final = """
anti cross except full inner intersect join lateral left natural on right semi minus union using
"""
NEVER_TABLE_ALIASES: Final = frozenset(_RESERVED.upper().split())
"""The words that Spark reserves (`strictNonReserved`), with its keywords as they are by default."""

_STARTS: Final = "from where having window limit offset pivot unpivot tablesample select for"
CLAUSES: Final = NEVER_TABLE_ALIASES | frozenset(_STARTS.upper().split()) | {"|>"}
"""Words with which a clause goes on, and which are names only where nothing of a clause follows."""
KEYWORD_NAMES: Final = frozenset(("VALUES", "OUTER"))
"""Names of tables and columns that sqlglot takes for keywords."""
BEFORE_BY: Final = frozenset(("GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE"))
POSITIVE: Final = "positive"
IN_PIVOT: Final = "expression in pivot"
"""The calls that are made of a value behind a plus sign, and of an expression in PIVOT that is not one call."""
_AFTER_NAMES: Final = frozenset((",", ")", ".", END))
NOT_AN_OPERAND: Final = frozenset((END, ",", ")", "]"))


class NotSparkError(Exception):
    """A token that Spark's grammar does not allow here; `message`: what is expected, if known."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message)
        self.message = message


class NotFollowedError(Exception):
    """Syntax that these rules do not cover; it is not checked."""


@dataclass(slots=True)
class Cursor:
    """`query`, `expression` and `value` are the rules that nest in every other, so that the others need not import
    them; `value` returns whether it holds a comparison.

    `nested`: first and last token of each value that Spark nests otherwise than sqlglot does, and the call to make of
    it, if any (`positive` of a plus sign, which sqlglot drops). `kinds`: those of the tokens, which the frequent rules
    read directly. `aliases`: the tokens that were read as names of columns and relations. `doubtful`: those that were
    read as the start of a clause and might be aliases; those in `forced` are. `no_queries`: brackets that hold no
    query.
    """

    tokens: Tokens
    query: Callable[["Cursor"], None]
    expression: Callable[["Cursor"], None]
    value: Callable[["Cursor"], bool]
    at: int = 0
    nested: list[tuple[int, int, str | None]] = field(default_factory=list)
    aliases: list[int] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)
    forced: frozenset[int] = frozenset()
    no_queries: set[int] = field(default_factory=set)
    kinds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = self.tokens.kinds

    @property
    def kind(self) -> str:
        return self.kinds[self.at]

    def ahead(self, count: int = 1) -> str:
        return self.kinds[self.at + count] if self.at + count < len(self.kinds) else END

    def take(self, kind: str) -> bool:
        if self.kinds[self.at] == kind:
            self.at += 1
            return True
        return False

    def take_all(self, first: str, *others: str) -> bool:
        kinds, at = self.kinds, self.at
        if kinds[at] != first or tuple(kinds[at + 1 : at + 1 + len(others)]) != others:
            return False
        self.at += 1 + len(others)
        return True

    def expect(self, *kinds: str) -> None:
        for kind in kinds:
            if self.kinds[self.at] != kind:
                raise NotSparkError
            self.at += 1

    def name(self) -> None:
        if self.kind == "IDENTIFIER" and (self.ahead(), self.ahead(2), self.ahead(3)) == ("(", STRING, ")"):
            self.at += 4
            return
        if not is_name(self.kind):
            raise NotSparkError
        self.at += 1

    def alias(self) -> None:
        self.aliases.append(self.at)
        self.name()

    def dotted_name(self) -> None:
        self.name()
        while self.kind == "." and is_name(self.ahead()):
            self.at += 2

    def names(self) -> None:
        """`(a, b)`."""
        self.expect("(")
        self.alias()
        while self.take(","):
            self.alias()
        self.expect(")")

    def string(self) -> None:
        self.expect(STRING)

    def is_clause(self) -> bool:
        """Whether a word goes on with the query, rather than being a name."""
        kind = self.kinds[self.at]
        # `a from from t`, `t where where (…)`: where both ways fit, the first word is an alias
        is_doubled = kind == self.kinds[self.at + 1]
        if is_doubled and (kind == "FROM" or (kind in ("WHERE", "LIMIT") and self.ahead(2) == "(")):
            return False
        if kind in BEFORE_BY:
            return self.ahead() == "BY" and not self.is_forced_name()
        return kind in CLAUSES and self.ahead() not in _AFTER_NAMES and not self.is_forced_name()

    def is_forced_name(self) -> bool:
        """Whether a word is an alias for lack of another way; that it may be one is noted."""
        self.doubtful.append(self.at)
        return self.at in self.forced

    def takes(self, rule: Callable[["Cursor"], None]) -> bool:
        """Read what the rule fits; nothing is read where it does not fit."""
        at, sizes = self.at, [len(found) for found in (self.nested, self.aliases)]
        try:
            rule(self)
        except NotSparkError:
            self.at = at
            del self.nested[sizes[0] :], self.aliases[sizes[1] :]
            return False
        return True

    def would_take(self, rule: Callable[["Cursor"], None]) -> bool:
        """Whether the rule fits here; nothing is read."""
        at, sizes = self.at, [len(found) for found in (self.nested, self.aliases)]
        fits = self.takes(rule)
        self.at = at
        del self.nested[sizes[0] :], self.aliases[sizes[1] :]
        return fits

    def several(self, rule: Callable[["Cursor"], None]) -> None:
        """The rule once or more, with commas between."""
        kinds = self.kinds
        rule(self)
        while kinds[self.at] == ",":
            self.at += 1
            rule(self)


def is_name(kind: str) -> bool:
    if kind.isidentifier() or kind == QUOTED:
        return True
    return kind[:1].isalpha() or kind[:1] == "_" or (len(kind) > 1 and kind[0].isdigit())
