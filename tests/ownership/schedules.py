"""Seeded schedules of real drivers that run, end and dismiss runs of the same targets, stopped and killed at chosen
changes: their rows must be exact at the end, and nobody stuck.

Each driver (`driver`) has a Spark session of its own, and but for the first one, a host name and a namespace of process
numbers of its own (`unshare`). A driver that is stopped has SIGSTOP for all of its processes, Java among them. A seed
says all that happens, but for what the kernel decides.
"""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connectors.commits.leases import SECONDS_VARIABLE
from tests.connectors.stored_rows import Rows, delta_rows, iceberg_rows, paimon_rows, parquet_rows

LEASE_SECONDS = 2.0
IDS = (1, 2, 3)
FIELDS = "schema { fields { id = int, version = int } }"
MODES = {
    "append": "data_save_mode = APPEND_DATA",
    "replace": "data_save_mode = DROP_DATA",
    "upsert": "write_mode = upsert, primary_keys = [id]",
}
KINDS = ("files", "delta", "iceberg", "paimon", "postgres", "mariadb", "s3")
WITHOUT_KEYS = ("files", "s3", "paimon")
CHANGES = 32
"""About how many a run makes, whatever its target."""
FIRST, SECOND, LAST = 1, 2, 9
"""What the rows of the two runs and of the last one say."""


class Driver:
    """A process that does what it is asked; `text`: the end of its log."""

    def __init__(self, folder: Path, number: int, settings: dict[str, Any]) -> None:
        self.log = folder / f"driver-{number}-{time.monotonic_ns()}.log"
        words = [sys.executable, "-m", "tests.ownership.driver", str(self.log), json.dumps(settings)]
        if number and os.geteuid() == 0:
            named = ["sh", "-c", f'hostname host-{number} && exec "$@"', "sh", *words]
            words = ["unshare", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc", *named]
        environment = {**os.environ, SECONDS_VARIABLE: str(LEASE_SECONDS), "SPARK_LOCAL_IP": "127.0.0.1"}
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
        )
        self.buffer = b""
        self.is_ready = False

    def ask(self, arguments: Sequence[str], chosen: int = 0) -> None:
        if not self.is_ready:
            assert self.answer(180) == "ready", self.text()
            self.is_ready = True
        self._send(json.dumps([list(arguments), chosen]))

    def answer(self, seconds: float) -> str:
        """The next line; raises AssertionError with what it printed if none comes."""
        until = time.monotonic() + seconds
        out = self.process.stdout
        assert out is not None
        while b"\n" not in self.buffer:
            left = max(until - time.monotonic(), 0)
            assert select.select([out], [], [], left)[0], f"stuck: {self.text()}"
            read = os.read(out.fileno(), 65536)
            assert read, f"it has ended: {self.text()}"
            self.buffer += read
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.killpg(self.process.pid, signal.SIGCONT)
        self._send("go")

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def text(self) -> str:
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else "nothing"


@dataclass(eq=False)
class Drivers:
    """Drivers to be had; one that was killed is replaced, and starts while others work."""

    folder: Path
    settings: dict[str, Any]
    idle: list[tuple[int, Driver]] = field(default_factory=list)

    def fill(self, count: int) -> None:
        for number in range(count):
            self.add(number)

    def add(self, number: int) -> None:
        self.idle.append((number, Driver(self.folder, number, self.settings)))

    def take(self) -> tuple[int, Driver]:
        return self.idle.pop(0)

    def give(self, number: int, driver: Driver) -> None:
        self.idle.append((number, driver))

    def close(self) -> None:
        for _, driver in self.idle:
            driver.kill()


