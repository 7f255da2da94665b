"""Time Penstock's runs beside the same work written by hand in PySpark, as whole processes in turn.

    python benchmarks/running/measure.py [RUNS]

For each job the best of RUNS (default 3) is printed: wall-clock and CPU seconds of the process with its JVM, also net
of a process that only starts and stops a Spark session, and the ratio of Penstock's to the hand-written one's. Linux.
"""

import ctypes
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PR_SET_CHILD_SUBREAPER = 36
BY_HAND = [sys.executable, str(ROOT / "benchmarks" / "running" / "by_hand.py")]
PENSTOCK = [sys.executable, "-m", "engine.cli", "run", "--master", "local[2]"]
JOBS = {
    "flights": ROOT / "examples" / "flights" / "flights.conf",
    "synthetic": ROOT / "benchmarks" / "running" / "synthetic.conf",
}


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.wall - other.wall, self.cpu - other.cpu)


def cost(command: list[str], work: Path) -> Cost:
    """Seconds of one run until its process ends; CPU time also of the JVM, which ends a moment later.

    Services that were started before it, such as a broker, are not waited for.
    """
    services = _children()
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(os.open(work / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.chdir(ROOT)
        os.environ["PENSTOCK_STATE_DIR"] = str(work / "state")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.execv(command[0], command)
    _, status, usage = os.wait4(child, 0)
    wall, cpu = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{(work / 'log').read_text()}")
    while left := _children() - services:
        for process in left:
            _, _, usage = os.wait4(process, 0)
            cpu += usage.ru_utime + usage.ru_stime
    return Cost(wall, cpu)


def _children() -> set[int]:
    """The processes that this one waits for, also those whose own parent has ended."""
    return {
        int(process)
        for task in Path("/proc/self/task").iterdir()
        for process in (task / "children").read_text().split()
    }


def reap_grandchildren() -> None:
    """Have the JVM become ours to wait for when the process that started it has ended."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def best(costs: list[Cost]) -> Cost:
    return Cost(min(cost.wall for cost in costs), min(cost.cpu for cost in costs))


def main() -> None:
    reap_grandchildren()
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        cost([*BY_HAND, "generate", str(work)], work)
        session = best([cost([*BY_HAND, "session"], work) for _ in range(runs)])
        print(f"session alone: {session.wall:.1f} s, CPU {session.cpu:.1f} s")
        for name, job in JOBS.items():
            data, out = str(work if name == "synthetic" else job.parent / "data"), str(work / name)
            ours: list[Cost] = []
            theirs: list[Cost] = []
            for _ in range(runs):  # in turn, so that a busy moment hits both
                theirs.append(cost([*BY_HAND, name, data, out], work))
                shutil.rmtree(out)
                ours.append(cost([*PENSTOCK, str(job), "-i", f"data={data}", "-i", f"out={out}"], work))
                shutil.rmtree(out)
            show(name, best(ours), best(theirs), session)


def show(name: str, ours: Cost, theirs: Cost, session: Cost) -> None:
    for label, mine, other in (("whole process", ours, theirs), ("net of session", ours - session, theirs - session)):
        print(
            f"{name}, {label}: penstock {mine.wall:.1f} s, by hand {other.wall:.1f} s, "
            f"ratio {mine.wall / other.wall:.2f}; "
            f"CPU {mine.cpu:.1f} s, {other.cpu:.1f} s, ratio {mine.cpu / other.cpu:.2f}"
        )


if __name__ == "__main__":
    main()
