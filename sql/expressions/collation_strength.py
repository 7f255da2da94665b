"""The collations within an expression, with their strength (`findCollationContext` of Spark 4.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from catalog.types.datatypes import STRING, VOID, DataType, Map, Struct, parts
from sql.parsing.call_names import call_name
from sql.types.collations import Strength, has_string, is_indeterminate, ranked, same_collations, winner
from sql.types.expression_type import Scope

_NAMED = (exp.Column, exp.Identifier, exp.Alias, exp.Subquery, exp.Query)
_LITERALS = (exp.Literal, exp.RawString, exp.Concat)


def ranked_type(node: exp.Expr, scope: Scope) -> DataType | None:
    """The type of an expression, its strings with their strength; None: it has no strings, or they do not fit."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, _LITERALS):
        return ranked(STRING, Strength.DEFAULT) if not isinstance(node, exp.Literal) or node.is_string else None
    typed = scope.collations.typed(node) if scope.collations is not None else None
    if typed is None or not has_string(typed.type):
        return None
    if is_indeterminate(typed.type):
        return ranked(typed.type, Strength.INDETERMINATE)
    if (strength := _own_strength(node, scope)) is not None:
        return ranked(typed.type, strength)
    return _of_parts(node, typed.type, scope)


def have_same_maps(operands: Sequence[exp.Expr], scope: Scope) -> bool:
    """Whether the strings in maps have equal collations: Spark gives a map no other one.

    It casts the keys or values of another type to any collation.
    """
    held = [maps for operand in operands if (maps := _maps(operand, scope))]
    return all(same_collations(a, b) for maps in held[1:] for a, b in zip(held[0], maps, strict=False))


def _maps(operand: exp.Expr, scope: Scope) -> list[DataType]:
    """The types of the maps in an operand, but for what is cast from other types than strings."""
    assert scope.collations is not None
    typed = scope.collations.typed(operand)
    if typed is None or (isinstance(operand, exp.Cast) and ranked_type(operand.this, scope) is None):
        return []
    return [part for part in parts(typed.type) if isinstance(part, Map)]


def _own_strength(node: exp.Expr, scope: Scope) -> Strength | None:
    """The strength that the kind of the node gives; None: that of its parts decides."""
    if isinstance(node, exp.Collate):
        return Strength.EXPLICIT
    if isinstance(node, _NAMED):
        return Strength.DEFAULT if scope.printed.texts(node) else Strength.IMPLICIT  # `current_user` without brackets
    if isinstance(node, exp.Cast):
        inner = ranked_type(node.this, scope)
        return Strength.DEFAULT if inner is None else Strength.IMPLICIT
    return None


def _of_parts(node: exp.Expr, type: DataType, scope: Scope) -> DataType | None:
    name = call_name(node).lower() if isinstance(node, exp.Anonymous) else ""
    children = list(_typed_parts(node, scope))
    if isinstance(type, Struct) and (name in ("struct", "named_struct") or isinstance(node, exp.Tuple)):
        values = children[1::2] if name == "named_struct" else children
        fields = zip(type.fields, values, strict=False)
        return Struct(tuple(replace(field, type=ranked_type(value, scope) or field.type) for field, value in fields))
    if isinstance(node, exp.Dot):
        held = ranked_type(node.this, scope)
        found = held.field(node.name) if isinstance(held, Struct) else None
        return None if found is None else found.type
    if isinstance(node, exp.Bracket):
        held = ranked_type(node.this, scope)
        return held.value if isinstance(held, Map) else _joined(type, [held])
    if name == "map" and isinstance(type, Map):
        key = _joined(type.key, [ranked_type(child, scope) for child in children[::2]])
        value = _joined(type.value, [ranked_type(child, scope) for child in children[1::2]])
        return None if key is None or value is None else Map(key, value)
    return _joined(type, [ranked_type(child, scope) for child in children])


def _joined(type: DataType, parts: list[DataType | None]) -> DataType | None:
    """The type with the collations of its parts; without any, they are the default ones."""
    known = [part for part in parts if part is not None]
    return winner([type, *known]) if known else ranked(type, Strength.DEFAULT)


def _typed_parts(node: exp.Expr, scope: Scope) -> Iterator[exp.Expr]:
    """The nearest expressions below a node that have a type of their own."""
    assert scope.collations is not None
    for child in node.iter_expressions():
        typed = scope.collations.typed(child)
        if isinstance(child, (exp.DataType, exp.Var)):
            continue
        if typed is not None or isinstance(child, _LITERALS):
            if typed is None or typed.type != VOID:
                yield child
        else:
            yield from _typed_parts(child, scope)
