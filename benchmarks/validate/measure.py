"""Time `penstock validate` on 1, 100 and 300 jobs, with and without the compiled sqlglot, beside `sqlmesh lint`.

    python benchmarks/validate/measure.py

Makes three environments in a temporary directory (PyPI is needed), runs each command three times in a new process and
prints the best wall-clock seconds. SQLMesh checks names; Penstock checks names, types, nullability and lineage.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate import write

ROOT = Path(__file__).resolve().parents[2]
RUNS = 3


def environment(path: Path, *packages: str) -> Path:
    subprocess.run([sys.executable, "-m", "venv", path], check=True)
    subprocess.run([path / "bin" / "pip", "install", "-q", *packages], check=True)
    return path / "bin"


def best(command: list[str | Path], cwd: Path, *, forget: Path | None = None) -> float:
    """Seconds of the fastest of three runs; `forget` is removed before each, so that it starts cold."""
    seconds = []
    for _ in range(RUNS):
        if forget is not None:
            shutil.rmtree(forget, ignore_errors=True)
        start = time.perf_counter()
        subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        write(work / "models", 300)
        jobs = work / "models" / "penstock"
        compiled = environment(work / "compiled", f"{ROOT}[fast]")
        plain = environment(work / "plain", str(ROOT))
        mesh = environment(work / "mesh", "sqlmesh")
        for count in (1, 100, 300):
            few = work / f"few{count}"
            few.mkdir()
            for path in sorted(jobs.iterdir())[:count]:
                shutil.copy(path, few)
            for name, tools in (("compiled sqlglot", compiled), ("plain sqlglot", plain)):
                seconds = best([tools / "penstock", "validate", few], work)
                print(f"penstock validate, {count:3} jobs, {name}: {seconds:.2f} s")
        project = work / "models" / "sqlmesh"
        lint: list[str | Path] = [mesh / "sqlmesh", "lint"]
        print(f"sqlmesh lint, 300 models, cold: {best(lint, project, forget=project / '.cache'):.2f} s")
        print(f"sqlmesh lint, 300 models, warm: {best(lint, project):.2f} s")


if __name__ == "__main__":
    main()
