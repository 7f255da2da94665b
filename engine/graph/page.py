"""A plan before and after the rules as one HTML file: boxes, columns with types, lineage at a click."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from catalog.exhaustive import assert_never
from engine.graph.layout import layout
from engine.plan.nodes import AnyNode, Expect, Native, Plan, Query, Rejects, Scan, Union, Write, children, plugin_of
from engine.plan.option_values import given
from engine.plan.rendering.explain_text import query_text

CHARACTER, LINE, HEAD, PADDING, MOST = 7.0, 18.0, 44.0, 10.0, 40


def to_page(built: Plan, optimized: Plan) -> str:
    """The page; it needs nothing but itself."""
    data = {"job": built.env.name, "plans": {"before the rules": _drawn(built), "after the rules": _drawn(optimized)}}
    text = json.dumps(data, ensure_ascii=False).replace("</", "<\\/").replace("\u2028", "\\u2028")
    page = files("engine.graph").joinpath("page.html").read_text(encoding="utf-8")
    return page.replace("/*TITLE*/", _escaped(built.env.name)).replace("/*DATA*/", text)


def _drawn(plan: Plan) -> dict[str, Any]:
    nodes = list(plan.nodes())
    keys = {node: index for index, node in enumerate(nodes)}
    edges = list(dict.fromkeys((keys[child], keys[node]) for node in nodes for child in children(node)))
    drawing = layout({keys[node]: _size(node) for node in nodes}, edges)
    return {
        "width": drawing.width,
        "height": drawing.height,
        "nodes": [_node(node, drawing.boxes[keys[node]]) for node in nodes],
        "edges": [{"from": start, "to": end, "points": drawing.edges[start, end]} for start, end in edges],
        "lineage": [list(step) for node in nodes for step in _steps(node, keys)],
    }


def _node(node: AnyNode, box: Any) -> dict[str, Any]:
    return {
        "x": box.x, "y": box.y, "w": box.width, "h": box.height, "name": node.name, "plugin": plugin_of(node),
        "kind": type(node).__name__.lower(), "details": _details(node),
        "columns": [
            {"name": column.name, "type": str(column.type), "nullable": column.nullable}
            for column in node.table.columns[:MOST]
        ],
        "more": max(0, len(node.table.columns) - MOST),
    }  # fmt: skip


def _size(node: AnyNode) -> tuple[float, float]:
    columns = node.table.columns[:MOST]
    texts = [node.name + "  ", plugin_of(node), *(f"{column.name}   {column.type}"[:64] for column in columns)]
    rows = len(columns) + (len(node.table.columns) > MOST)
    return max(130.0, max(map(len, texts)) * CHARACTER + 2 * PADDING), HEAD + rows * LINE + (PADDING if rows else 0)


def _details(node: AnyNode) -> str:
    match node:
        case Scan():
            return _options(given(node.connector.source_options, node.options))
        case Query():
            return query_text(node)
        case Native():
            return _options(given(node.plugin.options, node.options))
        case Union():
            return "UNION ALL"
        case Expect() | Rejects():
            return "\n".join(map(str, node.rules))
        case Write():
            modes = f"{node.schema_save_mode.value}, {node.data_save_mode.value}, {node.write_mode.value}"
            return f"{modes}\n{_options(given(node.connector.sink_options, node.options))}"
        case _:
            assert_never(node)


def _options(options: Mapping[str, object]) -> str:
    return "\n".join(f"{name} = {value}" for name, value in options.items())


def _steps(node: AnyNode, keys: Mapping[AnyNode, int]) -> Iterator[tuple[int, str, int, str, str]]:
    """One step of lineage: node, column, the node it reads, its column, how. A whole row's dependency is left out:
    it would light up everything."""
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


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
