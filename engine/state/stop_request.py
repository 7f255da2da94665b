"""How another process asks a stream to stop: a file in the run's folder of the state directory."""

from engine.state.layout import StateLayout


def request_stop(layout: StateLayout, run_id: str) -> None:
    layout.files.write(layout.run(run_id).stop, "")


def is_stop_requested(layout: StateLayout, run_id: str) -> bool:
    return layout.files.exists(layout.run(run_id).stop)
