"""Whether a sink can do an interval again: its rows must take the place of those that the target has of it."""

import re
from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.types.datatypes import DATE
from connectors.interface.sink import AnySink
from engine.job.model.intervals import Grain, IntervalSpec
from engine.job.model.job import Block, Env
from engine.plan.nodes import Write

_REPEATABLE: Final = (WriteMode.OVERWRITE_PARTITIONS, WriteMode.REPLACE_WHERE, WriteMode.UPSERT)


def has_target(sink: AnySink) -> bool:
    """Whether rows stay where they are written, unlike those of `Console` and `Assert`."""
    return any(option.name == "data_save_mode" for option in sink.sink_options)


def with_condition(block: Block, conditions: tuple[str, ...], diagnostics: Diagnostics) -> Block:
    """The sink with `replace_where` for the interval, where its mode is that; a condition of the job must be the same.

    `conditions`: the ways to say it, the first of which is used.
    """
    options = block.options
    if str(options.get("write_mode") or "").lower() != WriteMode.REPLACE_WHERE.value:
        return block
    given = options.optional_string("replace_where")
    if given is not None and _plain(given) not in {_plain(condition) for condition in conditions}:
        message = "`replace_where` must be the condition of the interval, which a run does as a whole"
        help = f"leave it out: it is `{conditions[0]}`"
        diagnostics.error("PEN1653", message, options.span("replace_where"), help)
        return block
    return replace(block, options=replace(options, values={**options.values, "replace_where": conditions[0]}))


def _plain(condition: str) -> str:
    return re.sub(r"[\s`()]", "", condition).lower()


def check_writes(writes: tuple[Write, ...], env: Env, diagnostics: Diagnostics) -> None:
    """Report writes that would add the rows of an interval that is run again (PEN1652), or replace those of others."""
    if env.interval is None:
        return
    if writes and not any(has_target(write.connector) for write in writes):
        message = "no sink of the job has a target: which intervals are done cannot be known"
        diagnostics.error("PEN1652", message, writes[0].span, "leave `interval` out, or write to a target")
    for write in writes:
        if has_target(write.connector) and (problem := _problem(write, env.interval)) is not None:
            option, message, help = problem
            diagnostics.error("PEN1652", f"`{write.name}`: {message}", write.options.span(option), help)


def _problem(write: Write, spec: IntervalSpec) -> tuple[str, str, str] | None:
    """The option, what is wrong with it, and what to do."""
    replaces_all = write.data_save_mode is not DataSaveMode.APPEND_DATA
    if replaces_all or write.schema_save_mode is SchemaSaveMode.RECREATE_SCHEMA:
        option = "data_save_mode" if replaces_all else "schema_save_mode"
        value = write.data_save_mode.value if replaces_all else write.schema_save_mode.value
        message = f"`{option} = {value}` does not leave the rows of other intervals as they are"
        return option, message, "data_save_mode = APPEND_DATA, with a `write_mode` that replaces the interval"
    if write.write_mode not in _REPEATABLE:
        message = f"with `write_mode = {write.write_mode.value}`, an interval that is run again is there twice"
        return "write_mode", message, _modes(write)
    if write.write_mode is WriteMode.OVERWRITE_PARTITIONS and (problem := _partition_problem(write, spec)):
        return problem
    if spec.concurrency > 1 and not write.connector.sink_capabilities.commits_side_by_side:
        message = f"`{write.connector.name}` lets one run at a time write a target, and `concurrency` is more"
        return "write_mode", message, "leave `interval.concurrency` out"
    if spec.concurrency > 1 and write.uid is not None:
        message = "two runs of one `uid` cannot be made at once"
        return "uid", message, "leave `uid` out, or `interval.concurrency`"
    return None


def _modes(write: Write) -> str:
    can = write.connector.sink_capabilities.write_modes
    able = " or ".join(f"`write_mode = {mode.value}`" for mode in _REPEATABLE if mode in can)
    return f"use {able}" if able else f"`{write.connector.name}` can only add rows: write to another target"


def _partition_problem(write: Write, spec: IntervalSpec) -> tuple[str, str, str] | None:
    """A partition must be one interval: else one that has no rows any more would stay as it is."""
    by, column = write.options.strings("partition_by"), write.table.column(spec.column)
    other = "`write_mode = replace_where`" if WriteMode.REPLACE_WHERE in _can(write) else "`write_mode = upsert`"
    way_out = f"; or use {other}" if {WriteMode.REPLACE_WHERE, WriteMode.UPSERT} & set(_can(write)) else ""
    if [name.lower() for name in by] != [spec.column.lower()]:
        message = f"its partitions are not those of `{spec.column}`: one without rows would stay as it is"
        return "partition_by", message, f"partition_by = [{spec.column}]{way_out}"
    if column is None or column.type != DATE or spec.grain is not Grain.DAY:
        message = f"a partition must be one {spec.grain.value}: one without rows would stay as it is"
        return "partition_by", message, f"grain = day, with a `{spec.column}` of type date{way_out}"
    if spec.batch > 1:
        message = "one run of several days would leave a day without rows as it is"
        return "write_mode", message, f"leave `interval.batch` out{way_out}"
    return None


def _can(write: Write) -> tuple[WriteMode, ...]:
    return write.connector.sink_capabilities.write_modes
