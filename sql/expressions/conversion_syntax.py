"""Casts, EXTRACT, COLLATE and the functions with a syntax of their own."""

from sqlglot import exp

from catalog.types.collations import unknown_collation
from catalog.types.datatypes import BINARY, INT, STRING, UNKNOWN, VOID, has_unknown
from sql.expressions.walk import infer
from sql.functions.argument_kinds import kind
from sql.functions.rules.dates import extracted
from sql.naming import suffixed_number
from sql.types import literals
from sql.types.casts import can_cast, forces_null, try_forces_null
from sql.types.expression_type import NOT_KNOWN, Scope, Typed
from sql.types.mismatch import Mismatch
from sql.types.type_names import collated_string, to_type


def infer_cast(node: exp.Expr, scope: Scope) -> Typed:
    suffixed = _suffixed(node, scope)
    if suffixed is not None:
        return suffixed
    inner = infer(node.this, scope)
    target = to_type(node.args["to"])
    if target is None:
        return NOT_KNOWN
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast) and node.this.is_string:
        return literals.typed_literal(target, node.this.this)
    if not has_unknown(inner.type) and not can_cast(inner.type, target):
        scope.report("PEN3012", node, f"{inner.type} can't be cast to {target}", "cast it in steps, or use its parts")
        return NOT_KNOWN
    if has_unknown(inner.type):
        return Typed(target)
    forced = try_forces_null(inner.type, target) if node.args.get("safe") else forces_null(inner.type, target)
    return Typed(target, inner.nullable or forced, inner.foldable)  # no literal any more, also of its own type


def _suffixed(node: exp.Expr, scope: Scope) -> Typed | None:
    """`1L` and `1.5BD`, which sqlglot takes for casts."""
    text = suffixed_number(node, scope)
    if text is not None and "e" in text.lower() and text[-1] in "lLsSyY":  # Spark's lexer takes that for a name
        scope.report("PEN3004", node, f"column `{text}` does not exist", "a number with an exponent is no integer")
        return NOT_KNOWN
    typed = NOT_KNOWN if text is None else literals.number(text, negative=isinstance(node.parent, exp.Neg))
    return None if typed is NOT_KNOWN else typed


def infer_extract(node: exp.Extract, scope: Scope) -> Typed:
    source = infer(node.expression, scope)
    return NOT_KNOWN if source.type == UNKNOWN else extracted(node.this.name, source)


def infer_text(node: exp.Expr, scope: Scope) -> Typed:
    """TRIM, SUBSTRING, OVERLAY and POSITION in their own syntax."""
    parts = [part for part in node.iter_expressions() if not isinstance(part, (exp.Identifier, exp.Var))]
    typed = [infer(part, scope) for part in parts]
    if any(operand.type == UNKNOWN for operand in typed):
        return NOT_KNOWN
    nullable = any(operand.nullable for operand in typed)
    for part, value in zip(parts, typed, strict=True):
        wanted = kind("int" if part.arg_key in ("from_", "for_", "start", "length") else "text")
        if not wanted.takes(value.type):
            scope.report(
                "PEN3008", part, f"a {'number' if wanted.name == 'int' else 'string'} is expected, this is {value.type}"
            )
            return NOT_KNOWN
        nullable = nullable or forces_null(value.type, wanted.cast(value.type))
    if isinstance(node, exp.Overlay) and (typed[0].type == BINARY) != (typed[1].type == BINARY):
        raise Mismatch(f"OVERLAY takes {typed[0].type} twice, this is {typed[1].type}", 1)
    if isinstance(node, exp.StrPosition):
        return Typed(INT, nullable)
    binary = typed[0].type == BINARY and not isinstance(node, exp.Trim)
    return Typed(BINARY if binary else kind("string").cast(typed[0].type), nullable)


def _is_bare(name: exp.Expr, scope: Scope) -> bool:
    """Whether a name is written behind COLLATE, not as the argument of a call."""
    start = name.parts[0].meta.get("start", 0) if isinstance(name, exp.Column) else 0
    return scope.text[:start].rstrip().lower().endswith("collate")


def infer_collated(node: exp.Collate, scope: Scope) -> Typed:
    """`collate(x, 'name')` and `x COLLATE name`."""
    for side in (node.this, node.expression):
        if isinstance(side, exp.Kwarg):
            scope.report("PEN3007", side, "`collate` takes no arguments by name", "give them by position")
            return NOT_KNOWN
    inner = infer(node.this, scope)
    if inner.type not in (STRING, VOID, UNKNOWN):
        raise Mismatch(f"only strings have a collation, this is {inner.type}", 0)
    name = node.expression
    if not isinstance(name, (exp.Literal, exp.Var)) and not _is_bare(name, scope):
        given = infer(name, scope)
        if not isinstance(given.value, str):
            if name.find(exp.Column) or given.type == VOID:
                raise Mismatch("the name of a collation is a constant string", 1)
            return Typed(UNKNOWN, inner.nullable)
        name = exp.Literal.string(given.value)
    type = collated_string(name)
    if type is None:
        message, help = unknown_collation(name.sql("spark").strip("'"))
        scope.report("PEN3013", node.expression, message, help)
    return Typed(type or UNKNOWN, inner.nullable, inner.foldable)
