"""One item of a select list."""

from dataclasses import dataclass, field

from sqlglot import exp

from sql.scopes.misplaced_functions import Special
from sql.scopes.relations import Attribute
from sql.scopes.stars import is_star


@dataclass(slots=True)
class Item:
    """One item of a select list: its expression without the alias, and the columns that it makes."""

    node: exp.Expr
    body: exp.Expr
    special: Special
    attributes: tuple[Attribute, ...] = ()
    is_open: bool = False
    is_star: bool = field(init=False)
    is_generator: bool = field(init=False)
    is_aggregate: bool = field(init=False)
    """Whether an aggregate function is all of the item, and the only call in it: as most are."""

    def __post_init__(self) -> None:
        self.is_star = is_star(self.body)
        special = self.special
        self.is_generator = bool(special.generators) and special.generators[0] is self.body
        self.is_aggregate = len(special.calls) == 1 and bool(special.aggregates) and special.aggregates[0] is self.body
