"""Other processes of Python for a part of a command: how they are started, and work in another folder."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, SpawnContext

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def process_context() -> "ForkContext | SpawnContext":
    """Fork, which saves the imports, if it is safe: not on macOS, nor with threads."""
    import multiprocessing  # imported here: a single job does not need it

    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # else the folder of the jobs is searched for Python's own modules
    return multiprocessing.get_context("spawn")


def in_folder(
    folder: Path, work: Callable[_Parameters, _Result], *arguments: _Parameters.args, **named: _Parameters.kwargs
) -> _Result:
    """What `work`, a function of a module, returns in a process of its own, whose current folder is that one: the paths
    in jobs are relative to it, and the folder of a process is not for a library to change.

    Arguments and the result are copied; so are errors, which are raised here.
    """
    from concurrent.futures import ProcessPoolExecutor  # imported here: rare

    with ProcessPoolExecutor(1, process_context(), _begin, (folder,)) as processes:
        return processes.submit(work, *arguments, **named).result()


def _begin(folder: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the command ends this process
    os.chdir(folder)
