"""Generated queries, to which built-in transforms compile."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote

Fragment: TypeAlias = str | PlacedText
"""A piece of SQL: generated, or a user's own, which knows its place in the job file."""


@dataclass(frozen=True, slots=True)
class Projection:
    """One output column: its name and the Spark SQL expression that makes it."""

    name: str
    expression: Fragment


@dataclass(frozen=True, slots=True)
class Select:
    """`SELECT projections FROM source WHERE every predicate`; expressions are Spark SQL text over the source's columns.

    Without projections: all columns of the source, unchanged.
    """

    source: str
    projections: tuple[Projection, ...] = ()
    predicates: tuple[Fragment, ...] = ()

    def to_sql(self) -> str:
        """Spark SQL text; every name quoted."""
        return self.to_text().value

    def to_text(self, source: Fragment | None = None) -> PlacedText:
        """The same with its places; `source`, a query in parentheses, stands for the source's name."""
        # With the alias, because Spark reads the WHERE of "FROM `s` WHERE (flag)" as an alias with a column list.
        named = f"{quote(self.source)} AS {quote(self.source)}"
        return PlacedText.join(self._parts(named if source is None else source))

    def _parts(self, source: Fragment) -> Iterator[Fragment]:
        yield "SELECT "
        for index, projection in enumerate(self.projections):
            yield ", " if index else ""
            if projection.expression == quote(projection.name):
                yield projection.expression
            else:
                yield from (*closed(projection.expression), f" AS {quote(projection.name)}")
        yield " FROM " if self.projections else "* FROM "
        yield source
        for index, predicate in enumerate(self.predicates):
            yield from (" AND (" if index else " WHERE (", *closed(predicate), ")")


def text_of(fragment: Fragment) -> str:
    return fragment if isinstance(fragment, str) else fragment.value


def closed(fragment: Fragment) -> tuple[Fragment, ...]:
    """The fragment, its last line ended where a `--` comment would swallow what follows."""
    return (fragment, "\n") if "--" in text_of(fragment).rpartition("\n")[2] else (fragment,)


def is_plain(name: str) -> bool:
    """Whether a name reads well without quotes (in what is shown; SQL made by Penstock quotes every name)."""
    return re.fullmatch(r"[A-Za-z_]\w*", name) is not None
