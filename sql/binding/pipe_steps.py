"""Binds pipe syntax: each operator turns one relation into another, and qualifiers are kept as in Spark."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from sql.binding.ctes import with_ctes
from sql.binding.from_clause import bind_from, bind_relation
from sql.binding.joins import condition, join_relations
from sql.binding.ordering import bind_limits, bind_order, ordinal
from sql.binding.pivots import pivoted
from sql.binding.select_statement import bind_select
from sql.binding.set_operations import combine
from sql.parsing.pipe_syntax import PIPE
from sql.scopes.analysis import Binder, Environment, nearest
from sql.scopes.lineage import Dependency, Origins
from sql.scopes.misplaced_functions import find_special
from sql.scopes.relations import Attribute, Output, RangeVariable, Relation, Slot, merge
from sql.scopes.scope import SelectScope
from sql.scopes.stars import is_star

_Step = Callable[[Binder, Environment, Relation, exp.Select], Relation]


def is_pipe(node: exp.Expr) -> bool:
    return PIPE in node.meta


def bind_pipes(binder: Binder, environment: Environment, node: exp.Select) -> Output:
    """The output of a chain of operators over its first query."""
    steps: list[exp.Select] = []
    first: exp.Expr = node
    while isinstance(first, exp.Select) and is_pipe(first):
        steps.append(first)
        first = first.args["input"]
    environment, relation = _start(binder, environment, first)
    for step in reversed(steps):
        relation = _STEPS[step.meta[PIPE]](binder, environment, relation, step)
    return _output(binder, relation)


def _start(binder: Binder, environment: Environment, first: exp.Expr) -> tuple[Environment, Relation]:
    """The rows of the first query; CTEs in front of it are seen by all operators."""
    environment = with_ctes(binder, first, environment)
    if first.meta.get("from_first"):
        return environment, bind_from(binder, environment, first)
    if isinstance(first, exp.Values):
        return environment, bind_relation(binder, environment, first, Relation())
    if isinstance(first, exp.Select):
        relation = bind_from(binder, environment, first)
        return environment, _projected(relation, bind_select(binder, replace(environment, piped=relation), first))
    output = binder.query(first, environment)
    return environment, Relation((RangeVariable((), output, any_qualifier=True),), output.row_origins)


def _output(binder: Binder, relation: Relation) -> Output:
    slots = list(relation.star())
    for slot in slots:
        if slot.source.input is not None:
            binder.columns_read[slot.source.input].add(slot.attribute.name)
    attributes = (replace(slot.attribute, typed=slot.typed, identity=None) for slot in slots)
    return Output(tuple(attributes), relation.row_origins, relation.is_open)


def _projected(before: Relation, output: Output) -> Relation:
    """The columns of a projection; one that it passes on unchanged keeps its qualifier."""
    qualifiers = {id(source): source.qualifier for source in before.sources}
    groups: dict[tuple[str, ...], list[Attribute]] = {}
    places: list[tuple[tuple[str, ...], int]] = []
    for attribute in output.attributes:
        passed = attribute.identity is not None and len(attribute.identity) == 2
        qualifier = qualifiers.get(attribute.identity[0], ()) if passed and attribute.identity else ()  # type: ignore[call-overload]
        held = groups.setdefault(qualifier, [])
        places.append((qualifier, len(held)))
        held.append(replace(attribute, identity=attribute.identity if passed else None))
    sources = {
        qualifier: RangeVariable(qualifier, Output(tuple(held), (), output.is_open))
        for qualifier, held in groups.items()
    }
    if not sources:
        return Relation((RangeVariable((), Output((), (), output.is_open)),), output.row_origins)
    order = tuple(Slot(sources[qualifier], position) for qualifier, position in places)
    return Relation(tuple(sources.values()), output.row_origins, order)


def _with_rows(relation: Relation, *origins: Origins) -> Relation:
    return Relation(relation.sources, merge(relation.row_origins, *origins), relation.order)


def _where(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    scope = SelectScope(binder, environment, relation)
    condition(scope, step.args["where"].this, "WHERE")
    return _with_rows(relation, scope.origins_for(Dependency.FILTER))


def _sorted(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    scope = SelectScope(binder, environment, relation)

    def check(node: exp.Expr, clause: str) -> None:
        special = find_special(node)
        for call in (*special.aggregates, *special.windows):
            scope.report("PEN3011", call, "neither an aggregate nor a window function is allowed in ORDER BY here")

    origins = bind_order(scope, step, [slot.attribute for slot in relation.star()], check)
    bind_limits(scope, step)
    return _with_rows(relation, origins)


def _select(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    _refuse_aggregates(binder, step.expressions, step.meta[PIPE])
    return _projected(relation, bind_select(binder, replace(environment, piped=relation), step))


def _refuse_aggregates(binder: Binder, items: Iterable[exp.Expr], operator: str) -> None:
    for item in items:
        for aggregate in find_special(item).aggregates:
            message = f"an aggregate function is not allowed in `|> {operator}`"
            binder.report("PEN3011", aggregate, message, "write `|> AGGREGATE`")


def _extend(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    for item in step.expressions:
        if is_star(item):
            binder.report("PEN3017", item, "`*` is not allowed in `|> EXTEND`, which keeps all columns anyway")
            return relation
    star = exp.Star()
    star.meta.update(step.meta)
    step.set("expressions", [star, *step.expressions])
    return _select(binder, environment, relation, step)


def _set(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    """Set one column after the other; each sees the previous ones."""
    for item in list(step.expressions):
        alias = item.args["alias"]
        slots = list(relation.star())
        if not relation.is_open and not any(_is_named(slot, alias.name) for slot in slots):
            _report_missing(binder, alias, slots)
            continue
        single = exp.Select(expressions=[item])
        single.meta.update(step.meta)
        _refuse_aggregates(binder, [item], "SET")
        found = bind_select(binder, replace(environment, piped=relation), single)
        value = found.attributes[0] if found.attributes else None
        if value is not None:
            kept = (_attribute(slot) for slot in slots)
            made = tuple(value if attribute.name.lower() == alias.name.lower() else attribute for attribute in kept)
            relation = _projected(relation, Output(made, relation.row_origins, relation.is_open))
    return relation


def _attribute(slot: Slot) -> Attribute:
    return replace(slot.attribute, typed=slot.typed, identity=slot.key)


def _is_named(slot: Slot, name: str) -> bool:
    return slot.attribute.name.lower() == name.lower()


def _report_missing(binder: Binder, name: exp.Expr, slots: Sequence[Slot]) -> None:
    close = nearest(name.name, [slot.attribute.name for slot in slots])
    help = f"did you mean `{close}`?" if close else None
    binder.report("PEN3004", name, f"column `{name.name}` does not exist", help)


def _drop(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    slots = list(relation.star())
    for name in step.expressions:
        if not relation.is_open and not any(_is_named(slot, name.name) for slot in slots):
            _report_missing(binder, name, slots)
        elif len(relation.find([name.name])[0]) > 1:
            message = f"`{name.name}` is ambiguous: `|> DROP` takes the name of one column"
            binder.report("PEN3003", name, message, "name the columns to keep in `|> SELECT`")
    dropped: set[str] = set()
    for name in step.expressions:
        if name.name.lower() in dropped:
            binder.report("PEN3017", name, f"`|> DROP` names column `{name.name}` twice")
        dropped.add(name.name.lower())
    kept = tuple(_attribute(slot) for slot in slots if slot.attribute.name.lower() not in dropped)
    return _projected(relation, Output(kept, relation.row_origins, relation.is_open))


def _as(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    output = _output(binder, relation)
    return Relation((RangeVariable((step.expressions[0].name,), output),), output.row_origins)


def _aggregate(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    count = step.meta["keys"]
    keys, values = step.expressions[:count], step.expressions[count:]
    for value in values:
        if not find_special(value).aggregates:
            message = "what `|> AGGREGATE` computes must hold an aggregate function"
            binder.report("PEN3009", value, message, "put it after GROUP BY")
            return relation
    keys = [_numbered(relation, key) for key in keys]
    step.set("expressions", [*keys, *values])
    if keys:
        bodies = [key.this if isinstance(key, exp.Alias) else key for key in keys]
        # `0 as k` is a value, no position: it groups nothing
        is_value = [body is not key and isinstance(body, exp.Literal) for body, key in zip(bodies, keys, strict=True)]
        groups = [body.copy() for body, value in zip(bodies, is_value, strict=True) if not value]
        step.set("group", exp.Group(expressions=groups) if groups else None)
    return _projected(relation, bind_select(binder, replace(environment, piped=relation), step))


def _numbered(relation: Relation, key: exp.Expr) -> exp.Expr:
    """The column that an ordinal means: one of those before the operator."""
    number, slots = ordinal(key), list(relation.star())
    if number is None or not 1 <= number <= len(slots):
        return key
    column = exp.column(slots[number - 1].attribute.name)
    column.this.meta.update(key.meta)
    return column


def _join(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    """Joins, PIVOT, UNPIVOT and TABLESAMPLE, which sqlglot hangs on the table or the Select."""
    table = step.args["from_"].this
    for pivot in table.args.get("pivots") or ():
        relation = pivoted(binder, environment, relation, pivot)
    for join in (*(table.args.get("joins") or ()), *(step.args.get("joins") or ())):
        right = bind_relation(binder, environment, join.this, relation)
        relation = join_relations(binder, environment, relation, right, join)
    return relation


def _union(binder: Binder, environment: Environment, relation: Relation, step: exp.Select) -> Relation:
    operation = step.args["operation"]
    right = binder.query(operation.right, environment)
    output = combine(binder, operation, _output(binder, relation), right)
    return Relation((RangeVariable((), output),), output.row_origins)


_STEPS: Final[dict[str, _Step]] = {
    "WHERE": _where,
    **dict.fromkeys(("ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET"), _sorted),
    "SELECT": _select,
    "EXTEND": _extend,
    "SET": _set,
    "DROP": _drop,
    "AS": _as,
    "AGGREGATE": _aggregate,
    "JOIN": _join,
    "UNION": _union,
}
