"""Reports names that mean no column, or several."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from sql.scopes.analysis import EnclosingScope, nearest
from sql.scopes.relations import Attribute, Slot

NO_USING_COLUMN: Final = "the USING column"
"""How the message of a missing key of a USING join begins."""


def report_ambiguous(scope: EnclosingScope, node: exp.Column, parts: Sequence[str], slots: Sequence[Slot]) -> None:
    """Report a name that several columns have; not where USING, which would make them one, has an error."""
    if any(error.message.startswith(NO_USING_COLUMN) for error in scope.binder.diagnostics):
        return
    owners = [slot.source.label for slot in slots]
    choices = " or ".join(dict.fromkeys(f"`{owner}.{parts[-1]}`" for owner in owners if owner))
    if len(set(owners)) == 1 and owners[0] and slots[0].source is not slots[1].source:
        twice = f"`{owners[0]}` is in FROM twice under one name"
        help = f"give each an alias: `{owners[0]} as x join {owners[0]} as y`, then write `x.{parts[-1]}`"
        scope.report("PEN3003", node, f"column `{'.'.join(parts)}` is ambiguous: {twice}", help)
        return
    where = ", ".join(f"`{owner}`" for owner in dict.fromkeys(owners) if owner)
    message = f"column `{'.'.join(parts)}` is ambiguous" + (f": it is in {where}" if where else "")
    scope.report("PEN3003", node, message, f"write {choices}" if len(set(owners)) > 1 and len(parts) == 1 else None)


def report_unknown(
    scope: EnclosingScope, node: exp.Column, parts: Sequence[str], aliases: Mapping[str, Sequence[Attribute]]
) -> None:
    """Report a name that nothing has, with the nearest one."""
    sources = scope.relation.sources
    owners = tuple(source for source in sources if len(parts) > 1 and source.answers([parts[0].lower()]))
    is_qualified = bool(owners)
    if len(parts) > 1 and not owners:
        labels = [source.label for source in sources if source.label]
        first = node.parts[0]
        scope.report(
            "PEN3004", first, f"`{parts[0]}` is not a table or column of this query", suggest(parts[0], labels)
        )
        return
    owners = owners or sources
    known = [attribute.name for source in owners for attribute in source.output.attributes] + [
        attribute.name for named in aliases.values() for attribute in named
    ]
    where = ", ".join(dict.fromkeys(f"`{source.label}`" for source in owners if source.label))
    name = parts[1] if is_qualified else parts[-1]
    place = node.parts[parts.index(name)] if len(parts) > 1 else node
    message = f"column `{name}` does not exist" + (f" in {where}" if where else "")
    scope.report("PEN3004", place, message, _alias_in_where(node, name) or suggest(name, known))


def _alias_in_where(node: exp.Column, name: str) -> str | None:
    """The remedy for `select amount * 2 as total from t where total > 1`."""
    where = node.find_ancestor(exp.Where, exp.Select)
    select = where.parent if isinstance(where, exp.Where) else None
    for projection in select.expressions if isinstance(select, exp.Select) else ():
        if isinstance(projection, exp.Alias) and projection.alias.lower() == name.lower():
            is_window = projection.find(exp.Window) is not None
            remedy = "filter in an outer query" if is_window else "repeat its expression, or filter in an outer query"
            return f"WHERE is computed before the alias `{projection.alias}`: {remedy}"
    return None


def suggest(name: str, known: Sequence[str]) -> str | None:
    close = nearest(name, known)
    if close is not None:
        return f"did you mean `{close}`?"
    distinct = sorted(set(known))
    return "known: " + ", ".join(f"`{column}`" for column in distinct) if 0 < len(distinct) <= 8 else None
