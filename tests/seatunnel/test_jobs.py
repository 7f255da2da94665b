"""Job files as users of Apache SeaTunnel write them, run under `--compat seatunnel` in one Spark session.

A file's first line says how its run ends: `# passes`, or `# fails: ` and a part of the message. Files named
`<name>_1_….conf`, `<name>_2_….conf` run one after the other in one directory, `${work}`.
"""

import re
from itertools import groupby
from pathlib import Path
from zlib import crc32

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, PenstockError
from engine.compile import Settings, compile_job

JOBS = Path(__file__).parent / "jobs"
FILES = sorted(JOBS.rglob("*.conf"))


def name_of(path: Path) -> str:
    return re.sub(r"_\d_\w+$", "", str(path.relative_to(JOBS).with_suffix("")))


CASES = {name: tuple(files) for name, files in groupby(FILES, name_of)}


def expected(path: Path) -> str | None:
    """The message with which the job fails; None if it passes."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    if first == "# passes":
        return None
    assert first.startswith("# fails: "), path
    return first.removeprefix("# fails: ")


def errors_of(spark, path: Path, work: Path) -> list[str]:
    """The errors of a run, in the order in which they were found."""
    from engine.runtime.execute import run_job
    from engine.runtime.job_execution import diagnostics_of
    from engine.runtime.run_request import RunRequest

    variables = {"work": str(work), "data": str(Path(__file__).parent / "data")}
    diagnostics = Diagnostics()
    compiled = compile_job(path, Settings(variables, compat=Compat.SEATUNNEL_2), diagnostics)
    if compiled is None:
        return [each.message for each in diagnostics if each.severity.value == "error"]
    try:
        result = run_job(spark, compiled, RunRequest(f"run-{path.stem}"))
    except PenstockError as error:
        return [each.message for each in diagnostics_of(error)]
    return [each.message for each in result.diagnostics]


def by_default(name: str) -> bool:
    """Whether the jobs run in each run of the tests: of every two, one; `make soak` runs all."""
    return crc32(name.encode()) % 2 == 0


@pytest.mark.spark
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if by_default(name) else pytest.mark.soak) for name in CASES]
)
def test_jobs(spark, name, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    for path in CASES[name]:
        errors = errors_of(spark, path, tmp_path)
        wanted = expected(path)
        if wanted is None:
            assert errors == [], path
        else:
            assert any(wanted in error for error in errors), (path, errors)
