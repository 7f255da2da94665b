"""Result rules of functions that make structs."""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot import exp

from catalog.types.datatypes import STRING, UNKNOWN, DataType, Field, Struct
from sql.functions.rules.call import Call, Rule
from sql.naming.field_names import own_name
from sql.types.mismatch import Mismatch


def named_struct(call: Call) -> DataType:
    if len(call.args) % 2:
        raise Mismatch("`named_struct` takes alternating names and values")
    fields: list[Field] = []
    for index in range(0, len(call.args), 2):
        name, value = call.text(index), call.args[index + 1]
        if name is None:
            given = call.given[index]
            if given.type == UNKNOWN or (given.type == STRING and given.foldable):
                return UNKNOWN
            raise Mismatch("a field's name is a constant string", index)
        fields.append(Field(name, value.type, value.nullable))
    return Struct(tuple(fields))


def struct(call: Call) -> DataType:
    fields = (
        Field(_field_name(node, index, call), arg.type, arg.nullable)
        for (node, arg), index in zip(zip(call.nodes, call.args, strict=True), _positions(call.nodes), strict=True)
    )
    return Struct(tuple(fields))


def _positions(nodes: Sequence[exp.Expr]) -> Iterator[int]:
    """The position of each argument as written, where a star is one argument."""
    position, last = 0, None
    for node in nodes:
        star = node.parent if isinstance(node, exp.Column) and node.parent is not None and node.parent.is_star else None
        position += star is None or star is not last
        last = star
        yield position


def _field_name(node: exp.Expr, index: int, call: Call) -> str:
    if isinstance(node, (exp.Alias, exp.PropertyEQ)):
        return node.alias or node.this.name
    return own_name(node, call.scope) or f"col{index}"


RULES: Final[dict[str, Rule]] = {
    "named_struct": named_struct,
    "struct": struct,
}
