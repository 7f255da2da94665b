"""Runs a job and kills its own processes, Python and Java, beside a step of the commit:
`python -m tests.connectors.jdbc.killed_commit JOB STATE_DIR RUN_ID before|after`."""

import os
import signal
import sys

from connectors.jdbc.writing.commit import _OpenTransaction
from engine.cli import main


def kill() -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


def run(job: str, state_dir: str, run_id: str, instant: str) -> None:
    """Die when the run has decided to commit: `before` the database commits its transaction, or right `after`."""
    finish = _OpenTransaction.finish

    def finish_and_die(transaction: _OpenTransaction) -> None:
        if instant == "after":
            finish(transaction)
        kill()

    _OpenTransaction.finish = finish_and_die  # type: ignore[method-assign]
    main(["run", job, "--state-dir", state_dir, "--run-id", run_id])


if __name__ == "__main__":
    run(*sys.argv[1:])
