"""A cursor over the tokens of a query, and the small parts that every rule of the grammar is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sql.spark_grammar.lexer import END, QUOTED, STRING, Tokens

_RESERVED: Final = """
anti cross except full inner intersect join lateral left natural on right semi minus union using
"""
NEVER_TABLE_ALIASES: Final = frozenset(_RESERVED.upper().split())
"""The words that Spark reserves (`strictNonReserved`), with its keywords as they are by default."""

_STARTS: Final = "from where having window limit offset pivot unpivot tablesample select for"
CLAUSES: Final = NEVER_TABLE_ALIASES | frozenset(_STARTS.upper().split()) | {"|>"}
"""Words with which a clause goes on, and which are names only where nothing of a clause follows."""
BEFORE_BY: Final = frozenset(("GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE"))
_AFTER_NAMES: Final = frozenset((",", ")", ".", END))


class NotSparkError(Exception):
    """A token that Spark's grammar does not allow here; `message`: what is expected, if known."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message)
        self.message = message


class NotFollowedError(Exception):
    """Syntax that these rules do not cover; it is not checked."""


@dataclass(slots=True)
class Cursor:
    """`query` is the rule of a whole query, held here because queries nest in every rule.

    `nested`: first and last token of each value that Spark nests otherwise than sqlglot does, and whether its first
    token is a plus sign, which sqlglot drops. `kinds`: those of the tokens, which the frequent rules read directly.
    """

    tokens: Tokens
    query: Callable[["Cursor"], None]
    at: int = 0
    nested: list[tuple[int, int, bool]] = field(default_factory=list)
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
        if not is_name(self.kind):
            raise NotSparkError
        self.at += 1

    def dotted_name(self) -> None:
        self.name()
        while self.kind == "." and is_name(self.ahead()):
            self.at += 2

    def names(self) -> None:
        """`(a, b)`."""
        self.expect("(")
        self.name()
        while self.take(","):
            self.name()
        self.expect(")")

    def string(self) -> None:
        self.expect(STRING)

    def is_clause(self) -> bool:
        """Whether a word goes on with the query, rather than being a name."""
        kind = self.kinds[self.at]
        if kind in BEFORE_BY:
            return self.ahead() == "BY"
        return kind in CLAUSES and self.ahead() not in _AFTER_NAMES

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
