"""FROM: named tables, CTEs, subqueries, VALUES, table functions, LATERAL, PIVOT, and the joins between them."""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sql.binding.joins import join_relations
from sql.binding.pivots import pivoted
from sql.expressions import generator_columns, is_deterministic, is_generator
from sql.functions.catalogue import signatures
from sql.functions.foreign_functions import FILE_FORMATS, READ_FILES
from sql.parsing.call_names import call_name
from sql.scopes.alias_count import refuse_alias_count
from sql.scopes.analysis import Binder, Environment, nearest
from sql.scopes.lineage import Dependency
from sql.scopes.misplaced_functions import refuse_misplaced
from sql.scopes.relations import Attribute, Output, RangeVariable, Relation, merge, side_by_side
from sql.scopes.scope import SelectScope
from sql.types.expression_type import NOT_KNOWN, NamedTyped, Typed


def bind_from(binder: Binder, environment: Environment, select: exp.Expr) -> Relation:
    """The relation that a SELECT reads, its joins and lateral views applied."""
    if environment.piped is not None:
        return environment.piped
    from_ = select.args.get("from_")
    relation = _with_joins(binder, environment, from_.this, select.args.get("joins") or ()) if from_ else Relation()
    for lateral in select.args.get("laterals") or ():
        relation = side_by_side(relation, _lateral_view(binder, environment, relation, lateral))
    return relation


def _with_joins(binder: Binder, environment: Environment, first: exp.Expr, joins: Sequence[exp.Join]) -> Relation:
    """Joins and commas bind alike, from left to right: in `a, b join c on ...` the condition sees `a` too."""
    relation = bind_relation(binder, environment, first, Relation())
    for join in joins:
        right = bind_relation(binder, environment, join.this, relation)
        relation = join_relations(binder, environment, relation, right, join)
    return relation


def bind_relation(binder: Binder, environment: Environment, node: exp.Expr, left: Relation) -> Relation:
    """One item of FROM; `left` is what a LATERAL item sees."""
    relation = _primary(binder, environment, node, left)
    for pivot in node.args.get("pivots") or ():
        relation = pivoted(binder, environment, relation, pivot)
    for join in (node.args.get("joins") or ()) if isinstance(node, (exp.Table, exp.Subquery)) else ():
        right = bind_relation(binder, environment, join.this, relation)
        relation = join_relations(binder, environment, relation, right, join)
    return relation


def _primary(binder: Binder, environment: Environment, node: exp.Expr, left: Relation) -> Relation:
    match node:
        case exp.Table() if isinstance(node.this, exp.Identifier):
            return _named(binder, environment, node)
        case exp.TableAlias():  # what sqlglot leaves of `|> AS name`
            return _named(binder, environment, exp.Table(this=node.this))
        case exp.Table() if isinstance(node.this, exp.Values):  # `((VALUES (1)) AS a JOIN b)`
            return _aliased(binder, binder.query(node.this, environment), node)
        case exp.Table() if isinstance(node.this, exp.Func):
            return _function(binder, environment, node.this, node, Relation())
        case exp.Subquery() if not isinstance(node.this, exp.Query) or _is_relation(node):
            return _parenthesized(binder, environment, node, left)
        case exp.Subquery() | exp.Values():
            return _aliased(binder, binder.query(node, environment), node)
        case exp.Lateral():
            return _lateral(binder, environment, node, left)
        case exp.Func():
            return _function(binder, environment, node, node, Relation())
        case _:
            binder.warn("PEN3014", node, f"this form of FROM is not understood here: {type(node).__name__}")
            return Relation((RangeVariable(_alias_name(node), Output((), is_open=True)),))


def _is_relation(node: exp.Subquery) -> bool:
    """Whether the bracket holds a relation: a table, VALUES, or a bracket of its own with an alias or joins."""
    inner = node.this
    if isinstance(inner, (exp.Table, exp.Values)):
        return True
    if not isinstance(inner, exp.Subquery):
        return False
    return any(inner.args.get(key) for key in ("alias", "joins", "pivots", "sample")) or _is_relation(inner)


def _named(binder: Binder, environment: Environment, node: exp.Table) -> Relation:
    name = ".".join(part.name for part in node.parts)
    cte = environment.ctes.get(name.lower())
    if cte is not None:
        return _aliased(binder, cte, node, (name,))
    known = binder.table(name)
    if known is None:
        names = [*environment.ctes, *binder.table_names()]
        close = nearest(name, names)
        listed = "known: " + ", ".join(f"`{candidate}`" for candidate in sorted(names)) if 0 < len(names) <= 8 else None
        is_file = len(node.parts) == 2 and node.parts[0].name.lower() in FILE_FORMATS
        help = READ_FILES if is_file else f"did you mean `{close}`?" if close else listed
        first, last = (binder.places.range(part) for part in (node.parts[0], node.parts[-1]))  # without the alias
        binder.report_at("PEN3002", (first[0], last[1]), f"table `{name}` does not exist here", help)
        return _aliased(binder, Output((), is_open=True), node, tuple(part.name for part in node.parts))
    written, output = known
    version = node.args.get("version") or node.args.get("when")
    if version is not None:
        message = "an input of a query has no versions"
        binder.report("PEN3017", version, message, "read the version in the source, with its own options")
    return _aliased(binder, output, node, tuple(part.name for part in node.parts), written)


