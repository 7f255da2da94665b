"""Stable ids: a hash of what a node does and of its inputs' ids, or the user's `uid`.

Names, locations and layout are not hashed, so that an unrelated edit of the job keeps every id. Neither are sensitive
options: with a new password it is the same source.
"""

import json
from dataclasses import replace
from hashlib import sha256
from itertools import chain, count

from catalog.diagnostics.source import PlacedText
from catalog.exhaustive import assert_never
from catalog.options import Value
from engine.plan.nodes import (
    AnyNode,
    Expect,
    Native,
    Plan,
    Query,
    Rejects,
    Scan,
    Shuffle,
    Union,
    Watermark,
    Write,
    children,
    rewrite,
)
from engine.plan.shown_options import shown
from sql.rewrite.select_query import Select, text_of


def with_ids(plan: Plan) -> Plan:
    """The plan with an id on every node; nodes that do the same are numbered, in the order of the job file."""
    taken: set[str] = set()

    def identify(node: AnyNode) -> AnyNode:
        base = node.uid or _hash(node)
        own = next(
            candidate
            for candidate in chain([base], (f"{base}-{number}" for number in count(2)))
            if candidate not in taken
        )
        taken.add(own)
        return replace(node, id=own)

    return rewrite(plan, identify)


def _hash(node: AnyNode) -> str:
    text = json.dumps([content_of(node), [child.id for child in children(node)]], sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:12]


def content_of(node: AnyNode) -> Value:
    """What the node does, without its inputs."""
    match node:
        case Scan():
            return ["scan", node.connector.name, shown(node.options), str(node.table.path)]
        case Query(body=Select() as select):
            columns = [[projection.name, text_of(projection.expression)] for projection in select.projections]
            return ["select", columns, [text_of(predicate) for predicate in select.predicates]]
        case Query(body=PlacedText()):
            return ["query", node.analysis.fingerprint, [input.name for input in node.inputs]]
        case Query():
            raise TypeError(f"body of the query {node.name}: {node.body!r}")
        case Native():
            return ["native", node.plugin.name, shown(node.options)]
        case Union():
            return ["union"]
        case Watermark():
            return ["watermark", node.column, node.delay, *([node.idle] if node.idle else [])]
        case Shuffle():
            return ["shuffle", node.column, list(node.values)]
        case Expect() | Rejects():
            rules: list[Value] = [rule.fingerprint for rule in node.rules]
            return [type(node).__name__.lower(), rules]
        case Write():
            modes: list[Value] = [node.schema_save_mode.value, node.data_save_mode.value, node.write_mode.value]
            return ["write", node.connector.name, shown(node.options), modes]
        case _:
            assert_never(node)
