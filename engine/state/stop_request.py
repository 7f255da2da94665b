"""How another process asks a stream to stop: a file in the run's folder of the state directory."""

from connectors.storage.filesystem import Files


def request_stop(files: Files, root: str, run_id: str) -> None:
    files.write(f"{root}/runs/{run_id}/stop", "")


def is_stop_requested(files: Files, root: str, run_id: str) -> bool:
    return files.exists(f"{root}/runs/{run_id}/stop")