def _aliased(
    binder: Binder, output: Output, node: exp.Expr, name: tuple[str, ...] = (), input: str | None = None
) -> Relation:
    """The output under the alias of the FROM item, its columns renamed where the alias lists names."""
    alias = node.args.get("alias")
    qualifier = _alias_name(node) or name
    columns = alias.args.get("columns") if alias is not None else None
    if alias is not None and columns:
        if len(columns) != len(output.attributes) and not output.is_open:
            refuse_alias_count(binder, alias, output)
            unknown = tuple(replace(attribute, typed=NOT_KNOWN) for attribute in output.attributes)
            output = Output(unknown, output.row_origins, is_open=True)
        if input is not None:
            binder.columns_read[input].update(attribute.name for attribute in output.attributes)
        names = [column.name for column in columns]
        row_origins = output.row_origins
        renamed = output.renamed([*names, *(attribute.name for attribute in output.attributes[len(names) :])])
        return Relation((RangeVariable(qualifier, renamed),), row_origins)
    return Relation((RangeVariable(qualifier, output, input),), output.row_origins)


def _alias_name(node: exp.Expr) -> tuple[str, ...]:
    alias = node.args.get("alias")
    name = alias.name if alias is not None else ""
    return (name,) if name else ()


def _parenthesized(binder: Binder, environment: Environment, node: exp.Subquery, left: Relation) -> Relation:
    """`(a join b on ...)`, perhaps with an alias."""
    inner = bind_relation(binder, environment, node.this, left)
    if not _alias_name(node):
        return inner
    attributes = tuple(replace(slot.attribute, typed=slot.typed) for slot in inner.star())
    for slot in inner.star():
        if slot.source.input is not None:
            binder.columns_read[slot.source.input].add(slot.attribute.name)
    return _aliased(binder, Output(attributes, inner.row_origins, inner.is_open), node)


def _function(binder: Binder, environment: Environment, call: exp.Expr, node: exp.Expr, seen: Relation) -> Relation:
    """A table function: `range(10)`, `explode(array(1, 2))`."""
    scope = SelectScope(binder, environment, seen)
    before = len(binder.diagnostics)
    _refuse_special(scope, call)
    columns = generator_columns(call, scope)
    if columns is None and len(binder.diagnostics) == before and isinstance(call, exp.Anonymous):
        known = signatures(call_name(call).lower(), binder.spark)
        if known and known[0].kind not in ("generator", "table") and known[0].name != "identifier":
            binder.report(
                "PEN3011", call, f"`{call_name(call)}` is not a table function: it returns one value, not rows"
            )
    return _aliased(binder, _generated(scope, columns), node)


def _refuse_special(scope: SelectScope, call: exp.Expr) -> None:
    """The arguments of a function of FROM hold neither aggregates nor windows nor generators."""
    if isinstance(call, exp.Anonymous) and any(isinstance(part, exp.Anonymous) for part in call.find_all(exp.Func)):
        for argument in call.expressions:
            refuse_misplaced(scope, argument, "a function of FROM")


def _generated(scope: SelectScope, columns: Sequence[NamedTyped] | None, *, outer: bool = False) -> Output:
    origins = scope.origins_for(Dependency.TRANSFORMATION)
    attributes = (
        Attribute(column.name, Typed(column.typed.type, column.typed.nullable or outer), origins)
        for column in columns or ()
    )
    return Output(tuple(attributes), (), columns is None)


def _lateral(binder: Binder, environment: Environment, node: exp.Lateral, left: Relation) -> Relation:
    """`LATERAL (SELECT ...)` and `LATERAL explode(...)`: the query sees the relations before it."""
    around = SelectScope(binder, environment, left)
    inner = replace(environment, outer=around)
    if isinstance(node.this, (exp.Subquery, exp.Query)):
        _refuse_random(binder, node.this, left)
        return _aliased(binder, binder.query(node.this, inner), node)
    _refuse_random(binder, node.this, left)
    return _function(binder, inner, node.this, node, Relation())


def _refuse_random(binder: Binder, query: exp.Expr, left: Relation) -> None:
    """Refuse a non-deterministic LATERAL query next to relations that may have several rows."""
    if not any(source.input is not None for source in left.sources):
        return
    for call in query.find_all(exp.Anonymous):
        if not is_deterministic(call):
            message = f"`{call_name(call)}` is not deterministic, which a LATERAL subquery does not allow"
            binder.report("PEN3017", call, message, "compute it in the outer query")


def _lateral_view(binder: Binder, environment: Environment, seen: Relation, node: exp.Lateral) -> Relation:
    """`LATERAL VIEW [OUTER] explode(x) t AS a, b`."""
    alias = node.args.get("alias")
    if alias is None or not (alias.name or alias.args.get("columns")):
        binder.report("PEN3001", node.this, "LATERAL VIEW needs a name for its rows", "write `explode(x) t AS column`")
    scope = SelectScope(binder, environment, seen)
    _refuse_special(scope, node.this)
    columns = generator_columns(node.this, scope)
    if columns is None and isinstance(node.this, exp.Anonymous) and not is_generator(node.this):
        _refuse_no_generator(binder, node.this)
    output = _generated(scope, columns, outer=bool(node.args.get("outer")))
    return replace(_aliased(binder, output, node), row_origins=merge(output.row_origins))


def _refuse_no_generator(binder: Binder, node: exp.Anonymous) -> None:
    """Refuse LATERAL VIEW over a function that is no generator; unknown functions are already reported."""
    if not binder.has_error("PEN3006", node):
        name = call_name(node)
        help = "use explode, inline, stack, ..."
        binder.report("PEN3011", node, f"`{name}` is not a generator: it returns one value, not rows", help)
