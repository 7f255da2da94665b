"""Staged files and a table that another program changed since they were written: whether they still fit it, and which
schema the commit gives it.

Delta's own writers find such changes by the version that they read. Here the transaction begins at the commit.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from connectors.delta import table_schema

_MAPPING: Final = "delta.columnMapping.mode"
_HARMLESS: Final = ("comment", "CURRENT_DEFAULT", "EXISTS_DEFAULT")
_COMPUTED: Final = ("delta.generationExpression", "delta.identity.start")


def relied_on(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What staged files rely on in Delta's `metaData` action: columns, partitions, constraints, column mapping."""
    configuration = metadata.get("configuration", {})
    return {
        "fields": [_essence(field) for field in json.loads(metadata["schemaString"])["fields"]],
        "partitions": list(metadata.get("partitionColumns", ())),
        "constraints": table_schema.constraints(metadata, ()),
        "mapping": configuration.get(_MAPPING, "none"),
    }


def is_changed(before: Mapping[str, Any], current: Mapping[str, Any]) -> bool:
    """Whether files that were written for a table (`before`, by `relied_on`) do not fit its `metaData` action any more.

    They fit where only columns were added that may be NULL.
    """
    now = relied_on(current)
    if any(before[key] != now[key] for key in ("partitions", "constraints", "mapping")):
        return True
    known = _by_name(now["fields"])
    added = [field for name, field in known.items() if name not in _by_name(before["fields"])]
    is_kept = all(known.get(name) == field for name, field in _by_name(before["fields"]).items())
    return not is_kept or not all(map(_may_be_missing, added))


def metadata_to_commit(staged: str, before: Mapping[str, Any], current: Mapping[str, Any]) -> str | None:
    """The `metaData` action that changes the columns as the staged one does, and keeps those that another program
    added; None where both changed the same column, or where columns are mapped by numbers, which would be given
    twice."""
    wanted = json.loads(staged)["metaData"]
    if before["mapping"] != "none":
        return staged if before == relied_on(current) else None
    if is_changed(before, current):
        return None
    old, known = _by_name(before["fields"]), _by_name(json.loads(current["schemaString"])["fields"])
    ours = _by_name(json.loads(wanted["schemaString"])["fields"])
    ours = {name: field for name, field in ours.items() if _essence(field) != old.get(name)}
    if any(name in known and name not in old and _essence(known[name]) != _essence(ours[name]) for name in ours):
        return None
    configuration = {**wanted.get("configuration", {}), **current.get("configuration", {})}
    schema = json.dumps({"type": "struct", "fields": list({**known, **ours}.values())})
    return json.dumps({"metaData": {**current, "schemaString": schema, "configuration": configuration}})


def _essence(field: Mapping[str, Any]) -> dict[str, Any]:
    """A column without what changes no file: its comment and its default."""
    about = {key: value for key, value in field.get("metadata", {}).items() if key not in _HARMLESS}
    return {**field, "metadata": about}


def _by_name(fields: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {field["name"].lower(): field for field in fields}


def _may_be_missing(field: Mapping[str, Any]) -> bool:
    return bool(field.get("nullable", True)) and not any(key in field.get("metadata", {}) for key in _COMPUTED)