@dataclass(frozen=True)
class World:
    """The servers, and how a target of each kind is named and read. `place`: the folder of a schedule."""

    postgres: Any
    mariadb: Any
    bucket: Any

    def state(self, place: Path, kind: str) -> str:
        return f"{self.bucket}/{place.name}/state" if kind == "s3" else str(place / "state")

    def sink(self, place: Path, kind: str, mode: str) -> str:
        match kind:
            case "files" | "s3":
                path = f"{self.bucket}/{place.name}/t" if kind == "s3" else f"{place}/t"
                name = "S3File" if kind == "s3" else "LocalFile"
                extra = (
                    f', bucket = "{self.bucket}", path = "/{place.name}/t"' if kind == "s3" else f', path = "{path}"'
                )
                return f"{name} {{ {MODES[mode]}{extra}, file_format_type = parquet }}"
            case "delta":
                return f'Delta {{ path = "{place}/t", {MODES[mode]} }}'
            case "iceberg" | "paimon":
                return f'{kind.title()} {{ warehouse = "{place}", table = "db.t", {MODES[mode]} }}'
        database = getattr(self, kind)
        login = "".join(f'{name} = "{value}", ' for name, value in database.options.items())
        return f'Jdbc {{ {login}table = "t{place.name}", {MODES[mode]} }}'

    def rows(self, place: Path, kind: str) -> Rows:
        columns = ["id", "version"]
        match kind:
            case "files":
                return parquet_rows(place / "t", columns)
            case "s3":
                return self._in_bucket(f"{place.name}/t/")
            case "delta":
                return delta_rows(place / "t", columns)
            case "iceberg":
                return iceberg_rows(place / "db" / "t", columns)
            case "paimon":
                return paimon_rows(place, "db.t", columns)
        found = getattr(self, kind).rows(f"select id, version from t{place.name}")
        return Counter((int(id), int(version)) for id, version in found)

    def _in_bucket(self, prefix: str) -> Rows:
        import io

        import pyarrow.parquet

        found: Rows = Counter()
        for key in self.bucket.keys():  # noqa: SIM118 (of a bucket, not of a dictionary)
            name = key.removeprefix(prefix)
            if key.startswith(prefix) and not any(part[0] in "._" for part in name.split("/")):
                table = pyarrow.parquet.read_table(io.BytesIO(self.bucket.read(key)))
                found.update((int(row["id"]), int(row["version"])) for row in table.to_pylist())
        return found

    def left(self, place: Path, kind: str) -> list[str]:
        """What runs that have ended should have removed."""
        match kind:
            case "s3":
                keys = [key for key in self.bucket.keys() if key.startswith(f"{place.name}/.")]  # noqa: SIM118
                return [*keys, *(key for key in self.bucket.uploads() if key.startswith(f"{place.name}/"))]
            case "postgres" | "mariadb":
                rows = getattr(self, kind).rows(f"select target from penstock_staging where target = 't{place.name}'")
                return [str(row[0]) for row in rows]
        return [str(path) for path in place.glob(".*.penstock")]


def job(world: World, place: Path, name: str, version: int, kind: str, mode: str) -> Path:
    """A job file that writes rows with this version."""
    (place / f"in-{name}").mkdir(parents=True, exist_ok=True)
    (place / f"in-{name}" / "rows.csv").write_text("".join(f"{id},{version}\n" for id in IDS))
    path = place / f"{name}.conf"
    source = f'LocalFile {{ path = "{place}/in-{name}", file_format_type = csv, {FIELDS} }}'
    env = f"env {{ job.name = {name}, job.retry.times = 0 }}"
    path.write_text(f"{env}\nsource {{ {source} }}\nsink {{ {world.sink(place, kind, mode)} }}\n")
    return path


@dataclass(frozen=True)
class Plan:
    """What a seed says."""

    place: Path
    seed: int
    kind: str
    mode: str


def plan_of(folder: Path, seed: int, kinds: Sequence[str]) -> Plan:
    kind = kinds[seed % len(kinds)]
    chance = random.Random(f"{seed} mode")
    modes = [mode for mode in ("append", "append", "replace", "upsert") if mode != "upsert" or kind not in WITHOUT_KEYS]
    return Plan(folder / str(seed), seed, kind, chance.choice(modes))


