"""Opens a state directory for a command: on this machine's disk without Spark, elsewhere through a session."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from catalog.options import Options
from connectors.storage.paths import local_path
from engine.needs_spark import require_spark
from engine.state.layout import StateLayout, layout_at
from engine.state.state_dir import state_dir


@contextmanager
def state_store(
    chosen: str | None = None, job: Path | None = None, env: Options | None = None
) -> Iterator[StateLayout]:
    """The state directory that `state_dir` finds, in its file system."""
    state = state_dir(chosen, job, env)
    if local_path(state) is not None:
        yield layout_at(None, state)
        return
    require_spark(f"the state directory `{state}`")
    from engine.runtime.application import session_at

    with session_at(state) as spark:
        yield layout_at(spark, state)
