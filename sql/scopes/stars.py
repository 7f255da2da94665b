"""`*`, `t.*` and `s.*`, with EXCEPT."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from catalog.datatypes import UNKNOWN, Struct
from sql.scopes.analysis import EnclosingScope, nearest
from sql.scopes.lineage import Dependency, Origins, through
from sql.scopes.relations import Attribute, Slot
from sql.types.expression_type import Typed


def is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def expand_star(scope: EnclosingScope, node: exp.Expr) -> list[Attribute] | None:
    """The columns that a star stands for; None where they are not known (or a fault was reported)."""
    star = node.this if isinstance(node, exp.Column) else node
    attributes = _qualified(scope, node) if isinstance(node, exp.Column) else _all(scope)
    if attributes is None:
        return None
    for dropped in star.args.get("except_") or ():
        attributes = _without(scope, attributes, dropped)
    return attributes


def _all(scope: EnclosingScope) -> list[Attribute] | None:
    return None if scope.relation.is_open else _read(scope, scope.relation.star())


def _read(scope: EnclosingScope, slots: Iterable[Slot]) -> list[Attribute]:
    """The slots as attributes; that they are read is noted."""
    attributes = []
    for slot in slots:
        if slot.source.input is not None:
            scope.binder.columns_read[slot.source.input].add(slot.attribute.name)
        typed = slot.typed
        if slot.key in scope.grouped_nullable and not typed.nullable:
            typed = replace(typed, nullable=True)
        attributes.append(Attribute(slot.attribute.name, typed, slot.attribute.origins, slot.key))
    return attributes


def _qualified(scope: EnclosingScope, node: exp.Column) -> list[Attribute] | None:
    qualifier = [part.name for part in node.parts[:-1]]
    folded = [part.lower() for part in qualifier]
    sources = [source for source in scope.relation.sources if source.answers(folded)]
    if sources:
        if any(source.output.is_open for source in sources):
            return None
        order = [Slot(source, position) for source in sources for position in sorted(source.hidden)]
        order += [
            Slot(source, position)
            for source in sources
            for position in range(len(source.output.attributes))
            if position not in source.hidden
        ]
        return _read(scope, order)
    return _fields(scope, node, qualifier)


def _fields(scope: EnclosingScope, node: exp.Column, qualifier: Sequence[str]) -> list[Attribute] | None:
    """`s.*` over a column of type struct."""
    found, _ = scope.relation.find(qualifier)
    if not found:
        if not scope.relation.is_open:
            labels = [source.label for source in scope.relation.sources if source.label]
            close = nearest(qualifier[0], labels)
            help = f"did you mean `{close}`?" if close else None
            scope.report("PEN3004", node.parts[0], f"`{'.'.join(qualifier)}` is no table or struct of this query", help)
        return None
    owner = exp.Column(**dict(zip(("this", "table", "db", "catalog"), reversed(node.parts[:-1]), strict=False)))
    typed = scope.resolve(owner)
    origins = through(_take_used(scope, owner), Dependency.TRANSFORMATION)
    if isinstance(typed.type, Struct):
        return [
            Attribute(field.name, Typed(field.type, typed.nullable or field.nullable), origins)
            for field in typed.type.fields
        ]
    if typed.type != UNKNOWN:
        scope.report("PEN3005", node, f"`{'.'.join(qualifier)}` is of type {typed.type}: only a struct has `.*`")
    return None


def _take_used(scope: EnclosingScope, column: exp.Expr) -> Origins:
    """The origins of a column that was just resolved for what is in it, not for itself."""
    for index in range(len(scope.used) - 1, -1, -1):
        if scope.used[index][0] is column:
            return scope.used.pop(index)[1]
    return ()


def _without(scope: EnclosingScope, attributes: list[Attribute], dropped: exp.Expr) -> list[Attribute]:
    """The attributes without one that EXCEPT names; it must be there."""
    parts = [part.name for part in dropped.parts] if isinstance(dropped, exp.Column) else [dropped.name]
    name = parts[-1].lower()
    kept = [each for each in attributes if each.name.lower() != name]
    if len(parts) == 1 and len(attributes) - len(kept) > 1:
        scope.report(
            "PEN3003", dropped, f"EXCEPT names `{parts[0]}`, which `*` has {len(attributes) - len(kept)} times"
        )
    if len(kept) == len(attributes):
        if len(parts) > 1 and any(each.name.lower() == parts[0].lower() for each in attributes):
            return [_without_field(each, parts) for each in attributes]
        known = [each.name for each in attributes]
        close = nearest(name, known)
        help = f"did you mean `{close}`?" if close else None
        scope.report("PEN3004", dropped, f"EXCEPT names the column `{'.'.join(parts)}`, which `*` does not have", help)
    return kept


def _without_field(attribute: Attribute, parts: Sequence[str]) -> Attribute:
    """`* except (s.a)` drops a field of the struct `s`."""
    struct = attribute.typed.type
    if attribute.name.lower() != parts[0].lower() or not isinstance(struct, Struct):
        return attribute
    fields = tuple(field for field in struct.fields if field.name.lower() != parts[-1].lower())
    return replace(attribute, typed=Typed(Struct(fields), nullable=False))