def old_rows(world: World, plans: Sequence[Plan], driver: Driver, folder: Path) -> None:
    """Give all targets rows, by one run."""
    (folder / "in-old").mkdir(parents=True, exist_ok=True)
    (folder / "in-old" / "rows.csv").write_text("".join(f"{id},0\n" for id in IDS))
    for plan in plans:
        plan.place.mkdir(parents=True)
    sinks = "\n".join(world.sink(plan.place, plan.kind, "append") for plan in plans)
    source = f'LocalFile {{ path = "{folder}/in-old", file_format_type = csv, {FIELDS} }}'
    path = folder / f"old-{plans[0].seed}.conf"
    path.write_text(f"env {{ job.name = old }}\nsource {{ {source} }}\nsink {{\n{sinks}\n}}\n")
    driver.ask(
        ["run", str(path), "--quiet", "--state-dir", str(folder / "old-state"), "--run-id", f"old{plans[0].seed}"]
    )
    assert driver.answer(300).startswith("ended 0 "), driver.text()


class Schedule:
    """One schedule. `said`: what each process was asked, and how that ended."""

    def __init__(self, world: World, plan: Plan, drivers: Drivers, *, kills: float = 0.2) -> None:
        self.world, self.plan, self.drivers, self.kills = world, plan, drivers, kills
        self.chance = random.Random(plan.seed)
        self.state = world.state(plan.place, plan.kind)
        self.stopped: list[tuple[int, Driver, str]] = []
        self.said: list[str] = []
        self.asked: set[str] = set()
        self.has_dismissed: set[str] = set()
        names = {"r": FIRST, "s": SECOND, "last": LAST}
        self.jobs = {
            name: job(world, plan.place, name, version, plan.kind, plan.mode) for name, version in names.items()
        }

    def arguments(self, what: str, run_id: str) -> list[str]:
        state = ["--state-dir", self.state]
        match what:
            case "run":
                return ["run", str(self.jobs[run_id]), "--quiet", "--run-id", run_id, *state]
            case "resume":
                return ["run", str(self.jobs[run_id]), "--resume", run_id, *state]
            case "continue":
                return ["run", str(self.jobs[run_id]), "--quiet", "--resume", run_id, "--continue", *state]
        return ["runs", "--forget", run_id, *state]

    def act(self, what: str, run_id: str, chosen: int) -> None:
        """Have a driver do it; at the chosen change it is stopped or killed."""
        self.asked.add(run_id)
        number, driver = self.drivers.take()
        driver.ask(self.arguments(what, run_id), chosen)
        answer = driver.answer(120)
        name = f"{what} {run_id}"
        if not answer.startswith("at "):
            self._ended(name, answer, number, driver)
        elif self.chance.random() < self.kills:
            driver.kill()
            self.said.append(f"{name} killed {answer}")
            self.drivers.add(number)
        else:
            driver.stop()
            self.said.append(f"{name} stopped {answer}")
            self.stopped.append((number, driver, name))

    def _ended(self, name: str, answer: str, number: int, driver: Driver) -> None:
        code = answer.split()[1]
        self.said.append(f"{name}: {code}")
        if name.startswith("forget") and code == "0":
            self.has_dismissed.add(name.split()[1])
        self.drivers.give(number, driver)

    def wake(self) -> None:
        self.chance.shuffle(self.stopped)
        while self.stopped:
            number, driver, name = self.stopped.pop()
            driver.go_on()
            self._ended(name, driver.answer(120), number, driver)

    def settle(self) -> str | None:
        """Run all again, which ends what is open: what is wrong then."""
        for run_id in ("r", "s"):
            if run_id in self.asked:
                self.act("run", run_id, 0)
                if not self.said[-1].endswith(": 0"):
                    return f"run {run_id} cannot be finished"
        return None

    def expected(self) -> list[Rows]:
        """The rows that the target may hold when all runs are finished."""
        versions = [version for run_id, version in (("r", FIRST), ("s", SECOND)) if run_id in self.asked]
        match self.plan.mode:
            case "append":
                return [Counter((id, version) for id in IDS for version in (0, *versions))]
        return [Counter((id, version) for id in IDS) for version in versions]

    def check(self) -> str | None:
        if (wrong := self.settle()) is not None:
            return wrong
        found = self.world.rows(self.plan.place, self.plan.kind)
        if found not in self.expected():
            return f"rows {sorted(found.elements())}"
        self.act("run", "last", 0)
        if not self.said[-1].endswith(": 0"):
            return "the next run cannot write"
        after = self.world.rows(self.plan.place, self.plan.kind)
        wanted = Counter((id, LAST) for id in IDS)
        if self.plan.mode == "append":
            wanted += found
        if after != wanted:
            return f"rows after the last run {sorted(after.elements())}"
        left = self.world.left(self.plan.place, self.plan.kind)
        return f"left: {left}" if left and not self.has_dismissed else None

    def wrong(self) -> str | None:
        """Run it; what is wrong."""
        try:
            found = self.run()
        except AssertionError as error:
            found = f"{error}"
        finally:
            for number, driver, _ in self.stopped:
                driver.kill()
                self.drivers.add(number)
        where = f"seed {self.plan.seed}, {self.plan.kind}, {self.plan.mode}"
        return None if found is None else f"{where}: {found}; {self.said}"

    def some_change(self) -> int:
        """Any of a run, or one from its decision on."""
        return self.chance.randint(1, CHANGES) if self.chance.random() < 0.5 else -self.chance.randint(1, 14)

    def run(self) -> str | None:
        self.act("run", "r", self.some_change())
        for _ in range(self.chance.randint(1, 2)):
            what, run_id = self.chance.choice(
                (("resume", "r"), ("resume", "r"), ("continue", "r"), ("run", "r"), ("run", "s"), ("forget", "r"))
            )
            stops = self.chance.random() < 0.4 and len(self.drivers.idle) > 1
            self.act(what, run_id, self.some_change() if stops else 0)
        self.wake()
        return self.check()


