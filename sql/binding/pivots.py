"""PIVOT and UNPIVOT of a FROM item."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from catalog.types.datatypes import STRING, UNKNOWN, VOID, DataType, Struct
from sql.expressions import infer, is_aggregate, output_name, widest
from sql.parsing.call_names import call_name
from sql.recognizer.cursor import IN_PIVOT
from sql.scopes.analysis import Binder, Environment
from sql.scopes.lineage import Dependency, Origins, through
from sql.scopes.relations import Attribute, Output, RangeVariable, Relation, Slot, merge
from sql.scopes.scope import SelectScope
from sql.types.casts import can_cast_in_pivot, forces_null_in_pivot
from sql.types.coercion import holds_map
from sql.types.collations import same_collations
from sql.types.expression_type import NOT_KNOWN, Typed
from sql.types.text_values import may_be


def pivoted(binder: Binder, environment: Environment, relation: Relation, pivot: exp.Pivot) -> Relation:
    scope = SelectScope(binder, environment, relation)
    alias = pivot.args.get("alias")
    name = alias.name if alias is not None else ""
    output = _unpivot(scope, pivot) if pivot.args.get("unpivot") else _pivot(scope, pivot)
    columns = alias.args.get("columns") if alias is not None else None
    if columns:
        output = output.renamed([column.name for column in columns])
    return Relation((RangeVariable((name,) if name else (), output),), merge(relation.row_origins, output.row_origins))


def _pivot(scope: SelectScope, pivot: exp.Pivot) -> Output:
    """Columns neither aggregated nor pivoted group the rows; then one column for each value and aggregate."""
    aggregates = [_aggregate(scope, expression) for expression in pivot.expressions]
    used = {slot.key for slot in scope.relation.star() if slot.key in {b.key for b in scope.bound.values()}}
    on, values = _pivot_values(scope, pivot)
    used |= {b.key for b in scope.bound.values() if b.key is not None}  # type: ignore[misc]
    kept = [slot for slot in scope.relation.star() if slot.key not in used]
    _note_read(scope, kept)
    made = [
        Attribute(
            f"{value}_{name}" if len(aggregates) > 1 else value, replace(typed, nullable=True), merge(origins, on)
        )
        for value in values
        for name, typed, origins in aggregates
    ]
    groups = [replace(slot.attribute, typed=slot.typed) for slot in kept]
    rows = through(merge(*(slot.attribute.origins for slot in kept)), Dependency.GROUP_BY)
    return Output((*groups, *made), rows, scope.relation.is_open)


def _aggregate(scope: SelectScope, node: exp.Expr) -> tuple[str, Typed, Origins]:
    body = node.this if isinstance(node, exp.Alias) else node
    if isinstance(body, exp.Anonymous) and call_name(body) == IN_PIVOT:
        if not body.expressions:  # a keyword alone
            scope.report("PEN3011", node, "PIVOT takes aggregate functions")
            return node.alias, NOT_KNOWN, ()
        body = body.expressions[0]
    _check_aggregated(scope, body)
    typed = infer(body, scope)
    name = node.alias if isinstance(node, exp.Alias) else output_name(body, scope)
    return name, typed, scope.origins_of(body)


def _check_aggregated(scope: SelectScope, node: exp.Expr) -> None:
    """Columns are allowed inside aggregate functions only, and these not inside each other."""
    if isinstance(node, exp.Window):
        if node.find(exp.Column) is None:  # which Spark takes for a constant
            return
        scope.report("PEN3011", node, "PIVOT takes aggregate functions, this one has OVER", "leave OVER out")
    elif isinstance(node, exp.Column):
        help = f"use max({node.name}) or any_value({node.name})"
        scope.report("PEN3011", node, "PIVOT takes aggregate functions, this is a column", help)
    elif is_aggregate(node):
        inner = next((part for part in node.walk() if part is not node and is_aggregate(part)), None)
        if inner is not None:
            scope.report("PEN3011", inner, "an aggregate function is not allowed inside another")
    else:
        for child in node.iter_expressions():
            _check_aggregated(scope, child)


def _pivot_values(scope: SelectScope, pivot: exp.Pivot) -> tuple[Origins, list[str]]:
    origins, names = [], []
    for field in pivot.args.get("fields") or ():
        columns = _identifiers([field.this])
        _refuse_computed(scope, columns, "PIVOT", parts=1)
        types = [infer(column, scope) for column in columns]
        origins.append(scope.origins_for(Dependency.CONDITIONAL))
        for column, typed in zip(columns, types, strict=True):
            if holds_map(typed.type):
                scope.report("PEN3008", column, f"a column of type {typed.type} cannot be pivoted: maps have no order")
        for item in field.expressions:
            _check_value(scope, item, types)
        names += [_value_name(scope, expression) for expression in field.expressions]
    return merge(*origins), names


def _check_value(scope: SelectScope, node: exp.Expr, columns: Sequence[Typed]) -> None:
    """A value must be castable to the pivoted column, or several values to a struct of the columns."""
    body = node.this if isinstance(node, (exp.PivotAlias, exp.Alias)) else node
    is_struct = len(columns) == 1 and isinstance(columns[0].type, Struct)
    values = body.expressions if isinstance(body, exp.Tuple) and not is_struct else [body]
    if len(values) != len(columns) and UNKNOWN not in [column.type for column in columns]:
        message = f"{len(columns)} columns are pivoted, this is a value of {len(values)}"
        scope.report("PEN3007", body, message, "write a value for each column, in brackets")
        return
    for value, column in zip(values, columns, strict=False):
        if isinstance(value, exp.Column):
            scope.report("PEN3017", value, "a value that is pivoted is a constant", f"write '{value.name}'")
            continue
        found = infer(value, SelectScope(scope.binder, scope.environment, Relation())).type
        target = column.type
        fits = can_cast_in_pivot(found, target) and (target != VOID or found == VOID)
        forced = len(values) > 1 and not column.nullable and forces_null_in_pivot(found, target)
        if UNKNOWN not in (found, target) and (forced or not fits):
            scope.report("PEN3008", value, f"the column that is pivoted is {target}, this value is {found}")
        elif isinstance(value, exp.Literal) and value.is_string and not may_be(value.name.strip(), target):
            scope.report("PEN3013", value, f"the column that is pivoted is {target}, '{value.name}' is none")


def _value_name(scope: SelectScope, node: exp.Expr) -> str:
    if isinstance(node, (exp.PivotAlias, exp.Alias)):
        return str(node.args["alias"].name)
    if isinstance(node, exp.Paren):
        return _value_name(scope, node.this)
    if isinstance(node, exp.Null):
        return "null"
    if isinstance(node, exp.HexString):  # as text, unlike in the name of a column
        digits = str(node.this)
        return bytes.fromhex("0" * (len(digits) % 2) + digits).decode("utf-8", "replace")
    name = (
        call_name(node).lower() if isinstance(node, exp.Anonymous) else "struct" if isinstance(node, exp.Tuple) else ""
    )
    if name not in ("array", "struct", "named_struct", "map"):
        shown = output_name(node, scope)
        literal = _TYPED_LITERAL.fullmatch(shown) if isinstance(node, exp.Cast) else None
        return literal[1] if literal is not None else shown
    parts = [_value_name(scope, expression) for expression in node.expressions]
    if name == "map":
        return "{" + ", ".join(f"{key} -> {value}" for key, value in zip(parts[::2], parts[1::2], strict=False)) + "}"
    parts = parts[1::2] if name == "named_struct" else parts
    return ("[{}]" if name == "array" else "{{{}}}").format(", ".join(parts))


_TYPED_LITERAL: Final = re.compile(r"(?:DATE|TIMESTAMP|TIMESTAMP_NTZ|TIME) '(.*)'")


def _unpivot(scope: SelectScope, pivot: exp.Pivot) -> Output:
    """The other columns, then the name column, then the value columns, each of the widest type of its sources."""
    values = _identifiers(pivot.expressions)
    names: list[str] = []
    groups: list[list[exp.Expr]] = []
    for field in pivot.args.get("fields") or ():
        names += [identifier.name for identifier in _identifiers([field.this])]
        for item in field.expressions:
            body = item.this if isinstance(item, (exp.PivotAlias, exp.Alias)) else item
            groups.append(list(body.expressions) if isinstance(body, exp.Tuple) else [body])
    _refuse_computed(scope, [column for group in groups for column in group], "UNPIVOT")
    typed = [[infer(column, scope) for column in group] for group in groups]
    origins = scope.origins_for(Dependency.TRANSFORMATION)
    used = {bound.key for bound in scope.bound.values()}
    kept = [slot for slot in scope.relation.star() if slot.key not in used]
    _note_read(scope, kept)
    columns = [replace(slot.attribute, typed=slot.typed) for slot in kept]
    columns += [Attribute(name, Typed(STRING, False)) for name in names]
    for position, value in enumerate(values):
        parts = [group[position] for group in typed if position < len(group)]
        type_ = _widest_of([part.type for part in parts])
        if type_ is None:
            types = ", ".join(dict.fromkeys(str(part.type) for part in parts))
            scope.report("PEN3008", value, f"the columns of `{value.name}` have no common type: {types}")
        nullable = any(part.nullable for part in parts)
        columns.append(Attribute(value.name, Typed(type_ or UNKNOWN, nullable), origins))
    return Output(tuple(columns), (), scope.relation.is_open)


def _refuse_computed(scope: SelectScope, nodes: Sequence[exp.Expr], clause: str, parts: int | None = None) -> None:
    """Report anything but a column name, or a name with too many parts."""
    for node in (wrapped.unnest() for wrapped in nodes):
        if not isinstance(node, exp.Column) or (parts is not None and len(node.parts) > parts):
            help = "compute it in a subquery, under a name of its own"
            scope.report("PEN3001", node, f"{clause} takes the name of a column here", help)


def _identifiers(nodes: Sequence[exp.Expr]) -> list[exp.Expr]:
    plain = [node.unnest() for node in nodes]
    return [
        expression for node in plain for expression in (node.expressions if isinstance(node, exp.Tuple) else [node])
    ]


def _widest_of(types: Sequence[DataType]) -> DataType | None:
    result: DataType | None = types[0] if types else UNKNOWN
    if len({type_ == STRING for type_ in types if type_ not in (UNKNOWN, VOID)}) > 1:
        return None  # unlike UNION, UNPIVOT casts no strings
    if not all(same_collations(types[0], type_) for type_ in types):
        return None
    for type_ in types[1:]:
        result = widest(result, type_) if result is not None else None
    return result


def _note_read(scope: SelectScope, slots: Sequence[Slot]) -> None:
    for slot in slots:
        if slot.source.input is not None:
            scope.binder.columns_read[slot.source.input].add(slot.attribute.name)
