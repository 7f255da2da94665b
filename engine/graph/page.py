"""A plan before and after the rules as one HTML file: boxes, columns with types, lineage on click."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from catalog.exhaustive import assert_never
from catalog.tables.table import Column
from engine.compile import Compiled
from engine.graph.descriptions import description_of
from engine.graph.html_page import filled_page, html_text, script_json
from engine.graph.layered_layout import GAP_X, layout
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
    plugin_of,
)
from engine.plan.rendering.explain_text import query_text
from engine.plan.shown_options import given

CHARACTER, LINE, HEAD, PADDING, MOST = 7.0, 18.0, 44.0, 10.0, 40
NARROW_GAP, LONGEST = 48, 64


def to_page(compiled: Compiled) -> str:
    """The page of one job; it needs no other file and no network."""
    plans = {
        "before the rules": drawn_plan(compiled.built, compiled),
        "after the rules": drawn_plan(compiled.plan, compiled),
    }
    return rendered(compiled.built.env.name, plans)


def rendered(title: str, plans: Mapping[str, Any]) -> str:
    """The page of these drawings; it opens with the first one."""
    data = {"job": title, "most": MOST, "head": HEAD, "line": LINE, "plans": plans}
    folder = files("engine.graph")
    style, script, page = (folder.joinpath(f"page.{end}").read_text(encoding="utf-8") for end in ("css", "js", "html"))
    return filled_page(page, style, script, title=html_text(title), data=script_json(data))


def drawn_plan(plan: Plan, compiled: Compiled) -> dict[str, Any]:
    nodes = list(plan.nodes())
    keys = {node: index for index, node in enumerate(nodes)}
    edges = list(dict.fromkeys((keys[child], keys[node]) for node in nodes for child in children(node)))
    lineage = [list(step) for node in nodes for step in _steps(node, keys)]
    return drawn([_node(node, compiled) for node in nodes], edges, lineage)


def drawn(
    nodes: Sequence[Mapping[str, Any]], edges: Sequence[tuple[int, int]], lineage: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    """A drawing in two layouts: `columns` with every node's columns, `names` with the heads alone.

    `nodes` lists nodes before their readers. A backward edge (a job that writes what an earlier one
    reads) has no points.
    """
    back = [(start, end) for start, end in edges if start >= end]
    forward = [(start, end) for start, end in edges if start < end]
    layouts = {}
    for name, gap, folded in (("columns", GAP_X, False), ("names", NARROW_GAP, True)):
        drawing = layout({index: _size(node, folded) for index, node in enumerate(nodes)}, forward, gap)
        boxes = [drawing.boxes[index] for index in range(len(nodes))]
        layouts[name] = {
            "boxes": [[box.x, box.y, box.width, box.height] for box in boxes],
            "points": [drawing.edges[edge] for edge in forward] + [[] for _ in back],
        }
    return {"nodes": list(nodes), "edges": forward + back, "lineage": lineage, "layouts": layouts}


def drawn_columns(columns: Sequence[Column]) -> list[dict[str, Any]]:
    return [
        {
            "name": column.name,
            "type": str(column.type),
            "nullable": column.nullable,
            "comment": column.comment or "",
        }
        for column in columns
    ]


def options_text(options: Mapping[str, object]) -> str:
    return "\n".join(f"{name} = {value}" for name, value in options.items())


def _node(node: AnyNode, compiled: Compiled) -> dict[str, Any]:
    return {
        "name": node.name, "plugin": plugin_of(node), "kind": type(node).__name__.lower(), "details": _details(node),
        "comment": description_of(node, compiled.job), "columns": drawn_columns(node.table.columns),
    }  # fmt: skip


def _size(node: Mapping[str, Any], folded: bool) -> tuple[float, float]:
    columns = node["columns"][:MOST]
    texts = [node["name"] + "     ", node["plugin"]]
    if not folded:
        texts += [f"{column['name']}   {column['type']}"[:LONGEST] for column in columns]
    rows = 0 if folded else len(columns) + (len(node["columns"]) > MOST)
    width = max(130.0, max(map(len, texts)) * CHARACTER + 2 * PADDING)
    return width, HEAD - 6 + (rows * LINE + PADDING + 6 if rows else 0)


def _details(node: AnyNode) -> str:
    match node:
        case Scan():
            return options_text(given(node.connector.source_options, node.options))
        case Query():
            return query_text(node)
        case Native():
            return options_text(given(node.plugin.options, node.options))
        case Union():
            return "UNION ALL"
        case Watermark():
            return f"{node.column}, {node.delay}" + (f", idle after {node.idle}" if node.idle else "")
        case Shuffle():
            how = f"\n{node.routing.strategy.value}: {node.routing.reason}" if node.routing else ""
            return f"by {node.column}: {', '.join(node.values)}{how}"
        case Expect() | Rejects():
            return "\n".join(map(str, node.rules))
        case Write():
            modes = f"{node.schema_save_mode.value}, {node.data_save_mode.value}, {node.write_mode.value}"
            return f"{modes}\n{options_text(given(node.connector.sink_options, node.options))}"
        case _:
            assert_never(node)


def _steps(node: AnyNode, keys: Mapping[AnyNode, int]) -> Iterator[tuple[int, str, int, str, str]]:
    """One step of lineage: node, column, the node it reads, its column, how. The dependency of a whole row is left
    out: it would highlight everything."""
    if isinstance(node, Query):
        inputs = {input.name.lower(): input.node for input in node.inputs}
        for step in node.analysis.lineage:
            if step.output is not None and (child := inputs.get(step.input.lower())) is not None:
                yield keys[node], step.output.lower(), keys[child], step.column.lower(), step.dependency.value
        return
    for child in children(node):
        known = {column.name.lower() for column in child.table.columns}
        for column in node.table.columns:
            if column.name.lower() in known:
                yield keys[node], column.name.lower(), keys[child], column.name.lower(), "identity"
