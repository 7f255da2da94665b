"""Reads back what a sink has written."""

from collections.abc import Iterator
from dataclasses import replace

import connectors
from catalog.diagnostics.diagnostic import job_error
from catalog.options import Options
from engine.compile import Compiled
from engine.job.model.job import Env
from engine.plan.intervals.interval_writes import has_target
from engine.plan.nodes import Plan, Scan, Write

_EXACT = ("Delta", "Iceberg", "Paimon", "Table")
_EXACT_FORMATS = ("parquet", "orc")


def target_scans(compiled: Compiled) -> dict[str, Scan]:
    """A source for each target of the job, by the name of its write. Raises a `JobError` PEN1663 where the rows do not
    come back as they were written, as from a text or a database."""
    return {write.name: _scan(write) for write in _targets(compiled)}


def keys_of(compiled: Compiled, name: str) -> tuple[str, ...]:
    """The primary key of the rows of a write; empty where it has none."""
    write = next(write for write in _targets(compiled) if write.name == name)
    key = write.table.schema.primary_key
    return write.options.strings("primary_keys") or (key.columns if key else ())


def plan_of(env: Env, scans: dict[str, Scan]) -> Plan:
    """A plan that reads the targets."""
    return Plan(env, (), tuple(scans.values()))


def _targets(compiled: Compiled) -> Iterator[Write]:
    return (write for write in compiled.built.writes if has_target(write.connector))


def _scan(write: Write) -> Scan:
    source, form = connectors.source(write.connector.name), str(write.options.get("file_format_type") or "").lower()
    if source is None or (source.name not in _EXACT and form not in _EXACT_FORMATS):
        message = f"the rows of `{write.name}` do not come back with the types that they were written with"
        help = "Parquet, ORC, Delta, Iceberg and Paimon can be compared"
        raise job_error("PEN1663", message, write.span, help)
    given = write.options
    values = {option.name: given.values.get(option.name, option.default) for option in source.source_options}
    places = {name: place for name, place in given.places.items() if name in values}
    options = source.completed(Options(values, given.block, places, {}, given.sensitive))
    return Scan(write.name, source, replace(options, is_valid=True), write.table, span=write.span)
