"""The writes of a plan that a user names: `penstock run --only crm.orders`, `--except "shop.*"`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from connectors.interface.incremental import incremental_of
from engine.plan.nodes import Plan, Scan, Write, below

_MOST_SHOWN: Final = 4
"""How many names a message lists."""


def with_chosen_writes(plan: Plan, only: Sequence[str], but: Sequence[str], diagnostics: Diagnostics) -> Plan:
    """The plan with the writes that `only` names (all if it is empty), without those that `but` names.

    A write is named by its own name, its set's, its table's path or the end of that; `*` and `?` stand for letters.
    The whole plan if a name fits no write, or none is left: that is reported.
    """
    for pattern in (*only, *but):
        if not any(_is_named(write, pattern) for write in plan.writes):
            known = sorted({name for write in plan.writes for name in _names(write)})
            message = f"the job writes no table `{pattern}`"
            diagnostics.error("PEN2301", message, None, _remedy(pattern, known))
    writes = tuple(
        write
        for write in plan.writes
        if (not only or any(_is_named(write, pattern) for pattern in only))
        and not any(_is_named(write, pattern) for pattern in but)
    )
    _refuse_half_read(plan, writes, diagnostics)
    if not writes and not diagnostics.has_errors:
        diagnostics.error("PEN2302", "`--only` and `--except` leave nothing to write", None, "name fewer tables")
    return plan if diagnostics.has_errors else replace(plan, writes=writes)


def _remedy(pattern: str, known: Sequence[str]) -> str:
    """The table of the same last name, the nearest name, or some of the names."""
    last = pattern.lower().rpartition(".")[2]
    same = [name for name in known if name.rpartition(".")[2] == last]
    if same:
        return f"did you mean {' or '.join(f'`{name}`' for name in same[:_MOST_SHOWN])}?"
    shown = ", ".join(f"`{name}`" for name in known[:_MOST_SHOWN])
    return did_you_mean(pattern, known) or f"names are {shown} and {len(known) - _MOST_SHOWN} more"


def _refuse_half_read(plan: Plan, writes: Sequence[Write], diagnostics: Diagnostics) -> None:
    """Report an incremental source that is read for tables left out, too: its watermark would move past their rows."""
    left_out = {node for write in plan.writes if write not in writes for node in below(write)}
    for write in writes:
        for node in below(write):
            if isinstance(node, Scan) and node in left_out and incremental_of(node.options):
                message = f"`{node.written_name}` is read incrementally, and not only for the tables that are chosen"
                help = "choose all tables that read it, or none"
                diagnostics.error("PEN2011", message, node.options.span("incremental"), help)
                left_out.discard(node)


def _is_named(write: Write, pattern: str) -> bool:
    return any(fnmatchcase(name, pattern.lower()) for name in _names(write))


def _names(write: Write) -> Iterator[str]:
    """The names of a write, in lower case."""
    yield write.name.lower()
    if write.table_set:
        yield write.table_set.lower()
    parts = str(write.table.path).lower().split(".")
    yield from (".".join(parts[index:]) for index in range(len(parts)))
