"""Jobs over topics, compiled and run in the session of the tests."""

from pathlib import Path

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from connectors.in_memory import ROWS
from engine.compile import Settings, compile_job
from engine.runtime.execute import run_job
from engine.runtime.results import JobResult
from engine.runtime.run_request import RunRequest, new_run_id

COLUMNS = "schema { fields { id = bigint, name = string } }"


def compiled(folder: Path, text: str, compat: Compat = Compat.OFF):
    path = folder / "job.conf"
    path.write_text(text)
    diagnostics = Diagnostics()
    job = compile_job(path, Settings(reads_secrets=True, compat=compat, state_dir=str(folder / "state")), diagnostics)
    assert job is not None, list(diagnostics)
    return job


def run(spark, folder: Path, text: str, run_id: str | None = None, compat: Compat = Compat.OFF) -> JobResult:
    return run_job(spark, compiled(folder, text, compat), RunRequest(run_id or new_run_id()))


def reading(broker, topic: str, options: str, columns: str = COLUMNS) -> str:
    """A job that keeps the rows of a topic in memory."""
    source = f'Kafka {{ bootstrap.servers = "{broker.servers}", topic = "{topic}", {columns}\n{options} }}'
    return f"source {{ {source} }}\nsink {{ InMemory {{}} }}"


def rows(spark, folder: Path, text: str, compat: Compat = Compat.OFF) -> list[tuple]:
    """The rows that the job kept, sorted. Raises the error with which it ended."""
    ROWS.clear()
    result = run(spark, folder, text, compat=compat)
    if result.errors:
        raise result.errors[0]
    return sorted((tuple(row) for each in ROWS.values() for row in each), key=repr)
