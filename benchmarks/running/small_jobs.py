"""Time 50 small jobs of a project beside one job file that does the same, in processes of their own.

    python benchmarks/running/small_jobs.py --jobs 50 --runs 3

Prints the least clock and CPU seconds of each, and their ratio. Each job reads a CSV file of 1,000 rows, filters it,
and replaces a Parquet table. Both run four at a time.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """  LocalFile {{ plugin_output = read_{0}, path = "in/{0}.csv", file_format_type = csv
    schema {{ fields {{ id = int, name = string, amount = int }} }} }}
"""
TRANSFORM = """  Sql {{ plugin_input = read_{0}, plugin_output = rows_{0}
    query = "select id, upper(name) as name, amount * 2 as amount from read_{0} where amount > 10" }}
"""
SINK = """  LocalFile {{ plugin_input = rows_{0}, path = "{1}/{0}", file_format_type = parquet
    data_save_mode = DROP_DATA }}
"""


def job(numbers: range, out: str) -> str:
    blocks = ("".join(template.format(number, out) for number in numbers) for template in (SOURCE, TRANSFORM, SINK))
    source, transform, sink = blocks
    return f"env {{ parallelism = 4 }}\nsource {{\n{source}}}\ntransform {{\n{transform}}}\nsink {{\n{sink}}}\n"


def write(folder: Path, jobs: int) -> None:
    for name in ("in", "project/jobs", "one"):
        (folder / name).mkdir(parents=True)
    text = "".join(f"{number},name {number % 7},{number % 50}\n" for number in range(1000))
    for name in ("project", "one"):
        (folder / name / "in").symlink_to(folder / "in")
    for number in range(jobs):
        (folder / "in" / f"{number}.csv").write_text(text)
        (folder / "project" / "jobs" / f"job_{number:02d}.conf").write_text(job(range(number, number + 1), "out"))
    (folder / "project" / "penstock.conf").write_text('name = "small"\njobs = ["jobs"]\n')
    (folder / "one" / "one.conf").write_text(job(range(jobs), "out"))


def measured(command: list[str], folder: Path) -> tuple[float, float]:
    """Clock and CPU seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "engine.cli", *command], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        write(folder, arguments.jobs)
        found: dict[str, list[tuple[float, float]]] = {"project": [], "one": []}
        for _ in range(arguments.runs):  # in turn, so that the load of the machine is that of both
            found["project"].append(measured(["run", "--quiet"], folder / "project"))
            found["one"].append(measured(["run", "one.conf", "--quiet"], folder / "one"))
        least = {name: (min(clock for clock, _ in runs), min(cpu for _, cpu in runs)) for name, runs in found.items()}
        for name, (clock, cpu) in least.items():
            print(f"{name}: {clock:.1f} s, CPU {cpu:.1f} s")
        ratios = [least["project"][at] / least["one"][at] for at in (0, 1)]
        print(f"{arguments.jobs} jobs of a project beside one job: {ratios[0]:.2f}, CPU {ratios[1]:.2f}")


if __name__ == "__main__":
    main()
