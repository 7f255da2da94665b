"""Every example is validated and run, and what the flights jobs write equals what SQLite works out."""

import gzip
import json
import runpy
import shutil
from pathlib import Path

import pytest

from catalog.tables.table import CatalogTable
from connectors.iceberg.connector import connector as iceberg
from connectors.interface.source import ScanTask
from engine.cli import main
from tests.services.databases import PASSWORD

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
FLIGHTS = EXAMPLES / "flights"
JOBS = sorted(
    path
    for path in EXAMPLES.rglob("*.conf")
    if not path.name.endswith(".test.conf") and path.name[0] != "_" and path.name != "penstock.conf"
)
SMALL = [path for path in JOBS if FLIGHTS not in path.parents]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))


@pytest.mark.parametrize("job", JOBS, ids=lambda path: path.stem)
def test_validates(job, capsys):
    code = main(["validate", "--strict", "--format", "json", str(job)])
    found = [(each["code"], each["message"]) for each in json.loads(capsys.readouterr().out)]
    if job.stem == "delays":  # it reads what `load` writes
        assert [code for code, message in found if "out/flights" in message] == ["PEN4030"] * len(found)
    else:
        assert (code, found) == (0, [])


def test_the_folder_validates_as_a_whole(capsys):
    assert main(["validate", "examples"]) == 0, capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.parametrize(
    "job", [pytest.param(path, marks=[pytest.mark.delta] if "delta" in path.stem else []) for path in SMALL],
    ids=lambda path: path.stem,
)  # fmt: skip
def test_runs(job, spark, tmp_path, capsys):
    given = ["-i", f"out={tmp_path}/out"] if "${out" in job.read_text(encoding="utf-8") else []
    assert main(["run", str(job), *given]) == 0, capsys.readouterr().err
    assert "FINISHED" in capsys.readouterr().out


@pytest.fixture(scope="module")
def figures() -> dict[str, list[dict[str, object]]]:
    """What SQLite makes of the same files."""
    return runpy.run_path(str(FLIGHTS / "figures.py"))["work_out"]()


def same_rows(spark, folder: Path, wanted: list[dict[str, object]]) -> None:
    names = list(wanted[0])
    found = sorted(map(str, (tuple(row[name] for name in names) for row in spark.read.parquet(str(folder)).collect())))
    assert found == sorted(str(tuple(row.values())) for row in wanted)


@pytest.mark.spark
@pytest.mark.slow
def test_the_flights_job_agrees_with_sqlite(spark, figures, tmp_path, capsys):
    assert main(["run", str(FLIGHTS / "flights.conf"), "-i", f"out={tmp_path}"]) == 0, capsys.readouterr().err
    for table in ("delays_by_carrier", "delays_by_route", "delays_by_weather"):
        same_rows(spark, tmp_path / table, figures[table])
    enriched = spark.read.parquet(str(tmp_path / "enriched"))
    assert enriched.count() == 336_776
    months = {int(path.name.removeprefix("flown_in=")) for path in (tmp_path / "enriched").glob("flown_in=*")}
    assert months == set(range(1, 13))


@pytest.mark.spark
@pytest.mark.slow
def test_two_jobs_in_one_application_the_second_reading_what_the_first_wrote(spark, figures, tmp_path, capsys):
    jobs = [str(FLIGHTS / "load.conf"), str(FLIGHTS / "delays.conf")]
    assert main(["run", *jobs, "-i", f"out={tmp_path}", "--run-id", "both"]) == 0, capsys.readouterr().err
    same_rows(spark, tmp_path / "flights_by_month", figures["flights_by_month"])
    out = capsys.readouterr().out
    assert "run both.flights_load" in out
    assert "run both.flights_delays" in out
    assert main(["runs", "--format", "json"]) == 0


class Stores:
    """Where the summaries of the flights are, in each of the stores that the variable `store` names."""

    def __init__(self, spark, folder, database):
        self.spark, self.folder, self.database = spark, folder, database

    def rows(self, store, table, names):
        if store == "postgres":
            columns = ", ".join(f'"{name}"' for name in names)
            return self.database.rows(f'select {columns} from "{table}"')
        return [tuple(row) for row in self._read(store, table).select(*names).collect()]

    def _read(self, store, table):
        if store == "delta":
            return self.spark.read.format("delta").load(f"{self.folder}/delta/{table}")
        if store == "parquet":
            return self.spark.read.parquet(f"{self.folder}/{table}")
        from tests.connectors.jobs import options_of  # imports pyspark

        given = {"warehouse": f"{self.folder}/warehouse", "table": f"flights.{table}"}
        task = ScanTask(options_of(iceberg.source_options, **given), CatalogTable.unknown(table))
        return iceberg.read(self.spark.newSession(), task)


