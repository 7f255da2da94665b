"""The node for a condition or a query of the command line, over the nodes of a plan."""

from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote
from engine.plan.nodes import Input, Node, Plan, Query, Write
from sql.analyze import analyze

_KIND: Final = "Sql"


def query_over(plan: Plan, text: str) -> Query:
    """A query whose tables are nodes of the plan, by their names; raises a `JobError` with its errors."""
    nodes = {node.name: node for node in reversed(tuple(plan.nodes())) if not isinstance(node, Write)}
    return _query("query", PlacedText.bare(text, "--sql"), nodes)


def filtered(node: Node, condition: str) -> Query:
    """The rows of a node for which a condition is true; raises a `JobError` with its errors."""
    text = PlacedText.bare(condition, "--where")
    query = PlacedText.join([f"SELECT * FROM {quote(node.name)} WHERE (", text, "\n)"])  # it may end in a comment
    return _query(node.name, query, {node.name: node})


def _query(name: str, text: PlacedText, nodes: dict[str, Node]) -> Query:
    analysis = analyze(text, {name: node.table.renamed(name) for name, node in nodes.items()}, output=name)
    Diagnostics(list(analysis.diagnostics)).raise_errors()
    by_name = {name.lower(): Input(name, node) for name, node in nodes.items()}
    inputs = dict.fromkeys(by_name[read.lower()] for read in analysis.reads)
    return Query(name, _KIND, text, tuple(inputs), analysis)
