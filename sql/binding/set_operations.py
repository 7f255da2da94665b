"""UNION, INTERSECT and EXCEPT: widths, common types, nullability."""

from collections.abc import Sequence

from sqlglot import exp

from catalog.types.datatypes import UNKNOWN, VARIANT, DataType, Map
from sql.expressions import widest
from sql.scopes.analysis import Binder, Environment
from sql.scopes.relations import Attribute, Output, merge
from sql.types.casts import forces_null
from sql.types.coercion import holds, is_equal_but_names, union_like
from sql.types.collations import same_collations
from sql.types.expression_type import Typed


def bind_set_operation(binder: Binder, environment: Environment, node: exp.SetOperation) -> Output:
    left, right = binder.query(node.left, environment), binder.query(node.right, environment)
    return combine(binder, node, left, right)


def combine(binder: Binder, node: exp.SetOperation, left: Output, right: Output) -> Output:
    """The columns of a set operation over two outputs; errors are placed on its right side."""
    rows = merge(left.row_origins, right.row_origins)
    if left.is_open or right.is_open:
        return Output(left.attributes if right.is_open and not left.is_open else (), rows, True)
    if len(left.attributes) != len(right.attributes):
        message = f"{_word(node)} of {len(left.attributes)} columns with {len(right.attributes)}"
        help = "both sides need the same number of columns"
        binder.report("PEN3010", _head(node.right), message, help, also=[_head(node.left)])
        return Output(left.attributes, rows, True)
    if node.args.get("distinct") or not isinstance(node, exp.Union):
        refuse_unhashable(binder, left.attributes, node.left, _word(node))
    pairs = list(zip(left.attributes, right.attributes, strict=True))
    is_widened = isinstance(node, exp.Union) or any(str(a.typed.type) != str(b.typed.type) for a, b in pairs)
    columns = (_column(binder, node, at, *pair, is_widened=is_widened) for at, pair in enumerate(pairs))
    return Output(tuple(columns), rows)


def _column(
    binder: Binder, node: exp.SetOperation, position: int, left: Attribute, right: Attribute, *, is_widened: bool
) -> Attribute:
    """One column; where no types differ but in what may be null within, INTERSECT and EXCEPT keep those of the left."""
    type_ = widest(left.typed.type, right.typed.type)
    if type_ is None and isinstance(node, exp.Union) and is_equal_but_names(left.typed.type, right.typed.type):
        type_ = union_like(left.typed.type, right.typed.type)
    if type_ is not None and not same_collations(left.typed.type, right.typed.type):
        type_ = None  # as names of columns, both collations are as strong
    if type_ is None:
        message = (
            f"column {position + 1} of {_word(node)} is {left.typed.type} on the left, {right.typed.type} on the right"
        )
        help = "cast one side to the type of the other"
        binder.report("PEN3010", _item(node.right, position), message, help, also=[_item(node.left, position)])
    if not is_widened:
        type_ = left.typed.type
    first, second = (_is_nullable(side, type_ or UNKNOWN) for side in (left, right))
    match node:
        case exp.Except():
            nullable, origins = first, left.origins
        case exp.Intersect():
            nullable, origins = first and second, left.origins
        case _:
            nullable, origins = first or second, merge(left.origins, right.origins)
    return Attribute(left.name, Typed(type_ or UNKNOWN, nullable), origins, left.identity)


def _is_nullable(attribute: Attribute, target: DataType) -> bool:
    """Whether the column may be null once it is cast to the common type."""
    return attribute.typed.nullable or forces_null(attribute.typed.type, target)


def refuse_unhashable(binder: Binder, attributes: Sequence[Attribute], node: exp.Expr, where: str) -> None:
    """Refuse maps and variants, which cannot be compared, where distinct rows are needed."""
    for position, attribute in enumerate(attributes):
        if holds(attribute.typed.type, lambda type: isinstance(type, Map) or type == VARIANT):
            message = f"{where} cannot compare column `{attribute.name}` of type {attribute.typed.type}"
            binder.report("PEN3010", _item(node, position), message)


def _word(node: exp.SetOperation) -> str:
    return type(node).__name__.upper()


def _head(node: exp.Expr) -> exp.Expr:
    """The node at which an error of a whole query is reported: its first output column."""
    return _item(node, 0)


def _item(node: exp.Expr, position: int) -> exp.Expr:
    while isinstance(node, exp.Subquery):
        node = node.this
    if isinstance(node, exp.SetOperation):
        return _item(node.left, position)
    items = node.expressions
    return items[position] if position < len(items) else items[0] if items else node
