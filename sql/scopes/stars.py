"""`*`, `t.*` and `s.*`, with EXCEPT."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from catalog.limits import check
from catalog.types.datatypes import UNKNOWN, DataType, Field, Struct
from sql.scopes.analysis import Bound, EnclosingScope, nearest
from sql.scopes.lineage import Dependency, Origins, through
from sql.scopes.relations import Attribute, Slot
from sql.types.expression_type import Typed


def is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def expand_star(scope: EnclosingScope, node: exp.Expr) -> list[Attribute] | None:
    """The columns that a star stands for; None if they are not known (or an error was reported)."""
    star = node.this if isinstance(node, exp.Column) else node
    attributes = _qualified(scope, node) if isinstance(node, exp.Column) else _all(scope)
    if attributes is None:
        return None
    return _without_all(scope, attributes, star.args.get("except_") or ())


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
    check("columns", len(attributes))
    return attributes


def _qualified(scope: EnclosingScope, node: exp.Column) -> list[Attribute] | None:
    qualifier = [part.name for part in node.parts[:-1]]
    folded = [part.lower() for part in qualifier]
    sources = [source for source in scope.relation.sources if source.answers(folded)]
    if sources:
        if any(source.output.is_open for source in sources):
            return None
        return _read(scope, scope.relation.qualified_star(folded))
    outer = scope.environment.outer  # one query outward, as with columns
    if outer is not None and not scope.relation.find(qualifier)[0]:
        if any(source.answers(folded) for source in outer.relation.sources):
            return _of_outer(outer, folded)
        if outer.relation.find(qualifier)[0]:
            return _fields(outer, node, qualifier)
    return _fields(scope, node, qualifier)


def _of_outer(outer: EnclosingScope, qualifier: Sequence[str]) -> list[Attribute] | None:
    """The columns of a relation of the query around."""
    if any(source.output.is_open for source in outer.relation.sources if source.answers(qualifier)):
        return None
    attributes = _read(outer, outer.relation.qualified_star(qualifier))
    for attribute in attributes:
        bound = Bound(attribute.identity, attribute.typed, attribute.origins, depth=1)
        outer.outer_references.append((exp.column(attribute.name), bound))
    return [replace(attribute, identity=None) for attribute in attributes]


def _fields(scope: EnclosingScope, node: exp.Column, qualifier: Sequence[str]) -> list[Attribute] | None:
    """`s.*` over a column of type struct."""
    found, _ = scope.relation.find(qualifier)
    if not found:
        if not scope.relation.is_open:
            labels = [source.label for source in scope.relation.sources if source.label]
            close = nearest(qualifier[0], labels)
            help = f"did you mean `{close}`?" if close else None
            scope.report(
                "PEN3004", node.parts[0], f"`{'.'.join(qualifier)}` is not a table or struct of this query", help
            )
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


def _without_all(
    scope: EnclosingScope, attributes: list[Attribute], dropped: Sequence[exp.Expr]
) -> list[Attribute] | None:
    """The attributes without the columns and fields that EXCEPT names, each of which must be there, and once."""
    paths: dict[int, list[tuple[str, ...]]] = {}
    for node in dropped:
        parts = tuple(part.name for part in node.parts) if isinstance(node, exp.Column) else (node.name,)
        found, taken = _named(scope, attributes, parts)
        if not found:
            _refuse_unknown(scope, attributes, node, parts)
            return None
        if len(found) > 1:
            message = f"EXCEPT names `{'.'.join(parts)}`, which `*` has {len(found)} times"
            scope.report("PEN3003", node, message)
            return None
        fields = tuple(part.lower() for part in parts[taken:])
        others = paths.setdefault(found[0], [])
        if any(fields[: len(other)] == other[: len(fields)] for other in others):
            scope.report("PEN3003", node, f"EXCEPT names `{'.'.join(parts)}` twice")
            return None
        others.append(fields)
        if not _has_field(scope, node, attributes[found[0]].typed.type, parts, taken):
            return None
    kept: list[Attribute] = []
    for index, attribute in enumerate(attributes):
        fields_dropped = paths.get(index, [])
        struct = attribute.typed.type
        if not fields_dropped:
            kept.append(attribute)
        elif fields_dropped != [()] and isinstance(struct, Struct):
            rest = _without_fields(struct, fields_dropped)
            kept.append(replace(attribute, typed=Typed(rest, nullable=False), identity=None))
    return kept


def _named(scope: EnclosingScope, attributes: Sequence[Attribute], parts: Sequence[str]) -> tuple[list[int], int]:
    """The positions of the attributes that a dotted name means, and how many of its parts name the column."""
    first = parts[0].lower()
    if len(parts) == 1:
        return [index for index, attribute in enumerate(attributes) if attribute.name.lower() == first], 1
    slots, taken = scope.relation.find(parts)
    keys = {slot.key for slot in slots}
    found = [
        index
        for index, attribute in enumerate(attributes)
        if attribute.identity is not None and attribute.identity in keys
    ]
    if found:
        return found, taken
    return [
        at for at, attribute in enumerate(attributes) if attribute.identity is None and attribute.name.lower() == first
    ], 1


def _refuse_unknown(
    scope: EnclosingScope, attributes: Sequence[Attribute], node: exp.Expr, parts: Sequence[str]
) -> None:
    close = nearest(parts[-1].lower(), [attribute.name for attribute in attributes])
    help = f"did you mean `{close}`?" if close else None
    scope.report("PEN3004", node, f"EXCEPT names the column `{'.'.join(parts)}`, which `*` does not have", help)


def _has_field(scope: EnclosingScope, node: exp.Expr, type: DataType, parts: Sequence[str], taken: int) -> bool:
    """Whether each part behind the column's name is a field of the struct before it; reported where it is not."""
    for index in range(taken, len(parts)):
        field = type.field(parts[index]) if isinstance(type, Struct) else None
        if field is None:
            if type != UNKNOWN:
                message = f"`{'.'.join(parts[:index])}` has no field `{parts[index]}` that EXCEPT could drop"
                scope.report("PEN3005", node, message)
            return False
        type = field.type
    return True


def _without_fields(struct: Struct, dropped: Sequence[tuple[str, ...]]) -> Struct:
    """The struct without fields; one that loses a field within it is made again, and so never null."""
    kept: list[Field] = []
    for field in struct.fields:
        inner = [path[1:] for path in dropped if path[0] == field.name.lower()]
        if not inner:
            kept.append(field)
        elif inner != [()] and isinstance(field.type, Struct):
            kept.append(Field(field.name, _without_fields(field.type, inner), nullable=False))
    return Struct(tuple(kept))
