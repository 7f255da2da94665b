"""A plan as a Mermaid flowchart, which many pages show as a drawing."""

from catalog.diagnostics.shown_names import shown_name
from catalog.exhaustive import assert_never
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


def to_mermaid(plan: Plan) -> str:
    """The plan as a Mermaid flowchart, sources on the left."""
    nodes = list(plan.nodes())
    keys = {node: f"n{index}" for index, node in enumerate(nodes, 1)}
    boxes = [f"  {keys[node]}{_box(node)}" for node in nodes]
    edges = [f"  {keys[child]} --> {keys[node]}" for node in nodes for child in children(node)]
    return "\n".join(["flowchart LR", *boxes, *edges]) + "\n"


def _box(node: AnyNode) -> str:
    label = f'"{_escaped(node.name)}<br/><small>{_escaped(plugin_of(node))}</small>"'
    match node:
        case Scan() | Write():
            return f"[({label})]"
        case Query() | Native() | Union() | Expect() | Rejects() | Watermark() | Shuffle():
            return f"[{label}]"
        case _:
            assert_never(node)


def _escaped(text: str) -> str:
    return shown_name(text).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
