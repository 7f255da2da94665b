"""Gives the strings of an expression their collations, and refuses those that cannot be compared.

`infer` calls `with_collations` for every node of a query in which collations occur, once the node is typed: rules for
strings need not know of collations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from catalog.types.datatypes import STRING, UNKNOWN, Array, Atomic, DataType, Map, is_collated
from sql.expressions.collation_strength import have_same_maps, ranked_type
from sql.functions import collated_functions as functions
from sql.parsing.call_names import call_name
from sql.types.collations import (
    ExplicitCollationError,
    RankedString,
    Strength,
    collated_as,
    has_string,
    is_indeterminate,
    is_string,
    ranked,
    same_collations,
    winner,
)
from sql.types.expression_type import NOT_KNOWN, Scope, Typed

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_PATTERNS: Final = (exp.Like, exp.ILike, exp.RegexpLike)
_JOINED: Final = (exp.DPipe, exp.Trim, exp.Overlay, exp.StrPosition)
_HELP: Final = "give one of them a collation: `x COLLATE name`"
_HELP_MAPS: Final = "cast one of them: `CAST(m AS MAP<STRING COLLATE name, …>)`"
_BYTEWISE: Final = (None, "UTF8_LCASE")


def with_collations(node: exp.Expr, found: Typed, scope: Scope) -> Typed:
    """The type of a node with the collations of its strings; errors are reported."""
    assert scope.collations is not None
    try:
        collated = _collated(node, found, scope)
    except ExplicitCollationError as error:
        names = " and ".join(f"`{name or 'UTF8_BINARY'}`" for name in error.args)
        scope.report("PEN3008", node, f"strings with the explicit collations {names} are combined", "use only one")
        collated = NOT_KNOWN
    scope.collations.record(node, collated)
    return collated


def _collated(node: exp.Expr, found: Typed, scope: Scope) -> Typed:
    name = call_name(node).lower() if isinstance(node, exp.Anonymous) else ""
    arguments = _arguments(node)
    types = [_type(argument, scope) for argument in arguments]
    if not any(is_collated(type) for type in types):
        return found
    refused = _refusal(node, name, types, arguments)
    if refused is not None:
        scope.report("PEN3008", node, refused)
        return NOT_KNOWN
    is_mixed = isinstance(node, exp.Case) and _is_mixed(node, scope)
    if is_mixed and has_string(found.type):
        message = "the results of CASE are strings of different collations, beside one that is no string"
        scope.report("PEN3008", node, message, "give NULL a type: `CAST(NULL AS STRING)`")
        return NOT_KNOWN
    for operands, is_result in _groups(node, name, arguments):
        if is_mixed and is_result:
            continue
        if is_result and name not in ("lag", "lead") and not have_same_maps(operands, scope):
            scope.report("PEN3008", node, "maps of strings with different collations are combined", _HELP_MAPS)
            return NOT_KNOWN
        if name == "map":
            continue
        decided = _decided(node, name, operands, scope)
        if decided is None:
            continue
        if is_indeterminate(decided) and (not is_result or name in functions.STRICT or isinstance(node, exp.Trim)):
            scope.report("PEN3008", node, "strings of different collations are compared", _HELP)
            return NOT_KNOWN
        if (refused := _unfit_to_search(node, name, decided)) is not None:
            scope.report("PEN3008", node, refused)
            return NOT_KNOWN
        found = replace(found, type=_painted(found.type, decided)) if is_result else found
    if name == "map" and isinstance(found.type, Map):
        return replace(found, type=_map(arguments, found.type, scope))
    inherits = name in functions.INHERITING or isinstance(node, exp.Substring)
    return replace(found, type=_painted(found.type, types[0])) if inherits and is_string(types[0]) else found


def _map(arguments: list[exp.Expr], found: Map, scope: Scope) -> Map:
    key = _decided(arguments[0], "map", arguments[::2], scope) or found.key
    value = _decided(arguments[0], "map", arguments[1::2], scope) or found.value
    return replace(found, key=collated_as(found.key, key), value=collated_as(found.value, value))


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a node; of CASE only its results."""
    if isinstance(node, exp.Anonymous):
        return list(_unwrapped(node.expressions))
    if isinstance(node, exp.In):
        return [node.this, *node.expressions]
    if isinstance(node, exp.Case):
        subjects = [] if node.this is None else [node.this, *(branch.this for branch in node.args["ifs"])]
        return [*_results(node), *subjects]
    return [child for child in node.iter_expressions() if not isinstance(child, (exp.DataType, exp.Var))]


