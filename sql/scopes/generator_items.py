"""Generators in a select list, and what is next to them."""

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from sql.naming.column_names import is_resolved_late, unname_parts
from sql.parsing.call_names import call_name
from sql.parsing.tree_nodes import tree_nodes
from sql.scopes.misplaced_functions import Special
from sql.scopes.scope import SelectScope

_PLAIN_CALLS: Final = ("array", "struct")


def unname_beside_generators(
    scope: SelectScope, select: exp.Select, bodies: Sequence[exp.Expr], *, is_aggregated: bool
) -> None:
    """Record which names within the items Spark drops because one of them is a generator."""
    is_aggregated = is_aggregated or bool(select.args.get("group") or select.args.get("having"))
    for body in bodies:
        unname_parts(body, scope, is_aggregated=is_aggregated)


def refuse_nested_generator(scope: SelectScope, special: Special, item: exp.Expr) -> None:
    """Report generators within an item that is none itself."""
    for generator in special.generators:
        if generator is not item:
            message = "a generator is not allowed inside an expression"
            scope.report("PEN3011", generator, message, "use LATERAL VIEW")


def refuse_grouped_generators(scope: SelectScope, items: Sequence[Special], *, is_explicit: bool) -> None:
    """Next to groups and aggregates one generator is allowed.

    Without GROUP BY, Spark takes it out of the list before it knows the aggregates, where it resolves those late.
    """
    generators = [generator for item in items for generator in item.generators]
    for generator in generators[1:]:
        message = "only one generator is allowed in a query with GROUP BY or aggregate functions"
        scope.report("PEN3011", generator, message, "use LATERAL VIEW")
    aggregates = [aggregate for item in items for aggregate in item.aggregates]
    if is_explicit or not generators or not aggregates or not _is_resolved_at_once(generators[0]):
        return
    if all(any(is_resolved_late(node, scope) for node in tree_nodes(aggregate)) for aggregate in aggregates):
        message = "the columns of the generator are neither aggregated nor in GROUP BY"
        scope.report("PEN3009", generators[0], message, "use LATERAL VIEW")


def _is_resolved_at_once(generator: exp.Expr) -> bool:
    """Whether a generator holds nothing but columns, literals of one kind, and arrays and structs of these."""
    for node in tree_nodes(generator):
        if isinstance(node, exp.Anonymous) and node is not generator and call_name(node).lower() not in _PLAIN_CALLS:
            return False
        if not isinstance(node, (exp.Anonymous, exp.Alias, exp.Column, exp.Identifier, exp.Literal)):
            return False
        if isinstance(node, exp.Anonymous) and len({_kind(argument) for argument in node.expressions}) > 1:
            return False
    return True


def _kind(argument: exp.Expr) -> str:
    if isinstance(argument, exp.Literal) and (argument.is_string or argument.name.isdigit()):
        return "string" if argument.is_string else "int"
    return argument.sql()
