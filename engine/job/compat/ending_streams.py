"""Streaming jobs of Apache SeaTunnel's whose sources come to an end."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.model.job import Block, BlockKind, Env

_ENDING: Final = ("fakesource", "jdbc")
"""Sources that yield their rows once there, also with `job.mode = STREAMING`: `FakeSource` then waits for ever, with
`Jdbc` the job ends."""


def with_ending_streams(env: Env, blocks: Sequence[Block], diagnostics: Diagnostics) -> Env:
    """The settings with `BATCH` for a streaming job that reads only sources which yield their rows once."""
    plugins = {block.plugin.lower() for block in blocks if block.kind is BlockKind.SOURCE}
    if env.mode != "STREAMING" or env.options is None or not plugins or not plugins.issubset(_ENDING):
        return env
    message = "the job runs as a batch job: no source of it yields rows that arrive later"
    diagnostics.warning("PEN2030", message, env.options.span("job.mode"), 'write `job.mode = "BATCH"`')
    return replace(env, mode="BATCH")
