"""Runs commands each in a process of its own, with limits of time and memory, as the program `penstock` does.

One process imports Penstock once and divides for each command: that takes milliseconds, where a new one takes a second.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADDRESSES = 3 << 30
"""Bytes of address space that a command may have."""
PROCESSOR_SECONDS, WALL_SECONDS = 30, 120
WARM = "source { FakeSource { schema { fields { a = int } } } }\nsink { Console { } }\n"


@dataclass(frozen=True)
class Ended:
    """The exit code (negative: ended by that signal), what was printed, seconds of the processor, and megabytes."""

    code: int
    shown: str
    seconds: float
    megabytes: float


class OwnProcess:
    """Starts the process from which the others are divided; `close` ends it."""

    def __init__(self) -> None:
        program = f"import sys; sys.path[0] = {str(ROOT)!r}; from tests.security.own_process import serve; serve()"
        self.server = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )

    def run(self, words: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Ended:
        request = {"words": list(words), "folder": str(folder), "environment": {**(environment or {})}}
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        return Ended(**json.loads(self.server.stdout.readline()))

    def close(self) -> None:
        self.server.stdin.close()
        self.server.wait()
        self.server.stdout.close()


@contextmanager
def own_process() -> Iterator[OwnProcess]:
    found = OwnProcess()
    try:
        yield found
    finally:
        found.close()


def serve() -> None:
    """Answer a line of JSON for each request, until there is none."""
    from engine.cli import main

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is printed here is no answer
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "job.conf").write_text(WARM)
        for command in ("validate", "explain"):
            with open(os.devnull, "w", encoding="utf-8") as nowhere:
                _, sys.stdout = sys.stdout, nowhere
                main([command, f"{folder}/job.conf"])
                sys.stdout = sys.__stdout__
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(_answer(**request)) + "\n")
        answers.flush()


def _answer(words: Sequence[str], folder: str, environment: Mapping[str, str]) -> dict[str, object]:
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            _carry_out(words, folder, environment, output.fileno())
        status, used = _waited(child)
        output.seek(0)
        shown = output.read().decode(errors="replace")
    return {
        "code": os.waitstatus_to_exitcode(status), "shown": shown, "seconds": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1024,
    }  # fmt: skip


def _carry_out(words: Sequence[str], folder: str, environment: Mapping[str, str], output: int) -> None:
    code = 99
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for theirs, ours in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(theirs, ours)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
        os.environ.update(environment)
        os.chdir(folder)
        sys.argv = ["penstock", *words]
        from engine.cli import main

        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _waited(child: int) -> tuple[int, resource.struct_rusage]:
    ends = time.monotonic() + WALL_SECONDS
    while True:
        found, status, used = os.wait4(child, os.WNOHANG)
        if found:
            return status, used
        if time.monotonic() > ends:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.002)
