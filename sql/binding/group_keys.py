"""The grouping of a query, as keys that are equal for equivalent expressions."""

from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from sql.scopes.lineage import Origins
from sql.scopes.scope import SelectScope

_COMMUTATIVE = (exp.Add, exp.Mul, exp.And, exp.Or, exp.EQ, exp.NullSafeEQ, exp.BitwiseAnd, exp.BitwiseOr)


Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The grouping of a query: `keys` of columns and of whole expressions (`canonical`).

    `ordered`: the keys in the order of GROUP BY, each once. `sometimes_null`: keys of the expressions of ROLLUP, CUBE
    and GROUPING SETS, null where a set leaves them out.
    `is_refused`: something of GROUP BY was reported, so which columns are grouped is not known.
    """

    keys: frozenset[Key]
    origins: Origins = ()
    is_explicit: bool = True
    only_columns: bool = True
    ordered: tuple[Key, ...] = ()
    has_sets: bool = False
    sometimes_null: frozenset[Key] = frozenset()
    is_refused: bool = False


def canonical(scope: SelectScope, node: exp.Expr) -> Key:
    """A value that is equal for equivalent expressions."""
    if isinstance(node, (exp.Paren, exp.Alias)):
        return canonical(scope, node.this)
    if isinstance(node, exp.Column):
        bound = scope.bound.get(id(node))
        return bound.key if bound is not None and bound.key is not None else ("?", id(node))
    if isinstance(node, exp.Query):
        return ("query", node.sql("spark", comments=False).lower())
    if isinstance(node, exp.Literal):
        return ("literal", node.is_string, node.this)
    parts: list[object] = [
        _canonical_part(scope, value) for value in node.args.values() if value not in (None, False, [])
    ]
    if isinstance(node, _COMMUTATIVE):
        parts.sort(key=repr)
    return (type(node).__name__, *parts)


def _canonical_part(scope: SelectScope, value: object) -> object:
    if isinstance(value, exp.Expr):
        return canonical(scope, value)
    if isinstance(value, list):
        return tuple(_canonical_part(scope, part) for part in value)
    return value.lower() if isinstance(value, str) else value
