"""The wheel holds every module, works from outside the checkout, and notices what shadows it."""

import ast
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from catalog.distribution import DISTRIBUTION
from tests.test_distribution import advised

ROOT = Path(__file__).parents[1]
PACKAGES = ("engine", "catalog", "sql", "connectors")
OF_THIS_PROCESS = ("PYTHONPATH", "PYTHONHOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
"""Variables that would lead to this environment's Python; a session of Spark's in this process sets the last two."""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("build") is None, reason="needs the package build")]

JOB = """
source { FakeSource { row.num = 3, schema { fields { id = bigint, name = string } } } }
transform { Sql { query = "select id, upper(name) as name from fakesource where id > 1" } }
sink { Console {} }
"""


def run(*command: object, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in OF_THIS_PROCESS}
    done = subprocess.run(
        [str(each) for each in command], env=inherited | variables, capture_output=True, text=True, check=False
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    isolation = ["--no-isolation"] if find_spec("hatchling") else []
    run(sys.executable, "-m", "build", "--wheel", *isolation, "--outdir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def penstock(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of a fresh environment that has the wheel; what it depends on comes from the running one."""
    venv = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    python = venv / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return venv / "bin" / "penstock"


def test_every_module_and_data_file_is_in_the_wheel(wheel: Path):
    tracked = run("git", "-C", ROOT, "ls-files", *PACKAGES).stdout.split()
    assert len(tracked) > 50
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert [path for path in tracked if path not in names and (ROOT / path).exists()] == []
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == set(PACKAGES)


def metadata_wheel(folder: Path, name: str, version: str, extras: Iterable[str] = ()) -> None:
    """A wheel of metadata alone, for pip to resolve."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    metadata = "".join([f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
                        *(f"Provides-Extra: {extra}\n" for extra in extras)])  # fmt: skip
    with zipfile.ZipFile(folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def version_for(requirement: Requirement) -> str:
    """A version that the requirement allows."""
    named = [part.version.removesuffix(".*") for part in requirement.specifier]
    return next(version for version in (*named, "0") if requirement.specifier.contains(version))


@pytest.fixture(scope="module")
def packages(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of wheels: ours, what it requires, and another project's `penstock` with extras of the same names."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / wheel.name).write_bytes(wheel.read_bytes())
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode("utf-8").split("\n\n")[0].splitlines()
    extras = [line.partition(": ")[2] for line in lines if line.startswith("Provides-Extra: ")]
    required = [Requirement(line.partition(": ")[2]) for line in lines if line.startswith("Requires-Dist: ")]
    for requirement in required:
        if requirement.name != DISTRIBUTION:
            metadata_wheel(folder, requirement.name, version_for(requirement))
    metadata_wheel(folder, "penstock", "99.0", extras)
    return folder


@pytest.mark.parametrize("requirement", sorted({*advised(), DISTRIBUTION, f"{DISTRIBUTION}[all]"}))
def test_the_printed_advice_installs_this_project(packages: Path, requirement: str):
    report = run(
        sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", "--no-index",
        "--find-links", packages, "--report", "-", requirement,
    ).stdout  # fmt: skip
    found = {item["metadata"]["name"]: item for item in json.loads(report)["install"]}
    assert DISTRIBUTION in found
    assert "penstock" not in found
    if extras := Requirement(requirement).extras:
        assert set(found[DISTRIBUTION]["requested_extras"]) >= extras
        assert len(found) > 5, "what the extra names, and what the project needs"


def test_it_validates_a_job_from_outside_the_checkout(penstock: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "job.conf").write_text(JOB, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert "no errors found" in run(penstock, "validate", "job.conf").stdout
    place = run(penstock.parent / "python", "-c", "import engine; print(engine.__file__)").stdout
    assert place.startswith(str(penstock.parents[1]))


def test_errors_come_out_with_code_2(penstock: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "job.conf").write_text(JOB.replace("name)", "nmae)"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = run(penstock, "validate", "job.conf", check=False)
    assert done.returncode == 2
    assert "job.conf:3:" in done.stdout + done.stderr
    assert "did you mean `name`?" in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["catalog", "sql", "connectors"])
def test_a_package_that_shadows_one_of_penstocks_is_named(penstock: Path, tmp_path: Path, name: str):
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("", encoding="utf-8")
    done = run(penstock, "validate", "x.conf", check=False, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "PEN9002" in done.stderr
    assert str(tmp_path / name) in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.spark
def test_it_runs_a_job_from_outside_the_checkout(penstock: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "job.conf").write_text(JOB, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    run(penstock, "run", "job.conf")


@pytest.mark.soak
def test_a_fresh_environment_with_the_extra_spark_runs_csv_and_parquet_jobs(tmp_path: Path, monkeypatch):
    """As a user installs it: pip fetches all that the extra names, and nothing of this environment is seen."""
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", venv)
    run(venv / "bin" / "python", "-m", "pip", "install", "--quiet", f"{ROOT}[spark]")
    assert run(venv / "bin" / "python", "-m", "pip", "show", "pyarrow", check=False).returncode == 1
    command = venv / "bin" / "penstock"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    run(command, "init", ".")
    assert "FINISHED: 3 rows written" in run(command, "run", "jobs/orders.sql").stdout
    (tmp_path / "job.conf").write_text(
        'source { LocalFile { path = "out/revenue", file_format_type = parquet } }\n'
        'sink { LocalFile { path = "out/csv", file_format_type = csv } }\n',
        encoding="utf-8",
    )
    assert "FINISHED: 3 rows written" in run(command, "run", "job.conf").stdout
    assert "Spark needs Java" in run(command, "run", "job.conf", check=False, PATH="/", JAVA_HOME="").stderr


EXAMPLE = ROOT / "examples" / "connector_package"
WRITES = """
source { Squares { count = 5 } }
sink { SqliteTable { path = "squares.db" } }
"""
READS = """
source { SqliteRows { path = "squares.db", partition_rows = 2 } }
sink { Console {} }
"""


@pytest.fixture(scope="module")
def with_example(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the wheels of Penstock and of the example package, from a folder."""
    folder, venv = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("example_venv")
    (folder / wheel.name).write_bytes(wheel.read_bytes())
    isolation = ["--no-isolation"] if find_spec("hatchling") else []
    run(sys.executable, "-m", "build", "--wheel", *isolation, "--outdir", folder, EXAMPLE)
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    python = venv / "bin" / "python"
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index",
        "--find-links", folder, "example-connectors", DISTRIBUTION,
    )  # fmt: skip
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def test_the_example_package_imports_only_the_interface():
    for path in (EXAMPLE / "example_connectors").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            targets = [node.module] if isinstance(node, ast.ImportFrom) else []
            targets += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            for target in filter(None, targets):
                is_ours = target == "connectors.interface" or target.startswith("example_connectors.")
                is_known = target.split(".")[0] in {*sys.stdlib_module_names, "pyspark", "pyarrow"}
                assert is_ours or is_known, f"{path.name}: {target}"


def test_connectors_of_the_example_package_are_listed_with_what_they_need(with_example: Path, tmp_path: Path):
    penstock = with_example.parent / "penstock"
    assert "Reads the table of a SQLite file, in parallel." in run(penstock, "connectors").stdout
    assert "needs `pip install 'pyarrow>=17'`" in run(penstock, "connectors", "SqliteRows").stdout


@pytest.mark.spark
def test_the_example_package_passes_the_shipped_suites_outside_the_tree(
    with_example: Path, tmp_path: Path, monkeypatch
):
    shutil.copytree(EXAMPLE / "tests", tmp_path / "tests")
    monkeypatch.chdir(tmp_path)
    done = run(with_example, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, "tests")
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.spark
def test_jobs_with_the_connectors_of_the_example_package_run(with_example: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, job in (("writes", WRITES), ("reads", READS)):
        (tmp_path / f"{name}.conf").write_text(job, encoding="utf-8")
    penstock = with_example.parent / "penstock"
    assert "FINISHED: 5 rows written" in run(penstock, "run", "writes.conf").stdout
    assert "16" in run(penstock, "run", "reads.conf").stdout
