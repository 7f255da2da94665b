"""Which rules are checked on the rows that a sink staged, instead of by reading their node's input again."""

from connectors.interface.sink_abilities import SupportsStagedRows
from engine.expectations.rules import QueryCheck, Rule
from engine.plan.nodes import Expect, Write


def staged_rules(write: Write) -> tuple[Rule, ...]:
    """Rules over all rows of the node that the write reads, if exactly that node's input is staged."""
    node = write.input
    if not isinstance(node, Expect) or any(rule.takes_out for rule in node.rules):
        return ()
    if not (isinstance(write.connector, SupportsStagedRows) and write.connector.keeps_rows(write.options)):
        return ()
    return tuple(rule for rule in node.rules if isinstance(rule.check, QueryCheck))
