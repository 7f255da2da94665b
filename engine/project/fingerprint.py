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
from catalog.types.typenames import to_ddl
from engine.compile import Compiled
from engine.plan.ids import content_of
from engine.plan.nodes import AnyNode, Query, Scan, Write, children
from engine.plan.shown_options import shown
from engine.project.used_columns import used_columns
from sql.meaning import meaning

_OF_SETTINGS: Final = ("job.mode", "stream.trigger")
"""The settings of `env` that change what is written."""


def fingerprint(compiled: Compiled) -> str:
    plan, env = compiled.built, compiled.built.env
    hashes: dict[AnyNode, str] = {}
    used = used_columns(plan)
    for node in plan.nodes():
        hashes[node] = _hash([_content(node, used), [hashes[child] for child in children(node)]])
    settings: Value = {name: env.options.get(name) for name in _OF_SETTINGS} if env.options else {}
    spark: Value = {name: str(value) for name, value in redacted_mapping(env.spark).items() if "spark.sql." in name}
    writes: Value = sorted(hashes[write] for write in plan.writes)
    return _hash([writes, env.dialect, settings, spark])


def _content(node: AnyNode, used: Mapping[AnyNode, frozenset[str]]) -> Value:
    if isinstance(node, Scan):
        return [
            "scan",
            node.connector.name,
            _given(node.connector.source_options, node.options),
            _columns(node, used[node]),
        ]
    if isinstance(node, Write):
        modes: list[Value] = [node.schema_save_mode.value, node.data_save_mode.value, node.write_mode.value]
        return ["write", node.connector.name, _given(node.connector.sink_options, node.options), modes]
    if isinstance(node, Query) and isinstance(node.body, PlacedText):
        tables = {input.name: input.node.table for input in node.inputs}
        text: Value = meaning(node.body.value, tables) or node.analysis.fingerprint
        return ["query", text, [column.name for column in node.table.columns]]
    return content_of(node)


def _columns(scan: Scan, used: frozenset[str]) -> Value:
    """The columns that the job uses, whatever their order."""
    columns = [column for column in scan.table.columns if column.name.lower() in used]
    return {column.name.lower(): [to_ddl(column.type), column.nullable] for column in columns}


def _given(spec: tuple[Option, ...], options: Options) -> Value:
    """The options that differ from their defaults; the columns of a source are its table's."""
    defaults = {option.name: option.default for option in spec}
    own = shown(options)
    return {name: value for name, value in own.items() if name != "schema" and value != defaults.get(name)}


def _hash(value: Value) -> str:
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
