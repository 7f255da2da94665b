"""The same job files in Penstock and in Apache SeaTunnel's engine, both in local mode on this machine.

    python benchmarks/seatunnel/measure.py [ROWS]        # 10,000,000 by default

SeaTunnel 2.3.8 runs each job from its jars of Maven Central (`pom.xml`, fetched by `mvn`), Penstock by `penstock run
--compat seatunnel`, both with `parallelism = 2`. The seconds are those of the job alone, without the start of the
process or the session. The rows written are counted, since lost or doubled rows make a time worthless.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORK = Path(os.environ.get("PENSTOCK_BENCH_DIR", "/tmp/penstock-bench-seatunnel"))
SCHEMA = "schema { fields { id = bigint, name = string, amount = double, day = date, note = string } }"
QUERY = (
    "select id, upper(name) as name, amount * 2 as doubled, day, substring(note, 1, 3) as part from {table} "
    "where mod(id, 10) < 7"
)


def jobs(rows: int) -> dict[str, str]:
    """The three jobs: FakeSource → Sql → Parquet, CSV → Sql → Parquet, CSV → CSV."""
    csv = f'LocalFile {{ result_table_name = rows, path = "{WORK}/in", file_format_type = csv, {SCHEMA} }}'
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
    WORK.mkdir(parents=True, exist_ok=True)
    classpath = compiled()
    written_input(rows)
    print("| job | SeaTunnel, s | rows | Penstock, s | rows | ratio |\n|---|---|---|---|---|---|")
    for name, text in jobs(rows).items():
        file = WORK / "job.conf"
        file.write_text(text, encoding="utf-8")
        theirs, theirs_rows = by_seatunnel(file, classpath)
        ours, ours_rows = by_penstock(file)
        ratio = f"{theirs / ours:.1f}"
        print(f"| {name} | {theirs:.1f} | {theirs_rows:,} | {ours:.1f} | {ours_rows:,} | {ratio} |", flush=True)


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
    folder = WORK / "in"
    folder.mkdir(exist_ok=True)
    stamp = WORK / "in.rows"
    if stamp.exists() and stamp.read_text() == str(rows):
        return
    for part in range(4):
        with (folder / f"part-{part}.csv").open("w", encoding="utf-8") as file:
            file.writelines(csv_lines(range(part, rows, 4)))
    stamp.write_text(str(rows))


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