def _results(node: exp.Case) -> list[exp.Expr]:
    default = node.args.get("default")
    return [*(branch.args["true"] for branch in node.args["ifs"]), *([] if default is None else [default])]


def _is_mixed(node: exp.Case, scope: Scope) -> bool:
    """Whether a CASE has a NULL or a number among strings of different collations, to which Spark gives none then."""
    types = [_type(result, scope) for result in _results(node)]
    strings = [type for type in types if has_string(type)]
    others = [type for type in types if type != UNKNOWN and not has_string(type)]
    return bool(others) and not all(same_collations(strings[0], type) for type in strings[1:])


def _unwrapped(nodes: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, exp.Distinct):
            yield from _unwrapped(node.expressions)
        else:
            yield node.expression if isinstance(node, exp.Kwarg) else node


def _type(node: exp.Expr, scope: Scope) -> DataType:
    typed = scope.collations.typed(_unbracketed(node)) if scope.collations is not None else None
    if typed is None:
        return STRING if isinstance(node, exp.Literal) and node.is_string else NOT_KNOWN.type
    return typed.type


def _unbracketed(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _groups(node: exp.Expr, name: str, arguments: list[exp.Expr]) -> Iterator[tuple[list[exp.Expr], bool]]:
    """The operands that get one collation, and whether the result is made of them."""
    if isinstance(node, (*_COMPARISONS, exp.In)):
        yield arguments, False
    elif isinstance(node, exp.Between):
        yield [node.this, node.args["low"]], False
        yield [node.this, node.args["high"]], False
    elif isinstance(node, exp.Case):
        if node.this is not None:
            yield from (([node.this, branch.this], False) for branch in node.args["ifs"])
        yield _results(node), True
    elif isinstance(node, _JOINED):
        yield arguments, not isinstance(node, exp.StrPosition)
    elif name == "nullif":
        yield arguments, False
    elif name == "decode" and len(arguments) > 2:
        yield from (([arguments[0], searched], False) for searched in arguments[1:-1:2])
        yield [*arguments[2::2], *(arguments[-1:] if len(arguments) % 2 == 0 else [])], True
    elif name == "map":
        yield arguments[1::2], True
    elif name in functions.JOINING:
        yield arguments[functions.FIRST_OPERAND.get(name, 0) :], True


def _decided(node: exp.Expr, name: str, operands: list[exp.Expr], scope: Scope) -> DataType | None:
    """The type with the collation that all operands get; None: they have no common one, or none at all.

    The value of BETWEEN and NULLIF counts as a literal: Spark replaces it by a reference.
    """
    types = [_type(operand, scope) for operand in operands]
    if not any(is_collated(type) for type in types):
        return None
    given = [ranked_type(operand, scope) for operand in operands]
    if isinstance(node, exp.Between) or name == "nullif":
        given[0] = ranked(types[0], Strength.DEFAULT)
    decided = winner(type for type in given if type is not None)
    if decided is not None and name in functions.CASTING and None in given:
        decided = winner(_once_cast(operand, type, decided) for operand, type in zip(operands, given, strict=True))
    if decided is not None and name not in functions.NAMED_AS_WRITTEN:
        for operand in operands:
            note_operand(_unbracketed(operand), decided, scope)
    return decided


def _once_cast(node: exp.Expr, type: DataType | None, decided: DataType) -> DataType:
    """An operand once Spark has cast what is no string: literals have the collation decided before, casts the default.

    Spark decides anew then, and both are as weak: whichever comes first, the other makes it indeterminate.
    """
    if type is None:
        return ranked(STRING, Strength.DEFAULT)
    if isinstance(_unbracketed(node), (exp.Literal, exp.RawString)):
        return ranked(collated_as(STRING, decided), Strength.DEFAULT)
    is_explicit = isinstance(type, RankedString) and type.strength == Strength.EXPLICIT
    return ranked(collated_as(type, decided), Strength.EXPLICIT if is_explicit else Strength.IMPLICIT)


def note_operand(node: exp.Expr, decided: DataType, scope: Scope) -> None:
    """A literal is shown with the collation that it gets, a cast to another one as if it were none."""
    given = _type(node, scope)
    if isinstance(node, exp.Cast) and is_string(given) and not same_collations(given, collated_as(given, decided)):
        scope.printed.note_shape(node, "uncast")
    if isinstance(node, exp.RawString) or (isinstance(node, exp.Literal) and node.is_string):
        type = collated_as(STRING, decided)
        if is_collated(type):
            text = str(node.this).replace("\\", "\\\\").replace("'", "\\'")
            scope.printed.note_texts(node, (f"'{text}' {str(type).removeprefix('string ')}",))


def _painted(type: DataType, decided: DataType) -> DataType:
    """The type of a result with the collation of what it is made of."""
    if isinstance(type, Map) and is_string(decided):
        return replace(type, key=collated_as(type.key, decided), value=collated_as(type.value, decided))
    return collated_as(type, decided)


def _refusal(node: exp.Expr, name: str, types: list[DataType], arguments: list[exp.Expr]) -> str | None:
    """The error of an operator or function that does not take strings of these collations."""
    if name in functions.REFUSING_INDETERMINATE and is_indeterminate(types[0]):
        return "the collation of the string is not determined"
    if name in functions.UNCOLLATED:
        return f"`{name}` does not take strings with a collation"
    if name in functions.PATTERNS or isinstance(node, _PATTERNS):
        if name != "regexp_replace" and _has_other(types[0], _BYTEWISE):
            return _unfit(types[0])
        if len(types) > 1 and str(types[1]).endswith("_RTRIM"):
            return f"a pattern is not {types[1]}"
    if name in functions.SAME_TYPE:
        first, second = functions.SAME_TYPE[name]
        if second < len(types) and not same_collations(_held(types[first], types[second]), types[second]):
            return f"`{name}` takes strings of one collation, these are {types[first]} and {types[second]}"
    if isinstance(node, exp.Bracket) and isinstance(types[0], Map) and len(types) > 1:
        is_literal = isinstance(arguments[1], exp.Literal)
        if is_string(types[0].key) and not is_literal and not same_collations(types[0].key, types[1]):
            return f"the keys of the map are {types[0].key}, this is {types[1]}"
    return None


def _unfit_to_search(node: exp.Expr, name: str, decided: DataType) -> str | None:
    if name == "regexp_replace" and _has_other(decided, _BYTEWISE):
        return _unfit(decided)
    collation = decided.collation if isinstance(decided, Atomic) else None
    if collation is None or not (name in functions.SEARCHES or isinstance(node, (exp.Trim, exp.StrPosition))):
        return None
    ignores_accents = "_AI" in collation and "_CI" not in collation
    if ignores_accents or (name == "str_to_map" and collation.endswith("_RTRIM")):
        return f"strings of the collation `{collation}` cannot be searched"
    return None


def _held(type: DataType, value: DataType) -> DataType:
    """The part of a container that is compared with a value."""
    if isinstance(type, Map):
        return type if isinstance(value, Map) else type.key
    return type.element if isinstance(type, Array) else type


def _has_other(type: DataType, collations: Sequence[str | None]) -> bool:
    return isinstance(type, Atomic) and is_string(type) and type.collation not in collations


def _unfit(type: DataType) -> str:
    return f"patterns match strings that are UTF8_BINARY or UTF8_LCASE, this is {type}"
