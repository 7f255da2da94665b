"""Run a job in a process of its own, which goes on when the command and its terminal have ended."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import sleep
from typing import Final

from catalog.diagnostics.diagnostic import job_error, run_error
from connectors.storage.paths import local_path
from engine.compile import Compiled
from engine.state import ledger
from engine.state.layout import layout_at

_POLL_SECONDS: Final = 0.2
_PROGRAM: Final = (
    f"import sys; sys.path[0] = {str(Path(__file__).parents[2])!r}; from engine.cli import main; sys.exit(main())"
)
"""`-m` would search the current folder for modules first."""


def run_in_background(compiled: Compiled, run_id: str, words: Sequence[str]) -> int:
    """Start `penstock` with these arguments, and return 0 once its run is recorded, else its exit code.

    Raises PEN2011 where the state directory is not on this machine: what the process prints is kept there.
    """
    if local_path(compiled.state_dir) is None:
        message = f"`--async` keeps what the run prints in the state directory: `{compiled.state_dir}` is remote"
        raise job_error("PEN2011", message, None, "start the command in the background of the shell")
    layout = layout_at(None, compiled.state_dir)
    layout.mark()
    before = ledger.find(layout, run_id)  # of an earlier run of the same id
    output = Path(layout.output(run_id))
    output.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with output.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *words],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    while process.poll() is None and ledger.find(layout, run_id) == before:
        sleep(_POLL_SECONDS)
    if ledger.find(layout, run_id) != before:
        print(f"run {run_id} is running in process {process.pid}; it prints to {output}")
        print(f"`penstock wait {run_id}` waits for its end")
        return 0
    printed = output.read_text(encoding="utf-8", errors="replace")
    if process.returncode == 0:  # nothing was to do
        print(printed, end="")
        return 0
    raise run_error("PEN5055", f"the run did not begin: {printed.strip() or process.returncode}", None, f"see {output}")