def paused_driver(schedule: Schedule) -> str | None:
    """A driver that is stopped at some change, and goes on when another process has ended its run, commits nothing."""
    schedule.kills = 0.0
    schedule.act("run", "r", schedule.some_change())
    if not schedule.stopped:
        return schedule.check()
    schedule.act("resume", "r", 0)
    plan = schedule.plan
    has_ended = schedule.said[-1].endswith(": 0")
    before = schedule.world.rows(plan.place, plan.kind)
    schedule.wake()
    after = schedule.world.rows(plan.place, plan.kind)
    if has_ended and before != after:
        return f"the paused driver has changed {sorted(before.elements())} to {sorted(after.elements())}"
    return schedule.check()


@contextmanager
def drivers_in(folder: Path, settings: dict[str, Any], count: int) -> Iterator[Drivers]:
    found = Drivers(folder, settings)
    found.fill(count)
    try:
        yield found
    finally:
        found.close()


def run_all(
    world: World,
    folder: Path,
    drivers: Drivers,
    seeds: Sequence[int],
    kinds: Sequence[str],
    *,
    run: Callable[[Schedule], str | None] | None = None,
    report: Callable[[str], None] = print,
) -> list[str]:
    """Run the schedules of these seeds, and return what is wrong."""
    wrong: list[str] = []
    plans = [plan_of(folder, seed, kinds) for seed in seeds]
    for start in range(0, len(plans), 20):
        piece = plans[start : start + 20]
        number, driver = drivers.take()
        old_rows(world, piece, driver, folder)
        drivers.give(number, driver)
        for plan in piece:
            started = time.monotonic()
            schedule = Schedule(world, plan, drivers)
            if run is not None:
                schedule.run = lambda schedule=schedule: run(schedule)  # type: ignore[method-assign,misc]
            found = schedule.wrong()
            seconds = time.monotonic() - started
            report(f"{plan.seed} {plan.kind} {plan.mode} {seconds:.1f} s {schedule.said} {found or 'right'}")
            if found is not None:
                wrong.append(found)
    return wrong
