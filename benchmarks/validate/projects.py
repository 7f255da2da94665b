"""Time `penstock validate` of a project of N jobs beside `dbt parse` and `sqlmesh lint` of the same N models.

    python benchmarks/validate/projects.py                # 300 jobs; --jobs 3000 --penstock-only

Makes an environment for each tool in a temporary directory (PyPI is needed; `--dbt` and `--sqlmesh` name folders of
programs that are there), runs each command three times in a new process, and prints the least CPU seconds, those of all
its processes, which other programs on the machine change less than the clock, and the least seconds by the clock. The
project has three jobs that load raw files, and others that read what these write and declare nothing: columns and types
are checked from job to job. dbt does not look into the queries; SQLMesh checks names.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from generate import SQLMESH_CONFIG, TABLES, query, sqlmesh_model

ROOT = Path(__file__).resolve().parents[2]
RUNS = 3

DBT_PROJECT = """name: shop
version: "1.0"
profile: shop
model-paths: [models]
models: {shop: {+materialized: table}}
"""
DBT_PROFILE = """shop:
  target: dev
  outputs: {dev: {type: postgres, host: nowhere, port: 5432, user: u, password: p, dbname: d, schema: s}}
"""


def write_penstock(folder: Path, jobs: int) -> None:
    (folder / "jobs").mkdir(parents=True)
    variables = 'environments { dev { default = true, variables { lake = "lake/dev" } } }'
    (folder / "penstock.conf").write_text(f'name = "shop"\njobs = ["jobs"]\n{variables}\n')
    for table, columns in TABLES.items():
        fields = ", ".join(f'{name} = "{type}"' for name, type in columns.items())
        (folder / "jobs" / f"load_{table}.conf").write_text(
            f'source {{ LocalFile {{ plugin_output = read, path = "raw/{table}", file_format_type = csv\n'
            f"  schema {{ fields {{ {fields} }} }} }} }}\n"
            f'sink {{ LocalFile {{ plugin_input = read, path = "${{lake}}/{table}", file_format_type = parquet }} }}\n'
        )
    for number in range(jobs - len(TABLES)):
        sources = "\n".join(
            f'  LocalFile {{ plugin_output = {table}, path = "${{lake}}/{table}", file_format_type = parquet }}'
            for table in TABLES
        )
        (folder / "jobs" / f"model_{number:04d}.conf").write_text(
            f"source {{\n{sources}\n}}\n"
            f"transform {{ Sql {{ plugin_input = [{', '.join(TABLES)}], plugin_output = model\n"
            f'  query = """\n{query(number)}\n""" }} }}\n'
            f'sink {{ LocalFile {{ plugin_input = model, path = "${{lake}}/{number}"\n'
            "  file_format_type = parquet } }\n"
        )


def write_dbt(folder: Path, jobs: int) -> None:
    (folder / "models").mkdir(parents=True)
    (folder / "dbt_project.yml").write_text(DBT_PROJECT)
    (folder / "profiles.yml").write_text(DBT_PROFILE)
    tables = "".join(f"      - name: {table}\n" for table in TABLES)
    (folder / "models" / "sources.yml").write_text(f"version: 2\nsources:\n  - name: shop\n    tables:\n{tables}")
    for number in range(jobs - len(TABLES)):
        text = query(number)
        for table in TABLES:
            for word in ("from", "join"):
                text = text.replace(f"{word} {table} ", f"{word} {{{{ source('shop', '{table}') }}}} ")
        (folder / "models" / f"model_{number:04d}.sql").write_text(text)


def write_sqlmesh(folder: Path, jobs: int) -> None:
    (folder / "models").mkdir(parents=True)
    (folder / "config.yaml").write_text(SQLMESH_CONFIG)
    for number in range(jobs - len(TABLES)):
        (folder / "models" / f"model_{number:04d}.sql").write_text(sqlmesh_model(number))
    listed = (
        f"- name: shop.{table}\n  columns:\n" + "".join(f"    {name}: {type}\n" for name, type in columns.items())
        for table, columns in TABLES.items()
    )
    (folder / "external_models.yaml").write_text("".join(listed))


def environment(path: Path, *packages: str) -> Path:
    subprocess.run([sys.executable, "-m", "venv", path], check=True)
    subprocess.run([path / "bin" / "pip", "install", "-q", *packages], check=True)
    return path / "bin"


def least(command: list[str | Path], folder: Path, before: Callable[[], object]) -> str:
    """The CPU seconds, and those of the clock, of the runs that took the least; `before` is called before each."""
    found, clock = [], []
    for _ in range(RUNS):
        before()
        began = time.perf_counter()
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        clock.append(time.perf_counter() - began)
        found.append(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
    return f"{min(found):.2f} s of CPU, {min(clock):.2f} s"


def edit(file: Path) -> None:
    """One change that matters; what was just edited is too new to be remembered, so that this is what it costs."""
    file.write_text(file.read_text().replace("count(*) > ", "count(*) > 1"))


def loop() -> float:
    """The CPU seconds of a fixed loop, by which machines can be compared."""
    start, total = time.process_time(), 0
    for number in range(10_000_000):
        total += number
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--penstock", type=Path, help="the folder of an installed `penstock`")
    parser.add_argument("--dbt", type=Path, help="the folder of an installed `dbt`")
    parser.add_argument("--sqlmesh", type=Path, help="the folder of an installed `sqlmesh`")
    parser.add_argument("--penstock-only", action="store_true")
    arguments = parser.parse_args()
    for name in ("penstock", "dbt", "sqlmesh"):
        if (folder := getattr(arguments, name)) is not None:
            setattr(arguments, name, folder.absolute())
    with tempfile.TemporaryDirectory() as directory:
        work, jobs = Path(directory), arguments.jobs
        os.environ |= {"PENSTOCK_CACHE_DIR": str(work / "cache"), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
                       "DO_NOT_TRACK": "1", "SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "1"}  # fmt: skip
        for name, write in (("penstock", write_penstock), ("dbt", write_dbt), ("sqlmesh", write_sqlmesh)):
            write(work / name, jobs)
        print(f"{jobs} jobs; a loop of ten million steps: {loop():.2f} s")
        tools = arguments.penstock or environment(work / "tools", f"{ROOT}[fast]")
        project, model = work / "penstock", work / "penstock" / "jobs" / "model_0000.conf"
        validate: list[str | Path] = [tools / "penstock", "validate"]
        print(f"penstock validate, cold: {least([*validate, '--no-cache'], project, lambda: None)}")
        time.sleep(2.1)
        subprocess.run(validate, cwd=project, check=True, stdout=subprocess.DEVNULL)
        print(f"penstock validate, nothing changed: {least(validate, project, lambda: None)}")
        print(f"penstock validate, one change: {least(validate, project, lambda: edit(model))}")
        if arguments.penstock_only:
            return
        dbt = arguments.dbt or environment(work / "of_dbt", "dbt-core>=1.10,<1.11", "dbt-postgres")
        parse: list[str | Path] = [dbt / "dbt", "-q", "parse", "--profiles-dir", "."]
        forget = [lambda: shutil.rmtree(work / "dbt" / "target", ignore_errors=True)]
        print(f"dbt parse, cold: {least(parse, work / 'dbt', forget[0])}")
        model = work / "dbt" / "models" / "model_0000.sql"
        print(f"dbt parse, one change: {least(parse, work / 'dbt', lambda: edit(model))}")
        mesh = arguments.sqlmesh or environment(work / "of_sqlmesh", "sqlmesh")
        lint: list[str | Path] = [mesh / "sqlmesh", "lint"]
        cold = least(lint, work / "sqlmesh", lambda: shutil.rmtree(work / "sqlmesh" / ".cache", ignore_errors=True))
        print(f"sqlmesh lint, cold: {cold}")
        model = work / "sqlmesh" / "models" / "model_0000.sql"
        print(f"sqlmesh lint, one change: {least(lint, work / 'sqlmesh', lambda: edit(model))}")


if __name__ == "__main__":
    main()
