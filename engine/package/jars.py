"""The jars that packaged jobs need: spark-submit fetches them before the jobs can name them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.load import load_file
from engine.job.model.job import Accelerator, Block, BlockKind
from engine.job.model.settings import Settings
from engine.plan.query_jars import jars_of_text

_SETTINGS: Final = Settings(limits_process=True)


def packaged_jars(jobs: Iterable[Path]) -> tuple[str, ...]:
    """Maven coordinates of the jars, each once; variables of the jobs need not have values yet.

    Those with a `?` are added when a job runs, without what they depend on: spark-submit would fetch that too.
    """
    return tuple(dict.fromkeys(jar for job in jobs for block in _blocks(job) for jar in _jars(block)))


def is_accelerated(jobs: Iterable[Path]) -> bool:
    """Whether one of the jobs asks for the accelerator Comet."""
    loaded = (load_file(job, Diagnostics(), _SETTINGS) for job in jobs)
    return any(job is not None and job.env.accelerator is Accelerator.COMET for job in loaded)


def _blocks(job: Path) -> Iterator[Block]:
    loaded = load_file(job, Diagnostics(), _SETTINGS)
    yield from loaded.blocks if loaded else ()


def _jars(block: Block) -> tuple[str, ...]:
    """The jars of the block's connector; those of any of its blocks where this one's options are not known yet."""
    if block.kind is BlockKind.TRANSFORM:
        query = block.options.get("query") if block.options.is_valid else None
        return jars_of_text(query) if isinstance(query, str) else ()
    connector = {BlockKind.SOURCE: connectors.source, BlockKind.SINK: connectors.sink}.get(block.kind)
    found = connector(block.plugin) if connector else None
    if found is None:
        return ()
    return tuple(found.jars(block.options) if block.options.is_valid else found.maven)
