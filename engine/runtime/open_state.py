"""Opens a state directory for a command: on this machine's disk without Spark, elsewhere through a session."""

from collections.abc import Iterator
from contextlib import contextmanager

from connectors.storage.paths import local_path
from engine.needs_spark import require_spark
from engine.state.layout import StateLayout, layout_at


@contextmanager
def open_state(directory: str) -> Iterator[StateLayout]:
    """The state directory in its file system."""
    if local_path(directory) is not None:
        yield layout_at(None, directory)
        return
    require_spark(f"the state directory `{directory}`")
    from engine.runtime.application import session_at

    with session_at(directory) as spark:
        yield layout_at(spark, directory)
