"""JOIN of every kind: the visible columns, their order, and which become nullable."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from catalog.types.datatypes import BOOLEAN, UNKNOWN
from sql.expressions import infer, is_deterministic, widest
from sql.scopes.analysis import Binder, Environment, nearest
from sql.scopes.lineage import Dependency, through
from sql.scopes.misplaced_functions import own_nodes, refuse_misplaced
from sql.scopes.relations import (
    Attribute,
    Output,
    RangeVariable,
    Relation,
    Slot,
    hiding,
    made_optional,
    merge,
    side_by_side,
)
from sql.scopes.scope import SelectScope
from sql.scopes.unresolved_names import NO_USING_COLUMN
from sql.types.collations import same_collations
from sql.types.expression_type import Typed
from sql.types.operators import is_orderable


def join_relations(
    binder: Binder, environment: Environment, left: Relation, right: Relation, join: exp.Join
) -> Relation:
    """The relation of `left JOIN right` as the join node says it."""
    side, kind = (join.args.get("side") or "").upper(), (join.args.get("kind") or "").upper()
    if isinstance(join.this, exp.Lateral) and not _may_be_lateral(binder, join, side, kind):
        return side_by_side(left, right)
    if kind in ("SEMI", "ANTI"):
        if (join.args.get("method") or "").upper() == "NATURAL":
            binder.report("PEN3017", join.this, f"Spark has no NATURAL {kind} JOIN", "write `USING (...)`")
        return _filtered(binder, environment, left, right, join)
    names = _shared_names(binder, left, right, join)
    optional_left = made_optional(left) if side in ("RIGHT", "FULL") else left
    optional_right = made_optional(right) if side in ("LEFT", "FULL") else right
    if names:
        _check_keys(binder, left, right, names, join)
        return _merged(optional_left, optional_right, names, side)
    joined = side_by_side(optional_left, optional_right)
    on = join.args.get("on")
    if on is not None:
        # the condition is evaluated before the missing rows are filled in
        joined = _with_condition(binder, environment, side_by_side(left, right), on, joined)
    return joined


def _may_be_lateral(binder: Binder, join: exp.Join, side: str, kind: str) -> bool:
    """Whether Spark supports the join with a LATERAL item on the right; otherwise it is reported."""
    if join.args.get("using"):
        message, help = "a LATERAL join takes no USING", "write the condition after ON"
    elif (join.args.get("method") or "").upper() == "NATURAL":
        message, help = "a LATERAL join is never NATURAL", "write the condition after ON"
    elif side in ("RIGHT", "FULL") or kind in ("SEMI", "ANTI"):
        message, help = f"a LATERAL item is not allowed in a {side or 'LEFT'} {kind}".rstrip() + " JOIN", None
    else:
        return True
    binder.report("PEN3017", join.this, message, help)
    return False


def _with_condition(
    binder: Binder, environment: Environment, seen: Relation, on: exp.Expr, joined: Relation
) -> Relation:
    scope = SelectScope(binder, environment, seen)
    condition(scope, on, "a join condition")
    for query in scope.correlated_scalars(on):
        message = "a correlated scalar subquery is not allowed in a join condition"
        binder.report("PEN3016", query, message, "put it into WHERE")
    for call in own_nodes(on):
        if isinstance(call, exp.Anonymous) and not is_deterministic(call):
            message = "a function that is not deterministic is not allowed in a join condition"
            binder.report("PEN3011", call, message, "compute it in a subquery")
    origins = merge(joined.row_origins, scope.origins_for(Dependency.JOIN))
    return replace(joined, row_origins=origins)


def condition(scope: SelectScope, node: exp.Expr, where: str) -> None:
    """Types a condition, which must be boolean and hold no aggregate, window or generator."""
    typed = infer(node, scope)
    refuse_misplaced(scope, node, where)
    if typed.type not in (BOOLEAN, UNKNOWN):
        scope.report("PEN3008", node, f"{where} must be boolean, this is {typed.type}")


def _filtered(binder: Binder, environment: Environment, left: Relation, right: Relation, join: exp.Join) -> Relation:
    """LEFT SEMI and LEFT ANTI: the left columns only."""
    names = _shared_names(binder, left, right, join)
    on = join.args.get("on")
    slots = [slot for side in (left, right) for name in names for slot in side.keys_of_using(name)]
    keys = [slot.attribute.origins for slot in slots]
    result = replace(left, row_origins=merge(left.row_origins, right.row_origins))
    if names:
        first = [slot for name in names for slot in left.keys_of_using(name)]
        taken = {slot.key for slot in first}
        result = replace(result, order=(*first, *(slot for slot in left.star() if slot.key not in taken)))
    result = replace(result, row_origins=merge(result.row_origins, through(merge(*keys), Dependency.JOIN)))
    for side in (left, right):
        _note_read(binder, side, names)
    return result if on is None else _with_condition(binder, environment, side_by_side(left, right), on, result)


def _shared_names(binder: Binder, left: Relation, right: Relation, join: exp.Join) -> list[str]:
    """The key columns of USING, each checked, or those that NATURAL finds on both sides."""
    if (join.args.get("method") or "").upper() == "NATURAL":
        if left.is_open or right.is_open:
            return []
        shared = Counter(slot.attribute.name for slot in left.star()) & Counter(
            slot.attribute.name for slot in right.star()
        )
        return list(dict.fromkeys(slot.attribute.name for slot in left.star() if shared[slot.attribute.name]))
    names = []
    for identifier in join.args.get("using") or ():
        name = identifier.name
        found = [_has_key(binder, relation, identifier, name) for relation in (left, right)]
        if all(found):
            names.append(name)
    for relation in (left, right):
        _note_read(binder, relation, names)
    return names


def _check_keys(binder: Binder, left: Relation, right: Relation, names: Sequence[str], join: exp.Join) -> None:
    """The key columns are compared: values of their types must be comparable."""
    for name in names:
        pair = [relation.keys_of_using(name)[0].typed.type for relation in (left, right)]
        common = widest(*pair)
        at = next((identifier for identifier in join.args.get("using") or () if identifier.name == name), join.this)
        if common is None or not same_collations(*pair):
            binder.report("PEN3008", at, f"the columns `{name}` can't be compared: {pair[0]} and {pair[1]}")
        elif not is_orderable(common):
            binder.report("PEN3008", at, f"the columns `{name}` can't be compared: values of {common} never are")


def _has_key(binder: Binder, relation: Relation, identifier: exp.Expr, name: str) -> bool:
    found = relation.keys_of_using(name)
    if not found and not relation.is_open:
        labels = ", ".join(f"`{source.label}`" for source in relation.sources if source.label)
        close = nearest(name, relation.names())
        help = f"did you mean `{close}`?" if close else None
        binder.report(
            "PEN3004", identifier, f"{NO_USING_COLUMN} `{name}` does not exist in {labels or 'one side'}", help
        )
    return bool(found)


def _note_read(binder: Binder, relation: Relation, names: Sequence[str]) -> None:
    for name in names:
        for slot in relation.keys_of_using(name):
            if slot.source.input is not None:
                binder.columns_read[slot.source.input].add(slot.attribute.name)


def _merged(left: Relation, right: Relation, names: Sequence[str], side: str) -> Relation:
    """Key columns once and first, then the other columns; both sides' own keys stay reachable by qualified names.

    As in Spark's `commonNaturalJoinProcessing`, including the order of the columns of `t.*`.
    """
    pairs = [(left.keys_of_using(name)[0], right.keys_of_using(name)[0]) for name in names]
    lefts, rights = zip(*pairs, strict=True)
    lost = {"FULL": (*lefts, *rights), "RIGHT": lefts}.get(side, rights)
    rest = [slot for slot in (*left.star(), *right.star()) if slot.key not in {key.key for key in (*lefts, *rights)}]
    origins = through(merge(*(slot.attribute.origins for slot in (*lefts, *rights))), Dependency.JOIN)
    both = side_by_side(left, right)
    hidden, moved = hiding(both, lost)

    def now(slots: Sequence[Slot]) -> tuple[Slot, ...]:
        return tuple(Slot(moved[id(slot.source)], slot.position) for slot in slots)

    keys, sources = now(rights if side == "RIGHT" else lefts), hidden.sources
    if side == "FULL":
        coalesced = RangeVariable((), Output(tuple(_coalesced(*pair) for pair in pairs)))
        keys = tuple(Slot(coalesced, position) for position in range(len(pairs)))
        sources = (*sources, coalesced)
    concealed = (*now(lost), *hidden.concealed)
    return Relation(sources, merge(both.row_origins, origins), (*keys, *now(rest)), concealed)


def _coalesced(left: Slot, right: Slot) -> Attribute:
    """The key of a full outer join: `coalesce(left, right)`."""
    type_ = widest(left.typed.type, right.typed.type) or UNKNOWN
    origins = merge(left.attribute.origins, right.attribute.origins)
    nullable = left.typed.nullable and right.typed.nullable
    return Attribute(left.attribute.name, Typed(type_, nullable), through(origins, Dependency.TRANSFORMATION))
