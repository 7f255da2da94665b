"""The fingerprint of a job: equal for jobs that mean the same, whatever their text looks like.

Names of blocks, comments, the order of blocks and options, the layout of queries and the case of their keywords, and
aliases that reach no output are not part of it. Sensitive options are not, either: with a new password it is the same
job.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from catalog.diagnostics.source import PlacedText
from catalog.options import Option, Options, Value
from catalog.secret_names import redacted_mapping
from catalog.types.typenames import ddl_or_unknown
from engine.plan.ids import content_of
from engine.plan.meaning.used_columns import used_columns
from engine.plan.nodes import AnyNode, Plan, Query, Scan, Write, children
from engine.plan.shown_options import shown
from sql.meaning import meaning

_OF_SETTINGS: Final = ("job.mode", "stream.trigger")
"""The settings of `env` that change what is written."""


def fingerprint(plan: Plan) -> str:
    """That of a plan before the optimizer's rules."""
    hashes = node_hashes(plan)
    writes: Value = sorted(hashes[write] for write in plan.writes)
    return hashed([writes, plan.env.dialect, _settings(plan), sql_settings(plan)])


def node_hashes(plan: Plan) -> Mapping[AnyNode, str]:
    """The fingerprint of each node, with what is below it."""
    hashes: dict[AnyNode, str] = {}
    used = used_columns(plan)
    for node in plan.nodes():
        hashes[node] = hashed([content(node, used), [hashes[child] for child in children(node)]])
    return hashes


def _settings(plan: Plan) -> Value:
    env = plan.env
    if not env.options:
        return {}
    policy = env.options.get("stream.watermark_policy")
    return {**{name: env.options.get(name) for name in _OF_SETTINGS}, **({"policy": policy} if policy else {})}


def sql_settings(plan: Plan) -> dict[str, Value]:
    """The settings of Spark SQL, without secrets."""
    return {name: str(value) for name, value in redacted_mapping(plan.env.spark).items() if "spark.sql." in name}


def content(node: AnyNode, used: Mapping[AnyNode, frozenset[str]]) -> Value:
    """What a node does, without its inputs."""
    if isinstance(node, Scan):
        return [
            "scan",
            node.connector.name,
            given_options(node.connector.source_options, node.options),
            _columns(node, used[node]),
            *([str(node.table.path)] if node.table_set else []),
        ]
    if isinstance(node, Write):
        modes: list[Value] = [node.schema_save_mode.value, node.data_save_mode.value, node.write_mode.value]
        return ["write", node.connector.name, given_options(node.connector.sink_options, node.options), modes]
    if isinstance(node, Query) and isinstance(node.body, PlacedText):
        tables = {input.name: input.node.table for input in node.inputs}
        text: Value = meaning(node.body.value, tables) or node.analysis.fingerprint
        return ["query", text, [column.name for column in node.table.columns]]
    return content_of(node)


def _columns(scan: Scan, used: frozenset[str]) -> Value:
    """The columns that the job uses, whatever their order. A type that is only known when the job runs is `unknown`."""
    columns = [column for column in scan.table.columns if column.name.lower() in used]
    return {column.name.lower(): [ddl_or_unknown(column.type), column.nullable] for column in columns}


def given_options(spec: tuple[Option, ...], options: Options) -> dict[str, Value]:
    """The options that differ from their defaults; the columns of a source are its table's."""
    defaults = {option.name: option.default for option in spec}
    own = shown(options)
    return {name: value for name, value in own.items() if name != "schema" and value != defaults.get(name)}


def hashed(value: Value) -> str:
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
