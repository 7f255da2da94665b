"""The rules, and the loop that runs and checks them.

A rule is a pure function from plan to plan: idempotent, and the same object when it changes nothing. It must not
change the writes, their order, or what they write; the loop checks this for every rule.
"""

from collections.abc import Callable, Collection
from typing import Final, TypeAlias

from catalog.diagnostics.diagnostic import Diagnostic, InternalError, did_you_mean, job_error
from engine.optimizer.chain_transforms import chain_transforms
from engine.optimizer.persist_shared import persist_shared
from engine.optimizer.prune_unused import prune_unused
from engine.optimizer.push_columns import push_columns
from engine.optimizer.push_filters import push_filters
from engine.optimizer.share_scans import share_scans
from engine.optimizer.shuffle_tables import shuffle_tables
from engine.plan.nodes import Plan, Write
from engine.plan.rendering.explain_text import explain

Rule: TypeAlias = Callable[[Plan], Plan]

Observer: TypeAlias = Callable[[str, Plan, Plan], None]
"""Called after each rule with its name and the plans before and after (the same object if nothing changed)."""

RULES: Final[tuple[Rule, ...]] = (
    prune_unused,
    share_scans,
    chain_transforms,
    push_filters,  # after chaining, which brings predicates down to the scans
    push_columns,  # after the columns of scans are final
    shuffle_tables,  # after chaining, so that its readers are the tables
    persist_shared,  # last: the readers of every node are final
)


def rule_names() -> tuple[str, ...]:
    return tuple(rule.__name__ for rule in RULES)


def optimize(plan: Plan, *, disabled: Collection[str] = (), observer: Observer | None = None) -> Plan:
    """The plan after every rule that is not disabled, in the order of `RULES`."""
    for name in disabled:
        if name not in rule_names():
            raise job_error("PEN2003", f"no rule is named `{name}`", None, did_you_mean(name, rule_names()))
    for rule in RULES:
        if rule.__name__ not in disabled:
            after = rule(plan)
            check_writes(rule.__name__, plan, after)
            if observer is not None:
                observer(rule.__name__, plan, after)
            plan = after
    return plan


def check_writes(name: str, before: Plan, after: Plan) -> None:
    """Raise an `InternalError` with both plans if a rule changed what is written."""
    if [_promise(write) for write in before.writes] == [_promise(write) for write in after.writes]:
        return
    plans = (f"before:\n{explain(before, columns=True)}", f"after:\n{explain(after, columns=True)}")
    message = f"the rule `{name}` changed what is written"
    raise InternalError([Diagnostic("PEN9001", message, help=f"run with `--disable {name}`", notes=plans)])


def _promise(write: Write) -> tuple[object, ...]:
    columns = tuple((column.name, column.type, column.nullable) for column in write.table.columns)
    modes = (write.schema_save_mode, write.data_save_mode, write.write_mode)
    return write.id, write.name, write.connector, write.options, modes, write.table.path, columns
