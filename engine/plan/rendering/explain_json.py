"""A plan as JSON, for other programs."""

from catalog.exhaustive import assert_never
from catalog.options import Value
from catalog.tables.savemode import WritePreview
from engine.plan.nodes import (
    AnyNode,
    Expect,
    Native,
    PersistableNode,
    Plan,
    Query,
    Rejects,
    Scan,
    Shuffle,
    Union,
    Watermark,
    Write,
    children,
)
from engine.plan.rendering.explain_text import Starts, WritePreviews, caveats
from engine.plan.shown_options import given
from engine.plan.staged_rules import staged_rules
from sql.rewrite.select_query import Select


def to_json(plan: Plan, *, previews: WritePreviews | None = None, starts: Starts | None = None) -> dict[str, Value]:
    """The plan for other programs: nodes, inputs before their readers, with types as Spark prints them."""
    nodes: list[Value] = [_node_json(node, previews or {}, starts or {}) for node in plan.nodes()]
    return {"job": plan.env.name, "accelerator": plan.env.accelerator.value, "nodes": nodes}


def _node_json(node: AnyNode, previews: WritePreviews, starts: Starts) -> Value:
    common: dict[str, Value] = {
        "id": node.id,
        "name": node.name,
        "kind": type(node).__name__.lower(),
        "inputs": [child.id for child in children(node)],
        "columns": [{"name": c.name, "type": str(c.type), "nullable": c.nullable} for c in node.table.columns],
        "columns_known": not node.table.is_open,
    }
    if isinstance(node, PersistableNode) and (persisted := node.persisted):
        common["persisted"] = {"cache": persisted.cache.value, "readers": persisted.readers, "reason": persisted.reason}
    return common | _own_json(node, previews, starts)


def _own_json(node: AnyNode, previews: WritePreviews, starts: Starts) -> dict[str, Value]:
    match node:
        case Scan():
            return {
                "plugin": node.connector.name,
                "options": given(node.connector.source_options, node.options),
                "columns_read": None if node.columns is None else list(node.columns),
                "filters": list(node.filters),
                "watermark": since.after.value if (since := starts.get(node.name)) and since.after else None,
            }
        case Query():
            body = node.body.to_sql() if isinstance(node.body, Select) else node.body.value
            return {"plugin": node.kind, "sql": body, "input_names": [input.name for input in node.inputs]}
        case Native():
            return {"plugin": node.plugin.name, "options": given(node.plugin.options, node.options)}
        case Union():
            return {}
        case Watermark():
            return {"column": node.column, "delay": node.delay, **({"idle": node.idle} if node.idle else {})}
        case Shuffle():
            routing: Value = None
            if node.routing is not None:
                routing = {"strategy": node.routing.strategy.value, "reason": node.routing.reason}
            return {"column": node.column, "values": list(node.values), "routing": routing}
        case Expect() | Rejects():
            return {"rules": [str(rule) for rule in node.rules]}
        case Write():
            return {
                "plugin": node.connector.name,
                "options": given(node.connector.sink_options, node.options),
                "schema_save_mode": node.schema_save_mode.value,
                "data_save_mode": node.data_save_mode.value,
                "write_mode": node.write_mode.value,
                "staged": node.connector.sink_capabilities.is_staged,
                "rules_on_staged_rows": [rule.name for rule in staged_rules(node)],
                "caveats": list(caveats(node, previews)),
                **_preview_json(previews.get(node.id)),
            }
        case _:
            assert_never(node)


def _preview_json(preview: WritePreview | None) -> dict[str, Value]:
    if preview is None:
        return {"actions": None, "target": None, "staging_statements": None, "statements": None}
    state = preview.state
    columns: list[Value] = [{"name": c.name, "type": str(c.type)} for c in state.table.columns] if state.table else []
    return {
        "actions": [action.value for action in preview.actions],
        "target": {"exists": state.exists, "has_rows": state.has_rows, "columns": columns},
        "staging_statements": list(preview.staging_statements),
        "statements": list(preview.statements),
    }
