"""One item of a select list."""

from dataclasses import dataclass

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

    @property
    def is_star(self) -> bool:
        return is_star(self.body)
