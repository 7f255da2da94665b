"""The same job files in Penstock and in Apache SeaTunnel's engine, both in local mode on this machine.

    python benchmarks/seatunnel/measure.py [ROWS [JOB]]        # 10,000,000 by default; JOB: a part of a job's name

SeaTunnel 2.3.8 runs each job from its jars of Maven Central (`pom.xml`, fetched by `mvn`), Penstock by `penstock run
--compat seatunnel`, both with `parallelism = 2`. The seconds are those of the job alone, without the start of the
process or the session. The rows written are counted, since lost or doubled rows make a time worthless. CPU seconds
are those of the whole process less those of the same job over few rows: start-up is left out, and other work on the
machine does not show.
"""

import ctypes
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORK = Path(os.environ.get("PENSTOCK_BENCH_DIR", "/tmp/penstock-bench-seatunnel"))
FEW = 1_000
_SUBREAPER = 36
"""Linux: `PR_SET_CHILD_SUBREAPER`."""

SCHEMA = "schema { fields { id = bigint, name = string, amount = double, day = date, note = string } }"
QUERY = (
    "select id, upper(name) as name, amount * 2 as doubled, day, substring(note, 1, 3) as part from {table} "
    "where mod(id, 10) < 7"
)


def jobs(rows: int) -> dict[str, str]:
    """The three jobs: FakeSource → Sql → Parquet, CSV → Sql → Parquet, CSV → CSV."""
    csv = f'LocalFile {{ result_table_name = rows, path = "{WORK}/in-{rows}", file_format_type = csv, {SCHEMA} }}'
    fake = f"FakeSource {{ result_table_name = rows, row.num = {rows // 2}, {SCHEMA} }}"
    sql = f'Sql {{ source_table_name = rows, result_table_name = out, query = "{QUERY.format(table="rows")}" }}'

    def job(source: str, transform: str, kind: str) -> str:
        read = "out" if transform else "rows"
        sink = f'LocalFile {{ source_table_name = {read}, path = "{WORK}/out", file_format_type = {kind} }}'
        return (
            'env { parallelism = 2, job.mode = "BATCH" }\n'
            f"source {{ {source} }}\ntransform {{ {transform} }}\nsink {{ {sink} }}\n"
        )

    return {
        "FakeSource → Sql → Parquet": job(fake, sql, "parquet"),
        "CSV → Sql → Parquet": job(csv, sql, "parquet"),
        "CSV → CSV": job(csv, "", "csv"),
    }


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    WORK.mkdir(parents=True, exist_ok=True)
    classpath = compiled()
    engines = {"SeaTunnel": partial(by_seatunnel, classpath=classpath), "Penstock": by_penstock}
    print(f"| job | {' | '.join(f'{name}, s | CPU, s | rows' for name in engines)} | ratio | of CPU |")
    print(f"|---|{'---|---|---|' * len(engines)}---|---|")
    for name in (name for name in jobs(rows) if wanted in name):
        started = {engine: run(name, FEW, by)[1] for engine, by in engines.items()}
        measured = {engine: run(name, rows, by) for engine, by in engines.items()}
        theirs, ours = measured.values()
        cells = [
            f"{seconds:.1f} | {cpu - started[engine]:.1f} | {written:,}"
            for engine, (seconds, cpu, written) in measured.items()
        ]
        cpu_ratio = (theirs[1] - started["SeaTunnel"]) / (ours[1] - started["Penstock"])
        print(f"| {name} | {' | '.join(cells)} | {theirs[0] / ours[0]:.1f} | {cpu_ratio:.1f} |", flush=True)


def run(name: str, rows: int, by: Callable[[Path], tuple[float, int]]) -> tuple[float, float, int]:
    """The seconds of a job over so many rows, the CPU seconds of its process, and the rows written."""
    written_input(rows)
    file = WORK / "job.conf"
    file.write_text(jobs(rows)[name], encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ctypes.CDLL(None).prctl(_SUBREAPER, 1)  # Spark's JVM outlives its parent: it becomes a child of this process
    seconds, written = by(file)
    waited_for_all()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, written


def waited_for_all() -> None:
    """Wait for processes whose parent has ended; only then their CPU seconds are counted."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def compiled() -> str:
    """The class path of SeaTunnel's engine and of `RunJobs`."""
    listed = WORK / "classpath.txt"
    if not listed.exists():
        command = [
            "mvn",
            "-q",
            "-f",
            str(HERE / "pom.xml"),
            "dependency:build-classpath",
            f"-Dmdep.outputFile={listed}",
        ]
        subprocess.run(command, check=True)
    classpath = listed.read_text(encoding="utf-8").strip()
    subprocess.run(["javac", "-nowarn", "-cp", classpath, "-d", str(WORK), str(HERE / "RunJobs.java")], check=True)
    return f"{WORK}{os.pathsep}{classpath}"


def written_input(rows: int) -> None:
    """Four CSV files of these rows in all."""
    folder = WORK / f"in-{rows}"
    stamp = WORK / f"in-{rows}.written"
    if stamp.exists():
        return
    folder.mkdir(exist_ok=True)
    for part in range(4):
        with (folder / f"part-{part}.csv").open("w", encoding="utf-8") as file:
            file.writelines(csv_lines(range(part, rows, 4)))
    stamp.touch()


def csv_lines(ids: range) -> Iterator[str]:
    for id in ids:
        yield f"{id},name{id % 1000},{id % 977}.25,2024-02-{1 + id % 28:02d},note {id % 31} of a row\n"


def by_seatunnel(file: Path, classpath: str) -> tuple[float, int]:
    emptied()
    command = ["java", "-Xmx4g", "-cp", classpath, "RunJobs", str(file)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False, cwd=WORK)
    match = re.search(r"^STATE (\w+) ([\d.]+)", shown.stdout, re.MULTILINE)
    if match is None or match[1] != "FINISHED":
        raise SystemExit(f"SeaTunnel failed:\n{shown.stdout[-2000:]}{shown.stderr[-2000:]}")
    return float(match[2]), rows_written()


def by_penstock(file: Path) -> tuple[float, int]:
    emptied()
    command = [sys.executable, "-m", "engine.cli", "run", "--compat", "seatunnel", "--master", "local[2]", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PENSTOCK_STATE_DIR": str(WORK / "state")}
    shown = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    match = re.search(r"FINISHED: [\d,]+ rows written in ([\d.]+) s", shown.stdout)
    if match is None:
        raise SystemExit(f"Penstock failed:\n{shown.stdout[-2000:]}{shown.stderr[-2000:]}")
    return float(match[1]), rows_written()


def emptied() -> None:
    for file in sorted((WORK / "out").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()


def rows_written() -> int:
    import pyarrow.parquet

    files = [file for file in (WORK / "out").rglob("*") if file.is_file() and not file.name.startswith((".", "_"))]
    parquet = sum(pyarrow.parquet.read_metadata(file).num_rows for file in files if file.suffix == ".parquet")
    lines = 0
    for file in (file for file in files if file.suffix == ".csv"):
        with file.open("rb") as opened:
            lines += sum(chunk.count(b"\n") for chunk in iter(lambda: opened.read(1 << 20), b""))
    return parquet + lines


if __name__ == "__main__":
    main()
