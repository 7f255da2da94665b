"""Errors after which Java cannot go on: no stack, no memory, a class that is missing. None of them is retried."""

import re
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import PenstockError, run_error
from engine.spark.failures.long_rows import LONG_ROW_HELP, long_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.plan.nodes import AnyNode

_FATAL: Final = re.compile(r"java\.lang\.(StackOverflowError|OutOfMemoryError|NoClassDefFoundError)(?::\s*([^\n]+))?")


def fatal_error(text: str, node: "AnyNode", below: "Iterable[AnyNode]" = ()) -> PenstockError | None:
    """The error for users, of a text with the names of Java's exceptions; None if none of them is fatal.

    `below`: nodes from whose rows the error may have come.
    """
    found = _FATAL.search(text)
    if found is None:
        return None
    kind, said = found[1], (found[2] or "").strip()
    if kind == "StackOverflowError":
        help = "split the chain of queries into two jobs, or set `spark.driver.extraJavaOptions = -Xss64m` in `env`"
        return run_error("PEN5901", f"the plan is too deep for Java's stack (in `{node.name}`)", node.span, help)
    if kind == "OutOfMemoryError":
        help = "give it more: `spark.driver.memory = 4g` in `env`; on a cluster also `spark.executor.memory`"
        if row := long_row((node, *below)):
            return run_error("PEN5902", f"Java ran out of memory: {row}", node.span, LONG_ROW_HELP)
        why = f": {said}" if said else ""
        return run_error("PEN5902", f"Java ran out of memory{why} (in `{node.name}`)", node.span, help)
    message = f"Java does not find the class {said.replace('/', '.')} (in `{node.name}`)"
    return run_error("PEN9003", message, node.span, "add the jar that has it: `spark.jars` or `spark.jars.packages`")