@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.parametrize("store", ["parquet", "delta", "iceberg", "postgres"])
def test_one_job_writes_the_same_rows_to_the_store_that_a_variable_names(
    store, spark, figures, tmp_path, capsys, monkeypatch, request
):
    database = request.getfixturevalue("postgres") if store == "postgres" else None
    if database is not None:
        database.clear()
        for name, value in database.options.items():
            monkeypatch.setenv(f"PG_{name.upper()}", value)
    job = str(FLIGHTS / "summaries.conf")
    assert main(["run", job, "-i", f"store={store}", "-i", f"out={tmp_path}"]) == 0, capsys.readouterr().err
    shown = capsys.readouterr()
    assert PASSWORD not in shown.out + shown.err
    stores = Stores(spark, tmp_path, database)
    for table in ("delays_by_carrier", "delays_by_route"):
        wanted = figures[table]
        assert sorted(map(str, stores.rows(store, table, list(wanted[0])))) == sorted(
            str(tuple(row.values())) for row in wanted
        )


def test_the_asserted_figures_are_those_that_sqlite_works_out(figures):
    """So that the numbers in the job files cannot be a copy of what a run once gave."""
    text = (FLIGHTS / "flights.conf").read_text()
    carriers = figures["delays_by_carrier"]
    months = figures["flights_by_month"]
    wanted = {
        "flights": sum(row["flights"] for row in carriers),
        "cancelled": sum(row["cancelled"] for row in carriers),
        "departure_delay": sum(row["departure_delay"] for row in carriers),
        "arrival_delay": sum(row["arrival_delay"] for row in carriers),
        "late": sum(row["late"] for row in carriers),
        "distance": sum(row["distance"] for row in months),
        "seats": sum(row["seats"] for row in months),
        "routes": len(figures["delays_by_route"]),
    }
    for name, value in wanted.items():
        rule = (
            f"field_name = {name}, field_type = bigint, field_value = [{{ rule_type = NOT_NULL, equals_to = {value} }}]"
        )
        assert rule in text, name


PROJECT = EXAMPLES / "flights_project"


def test_the_project_validates_strictly_and_lists_its_jobs_in_order(capsys, monkeypatch):
    monkeypatch.chdir(PROJECT)
    assert main(["validate", "--strict"]) == 0, capsys.readouterr().out
    assert main(["ls", "--select", "+delays_by_wind,path:jobs/raw"]) == 0
    assert capsys.readouterr().out.endswith("raw_planes\nraw_flights\nraw_weather\n")


@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.slow
def test_the_project_builds_some_days_restates_one_and_a_change_rebuilds_what_needs_it(
    spark, tmp_path, monkeypatch, capsys
):
    """The number of flights of three days is that of the file: `zcat flights.csv.gz | grep -c '^2013,1,[123],'`."""
    shutil.copytree(PROJECT, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    lake = ["-i", f"lake={tmp_path}/lake"]
    given = [*lake, "-i", f"data={FLIGHTS / 'data'}"]
    assert main(["build", *given, "-i", "until=2013-01-03"]) == 0, capsys.readouterr().err
    assert "15 jobs: 15 success" in capsys.readouterr().out

    def days():
        found = spark.read.format("delta").load(f"{tmp_path}/lake/facts/fct_days").groupBy("day").sum("flights")
        return {str(row.day): row["sum(flights)"] for row in found.collect()}

    assert days() == {"2013-01-01": 842, "2013-01-02": 943}
    loaded = ["raw_flights", "legs", "fct_flights", "fct_days"]
    assert main(["run", *loaded, *given]) == 0, capsys.readouterr().err
    assert "2013-01-03" in capsys.readouterr().err
    assert days() == {"2013-01-01": 842, "2013-01-02": 943, "2013-01-03": 914}
    second = ["--from", "2013-01-02", "--to", "2013-01-03"]
    assert main(["restate", "fct_flights", *second, *lake]) == 0, capsys.readouterr().err
    assert days() == {"2013-01-01": 842, "2013-01-02": 943, "2013-01-03": 914}
    assert main(["state", "fct_flights", *lake]) == 0
    assert "2013-01-01..2013-01-03  3" in capsys.readouterr().out
    assert main(["ls", "--select", "state:modified", *given]) == 0
    assert capsys.readouterr().out == ""
    mart = Path("jobs/marts/delays_by_wind.sql")
    mart.write_text(mart.read_text().replace("wind_speed / 10 AS INT) * 10", "wind_speed / 5 AS INT) * 5"))
    assert main(["run", "--select", "state:modified+", *given]) == 0
    assert "\ndelays_by_wind  success" in capsys.readouterr().out
    planes = gzip.decompress((FLIGHTS / "data/planes.csv.gz").read_bytes()).decode()
    (tmp_path / "newer").mkdir()
    changed = planes.replace(
        "N10156,2004,Fixed wing multi engine,EMBRAER", "N10156,2004,Fixed wing multi engine,Embraer"
    )
    (tmp_path / "newer/planes.csv.gz").write_bytes(gzip.compress(changed.encode()))
    assert main(["run", "raw_planes", "dim_plane", *lake, "-i", f"data={tmp_path}/newer"]) == 0
    versions = spark.read.format("delta").load(f"{tmp_path}/lake/dimensions/dim_plane").where("tailnum = 'N10156'")
    assert sorted((row.is_current, row.manufacturer) for row in versions.collect()) == [
        (False, "EMBRAER"), (True, "Embraer"),
    ]  # fmt: skip
