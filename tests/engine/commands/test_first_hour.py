"""Commands of the first hour: a project that runs, rows to look at, what a run did, and commands that are printed."""

import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
from rich.console import Console

from connectors.interface.incremental import ReadProgress
from connectors.shared.spark_jars import DELTA_VERSION
from engine.cli import main
from engine.runtime.counting.counts import ROWS, Operator, ReadCount, WriteCount, filtered_rows
from engine.runtime.interrupts import InterruptedRun
from engine.runtime.results import JobResult, PipelineResult
from engine.state.layout import layout_at
from engine.state.ledger import RunRecord, now, record
from engine.state.run_state import State
from engine.state.watermarks import HighWatermark, WatermarkKey, write_watermark
from engine.terminal.progress_display import Screen, shown_progress
from engine.terminal.signals import interrupts_of_run
from engine.terminal.summary import console, print_summary, row_table

FAILING = """
env { job.name = "failing", job.retry.times = 0 }
source { FakeSource { plugin_output = "t", row.num = 1, schema { fields { id = int } } } }
transform { Sql { plugin_output = "u", query = "select raise_error('no') as id from t" } }
sink { LocalFile { path = "%s", file_format_type = "json" } }
"""


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    assert main(["init"]) == 0
    for name in ("jobs/orders.sql",):  # Spark, started by another test, has another working directory
        text = Path(name).read_text().replace("'data/", f"'{tmp_path}/data/").replace("'out/", f"'{tmp_path}/out/")
        Path(name).write_text(text)
    capsys.readouterr()
    return tmp_path


def test_init_makes_a_project_that_validates(project, capsys):
    assert main(["validate", "--strict", "jobs"]) == 0
    assert "no errors found" in capsys.readouterr().out
    assert main(["init"]) == 2
    assert "exists: nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["explain"], ["run"], ["show"], ["lineage"]])
def test_a_folder_where_one_job_is_expected_names_the_commands_that_take_folders(project, capsys, words):
    assert main([*words, "jobs"]) == 2
    assert capsys.readouterr().err == (
        "error[PEN1001]: `jobs` is a folder\n"
        "  = help: name one job file; `penstock validate` and `penstock graph` also take folders\n"
    )


@pytest.mark.spark
def test_a_state_directory_that_cannot_be_made_is_reported_before_spark_starts(project, capsys, monkeypatch):
    monkeypatch.setattr("engine.runtime.application.open_session", lambda *_, **__: pytest.fail("Spark was started"))
    assert main(["run", "jobs/orders.sql", "--state-dir", "jobs/orders.sql/state"]) == 1
    shown = capsys.readouterr().err
    assert "error[PEN5313]: the state directory `jobs/orders.sql/state` cannot be written:" in shown
    assert "jobs/orders.sql` is a file" in shown


@pytest.mark.spark
def test_the_project_of_init_runs_and_its_rows_and_run_are_shown(spark, project, capsys):
    assert main(["run", "jobs/orders.sql", "--run-id", "first"]) == 0
    said = capsys.readouterr()
    assert "FINISHED: 3 rows written" in said.out
    lines = [line.split(": ")[-1].split("  ")[-1] for line in said.err.splitlines()]
    assert lines[-4:] == ["RUNNING", "STAGED", "committing 1 pipeline", "FINISHED"]  # finished: after the commit
    assert main(["run", "jobs/orders.sql", "--run-id", "first"]) == 0
    assert "run first is committed already: nothing was written" in capsys.readouterr().out
    assert main(["runs", "first"]) == 0
    shown = capsys.readouterr().out
    assert "state     FINISHED" in shown
    assert re.search(r"events:\n.*begin\n", shown)
    assert main(["show", "jobs/orders.sql", "orders", "--limit", "2"]) == 0
    assert "2 rows of `orders`, and more" in capsys.readouterr().out
    assert main(["show", "jobs/orders.sql", "ordres"]) == 2
    assert "did you mean `orders`?" in capsys.readouterr().err
    assert main(["test", "jobs"]) == 0


@pytest.mark.spark
def test_parquet_runs_without_pyarrow_and_console_counts_its_rows(spark, project, capsys, monkeypatch):
    spark.range(7).write.parquet(str(project / "lake"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    Path("a.conf").write_text(
        f'source {{ LocalFile {{ path = "{project}/lake", file_format_type = parquet }} }}\nsink {{ Console {{}} }}\n'
    )
    assert main(["run", "a.conf", "--run-id", "shown"]) == 0
    assert "FINISHED: 7 rows written" in capsys.readouterr().out
    assert main(["runs", "shown", "--format", "json"]) == 0
    (counts,) = json.loads(capsys.readouterr().out)["counts"]["sinks"].values()
    assert counts["rows"] == 7


@pytest.mark.spark
def test_keep_going_runs_the_jobs_after_one_that_failed(spark, project, capsys):
    Path("a.conf").write_text(FAILING % (project / "a"))
    assert main(["run", "a.conf", "jobs/orders.sql"]) == 1
    said = capsys.readouterr()
    assert "2 jobs: 0 finished, 1 failed, 1 not run" in said.out
    assert "not run: jobs/orders.sql" in said.err
    assert main(["run", "a.conf", "jobs/orders.sql", "--keep-going", "--quiet"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "RUNNING" not in said.err
    assert (project / "out/revenue").exists()


def test_a_vars_file_gives_variables_and_i_wins(project, capsys):
    job = Path("jobs/orders.sql")
    job.write_text(job.read_text().replace("${least:20}", "${least}"))
    assert main(["validate", "jobs"]) == 2
    Path("prod.vars").write_text("# production\nleast = 50\n")
    assert main(["validate", "jobs", "--vars", "prod.vars"]) == 0
    capsys.readouterr()
    assert main(["explain", str(job), "--vars", "prod.vars", "-i", "least=60"]) == 0
    assert "60" in capsys.readouterr().out
    assert main(["validate", "jobs", "--vars", "nowhere.vars"]) == 2


def test_package_prints_the_jars_that_spark_submit_must_fetch(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("job.conf").write_text(
        'source { FakeSource { schema { fields { id = int } } } }\nsink { Delta { path = "${out}" } }\n'
    )
    assert main(["package", "job.conf"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"  spark-submit --packages io.delta:delta-spark_4.1_2.13:{DELTA_VERSION} --py-files app.zip app.py"


@pytest.mark.parametrize(
    ("made_for", "said"),
    [
        ({"python": "2.7"}, "app.zip is for Python 2.7, this is "),
        ({"platform": "plan9-mips"}, "app.zip has machine code for plan9-mips, this is "),
    ],
)
def test_a_package_for_another_python_or_platform_says_so_at_its_start(tmp_path, monkeypatch, made_for, said):
    monkeypatch.chdir(tmp_path)
    Path("job.conf").write_text("source { FakeSource { schema { fields { id = int } } } }\nsink { Console {} }\n")
    assert main(["package", "job.conf"]) == 0
    with zipfile.ZipFile("app.zip") as archive:
        recorded = json.loads(archive.read("penstock-package.json"))
    with zipfile.ZipFile("app.zip", "w") as archive:
        archive.writestr("penstock-package.json", json.dumps(recorded | made_for))
    done = subprocess.run([sys.executable, "app.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "job",
    [
        {"source": [{"plugin_name": "FakeSource"}], "sink": [{"plugin_name": "Console"}]},
        {"source": {"FakeSource": {"row.num": 3}}, "sink": {"Console": {}}},
        {"source": {"fakesource": [{}, {}]}, "sink": [{"Console": {}}]},
    ],
)
def test_the_json_schema_accepts_every_form_that_validate_accepts(capsys, job):
    assert main(["schema", "json"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema).validate(job)
    wrong = json.loads(json.dumps(job).replace("Console", "Consoel"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(wrong)


def test_the_pre_commit_hook_takes_only_job_files(project, capsys):
    Path("nginx.conf").write_text("server { listen 80; }\n")
    assert main(["validate", "nginx.conf"]) == 2
    capsys.readouterr()
    assert main(["validate", "--only-jobs", "nginx.conf", "jobs/orders.sql"]) == 0
    assert "1 job:" in capsys.readouterr().out


def test_parquet_without_pyarrow_is_a_warning_that_names_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    job = tmp_path / "job.conf"
    source = f'source {{ LocalFile {{ path = "{tmp_path}/a.parquet", file_format_type = "parquet" }} }}'
    job.write_text(source + "\nsink { Console {} }")
    assert main(["validate", str(job)]) == 0
    assert "pip install pyarrow" in capsys.readouterr().out


def test_runs_forget_dismisses_a_run_that_cannot_be_ended(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path))
    journal = tmp_path / "runs/night/journal"
    journal.mkdir(parents=True)
    run = {"run_id": "night", "job": "orders", "file": "orders.conf", "state": "RUNNING", "started": "2024-01-01"}
    (journal.parent / "run.json").write_text(json.dumps(run))
    begun = {"run_id": "night", "owner": {"host": "a-machine-that-is-gone", "pid": 7}, "writes": {"a": "Delta"}}
    (journal / "begin.json").write_text(json.dumps(begun))
    (journal / "prepared.json").write_text('{"a": {"staged": {"staging": "file:///lake/out/_staged"')  # cut off by hand
    assert main(["runs", "--forget", "nihgt"]) == 2
    assert "did you mean `night`?" in capsys.readouterr().err
    assert main(["runs", "--forget", "night"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("run night: dismissed; no target was changed\n  Delta: not staged; the target is as it was")
    assert main(["runs", "night"]) == 0
    assert "dismissed by `penstock runs --forget`" in capsys.readouterr().out
    assert main(["runs", "--forget", "night"]) == 2
    assert "nothing is left to dismiss" in capsys.readouterr().err
    assert sorted(path.name for path in journal.iterdir()) == ["begin.json", "commit.json", "end.json", "prepared.json"]


@pytest.mark.parametrize("is_committed", [False, True])
def test_runs_forget_of_an_incremental_run_says_that_the_watermark_has_not_moved(
    is_committed, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path))
    journal = tmp_path / "runs/night/journal"
    journal.mkdir(parents=True)
    layout, key = layout_at(None, str(tmp_path)), WatermarkKey("read", "/in", "/out")
    at = "2024-01-01T00:00:00Z"
    write_watermark(
        layout, HighWatermark(key, "orders", "orders.conf", "id", ReadProgress("7"), None, None, "night", at)
    )
    incremental = {key.path_in_state(layout): "read", "incremental/events/none.json": "events"}
    begun = {"owner": {"host": "a-machine-that-is-gone", "pid": 7}, "writes": {"a": "Delta"}, "job": "orders"}
    (journal / "begin.json").write_text(json.dumps({**begun, "incremental": incremental}))
    if is_committed:
        (journal / "commit.json").write_text("{}")
        (journal / "a.committed.json").write_text("{}")
    assert main(["runs", "--forget", "night"]) == 0
    said = capsys.readouterr().out
    assert "the watermark of `events` has not moved: the next run reads again what this one has read" in said
    assert "`read`" not in said, "its watermark was moved by this run"
    assert ("penstock state JOB --reset SOURCE --to VALUE" in said) == is_committed


def said_of(tmp_path, capsys, job, name="job.conf", code=2):
    """What validate prints about a job."""
    (tmp_path / name).write_text(job)
    assert main(["validate", str(tmp_path / name)]) == code
    said = capsys.readouterr()
    return said.out + said.err


def test_a_missing_comma_between_options_is_reported_at_the_option_after_it(tmp_path, capsys):
    job = "source { FakeSource { row.num = 5 schema { fields { id = int name = string } } } }\nsink { Console {} }\n"
    said = said_of(tmp_path, capsys, job)
    assert "a comma or a new line is missing before `schema`" in said
    assert "a comma or a new line is missing before `name`" in said
    assert "2 errors" in said
    job = (
        "CREATE TABLE a (id INT) WITH ('connector' = 'FakeSource' 'row.num' = '5');\n"
        "CREATE TABLE o WITH ('connector' = 'Console');\nINSERT INTO o SELECT id FROM a;\n"
    )
    said = said_of(tmp_path, capsys, job, "job.sql")
    assert "a comma is missing before 'row.num'" in said
    assert "1 error" in said


def test_a_format_or_a_database_as_connector_is_answered_by_the_connector_that_has_it(tmp_path, capsys):
    source = "source { FakeSource { schema { fields { id = int } } } }\n"
    said = said_of(tmp_path, capsys, source + 'sink { Parquet { path = "out" } }')
    assert "use `LocalFile` with `file_format_type = parquet`" in said
    assert "use `Jdbc` with its JDBC URL" in said_of(tmp_path, capsys, source + 'sink { Postgres { url = "u" } }')
    said = said_of(tmp_path, capsys, source + 'sink { Jdbc { url = "postgresql://h/shop", table = "t" } }')
    assert "a JDBC URL begins with `jdbc:`: `jdbc:postgresql://h/shop`" in said


SOURCE = """
source { FakeSource { plugin_output = "a", row.num = 1, schema { fields { id = int, amount = "decimal(10,2)" } } } }
"""
CONSOLE = "sink { Console {} }"


@pytest.mark.parametrize(
    ("job", "help"),
    [
        (SOURCE.replace('"decimal(10,2)"', "decimal(10,2)") + CONSOLE, 'write `"decimal(10,2)"`'),
        (SOURCE.replace('"decimal(10,2)"', "map<int,decimal(10,2)>") + CONSOLE, 'write `"map<int,decimal(10,2)>"`'),
        (SOURCE.replace("= int", "= datetime") + CONSOLE, "write `timestamp`"),
        (
            SOURCE + "transform { Sql { query = 'select id from a' } }" + CONSOLE,
            'HOCON has only double quotes: write `"…"`',
        ),
        (SOURCE + "transform { Sql { query = 'select id, 1 as b from a' } }" + CONSOLE, "HOCON has only double quotes"),
        (
            SOURCE + 'transform { Sql { query = "select id * 2 as twice from a where twice > 1" } }' + CONSOLE,
            "WHERE is computed before the alias `twice`: repeat its expression, or filter in an outer query",
        ),
        (
            SOURCE + 'transform { Sql { query = "select rank() over (order by id) r from a where r = 1" } }' + CONSOLE,
            "WHERE is computed before the alias `r`: filter in an outer query",
        ),
        (SOURCE + 'transform { Sql { query = "select top 5 id from a" } }' + CONSOLE, "end the query with `LIMIT n`"),
        (
            SOURCE + 'transform { Sql { query = "select getdate() as t from a" } }' + CONSOLE,
            "in Spark: `current_timestamp()`",
        ),
        (
            SOURCE + 'transform { Sql { query = "select cast(id as varchar) v from a" } }' + CONSOLE,
            "`string` for text of any",
        ),
        (
            SOURCE + 'sink { Delta { path = "out", mode = "overwrite" } }',
            '`data_save_mode = "DROP_DATA"` replaces the rows',
        ),
        (SOURCE + 'sink { Delta { path = "out", data_save_mode = "overwrite" } }', "did you mean `DROP_DATA`?"),
        (SOURCE + 'sink { Delta { path = "out", write_mode = "merge" } }', "did you mean `upsert`?"),
        (SOURCE + 'sink { Delta { path = "out", mergeSchema = true } }', "write `schema_evolution`"),
        (
            SOURCE + 'sink { LocalFile { path = "out", file_format_type = csv, csv_use_header_line = true } }',
            "write `enable_header_write`",
        ),
        ('source { LocalFile { path = "a.csv", schema = "id int" } }' + CONSOLE, "schema { fields { id = bigint"),
        (
            SOURCE + "transform { Sql { query = \"select * from read_csv('a.csv')\" } }" + CONSOLE,
            "name that source here",
        ),
        (SOURCE + 'transform { Sql { query = "select * from parquet.`a`" } }' + CONSOLE, "name that source here"),
    ],
)
def test_a_mistake_of_habit_is_answered_by_what_to_write(tmp_path, capsys, job, help):
    (tmp_path / "job.conf").write_text(job)
    assert main(["validate", str(tmp_path / "job.conf")]) == 2
    assert help in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("statement", "help"),
    [
        ("CREATE SOURCE a WITH ('connector' = 'Console')", "sources and sinks are CREATE TABLE name WITH"),
        ("CREATE MATERIALIZED VIEW a AS SELECT 1 AS x", "CREATE VIEW name AS … names a query"),
        ("CREATE TEMPORARY TABLE a AS SELECT 1 AS x", "CREATE VIEW name AS … names a query"),
        ("CREATE FUNCTION f AS 'x'", "the transform Python"),
        ("TRUNCATE TABLE out", "INSERT OVERWRITE replaces the rows"),
        ("DROP TABLE out", "a job writes tables and drops none"),
        ("ALTER TABLE out ADD COLUMN x INT", "`schema_evolution` of a sink adds columns"),
        ("INSERT INTO out REPLACE WHERE x = 1 SELECT 1 AS x", "'write_mode' = 'replace_where'"),
        ("INSERT INTO out REPLACE USING (x) SELECT 1 AS x", "'write_mode' = 'replace_where'"),
        ("INSERT OVERWRITE DIRECTORY 'x' SELECT 1 AS x", "a folder of files is a table"),
        ("MERGE INTO out USING x ON true WHEN MATCHED THEN DELETE", "'write_mode' = 'upsert'"),
        ("OPTIMIZE out", "`after_commit` of a Delta sink"),
        ("VACUUM out", "`after_commit` of a Delta sink"),
        ("CALL system.expire_snapshots('out')", "a job calls no procedure"),
        ("COPY INTO out FROM 'x' FILEFORMAT = CSV", "'connector' = 'LocalFile'"),
        ("REFRESH TABLE out", "each run reads its sources anew"),
        ("EXECUTE IMMEDIATE 'select 1'", "a job's text is fixed"),
        ("GRANT SELECT ON TABLE out TO x", "permissions are set where the table is"),
        ("SET TIME ZONE 'UTC'", "SET 'spark.sql.session.timeZone'"),
        ("CREATE TABLE a CLUSTER BY (x) AS SELECT 1 AS x", "clustering is an option of the connector"),
        ("CREATE TABLE a LIKE out", "CREATE VIEW name AS SELECT * FROM table takes its columns"),
        ("CREATE TABLE a (x INT, y INT GENERATED ALWAYS AS (x))", "compute it in the query that fills the table"),
        ("CREATE STREAMING TABLE a AS SELECT 1 AS x", "`SET 'job.mode' = 'STREAMING'`"),
        ("CREATE OR REFRESH STREAMING TABLE a AS SELECT 1 AS x", "`SET 'job.mode' = 'STREAMING'`"),
        ("INSERT INTO out SELECT * FROM {{ ref('a') }}", "a job has no templates"),
        ("BEGIN SELECT 1", "a run commits all its sinks together"),
        ("RESET", "leave the SET of that key out"),
        ("INSERT INTO out SELECT * FROM a@v3", "read the version in the source"),
        ("INSERT INTO out SELECT 1 AS x WHERE 1 = :day", "use a `${variable}` of the job"),
        ("INSERT INTO out SELECT * FROM STREAM(a)", "name the table alone"),
        ("INSERT OVERWRITE out SELECT 1 AS x", "`out` is a Console, which keeps no rows that could be replaced"),
    ],
)
def test_a_statement_of_another_engine_is_answered_by_what_does_its_work(tmp_path, capsys, statement, help):
    (tmp_path / "job.sql").write_text(f"CREATE TABLE out WITH ('connector' = 'Console');\n{statement};\n")
    assert main(["validate", str(tmp_path / "job.sql")]) == 2
    assert help in " ".join(capsys.readouterr().out.split())


def test_a_query_without_a_source_is_a_job(tmp_path, capsys):
    (tmp_path / "job.sql").write_text("CREATE TABLE o WITH ('connector' = 'Console');\nINSERT INTO o SELECT 1 AS id;\n")
    assert main(["validate", str(tmp_path / "job.sql")]) == 0
    assert "no errors found" in capsys.readouterr().out


@pytest.mark.parametrize(("option", "is_warned"), [("", True), (", csv_use_header_line = true", False)])
def test_a_header_that_would_be_read_as_a_row_is_a_warning(tmp_path, capsys, option, is_warned):
    (tmp_path / "data.csv").write_text("id,Name\n1,Ada\n")
    (tmp_path / "job.conf").write_text(
        f'source {{ LocalFile {{ path = "{tmp_path}/data.csv", file_format_type = "csv"{option}, '
        "schema { fields { id = string, name = string } } } }\n" + CONSOLE
    )
    assert main(["validate", str(tmp_path / "job.conf")]) == 0
    assert ("is read as a row, and it names columns: `id`, `Name`" in capsys.readouterr().out) is is_warned


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("CREATE VIEW v AS SELECT id FROM o", "INSERT INTO x SELECT * FROM v;"),
        ("CREATE VIEW v AS SELECT id FROM o;\nSET 'parallelism' = '2'", "INSERT INTO x SELECT * FROM v;"),
        ("INSERT INTO x SELECT id FROM o", "CREATE VIEW v AS SELECT id FROM o; INSERT INTO x SELECT id FROM v;"),
    ],
)
def test_a_missing_semicolon_is_one_error_where_it_is_missing(tmp_path, capsys, before, line):
    tables = "CREATE TABLE o (id INT) WITH ('connector' = 'FakeSource'); CREATE TABLE x WITH ('connector' = 'Console');"
    (tmp_path / "job.sql").write_text(f"{tables}\n{before}\n{line}\n")
    assert main(["validate", str(tmp_path / "job.sql")]) == 2
    printed = capsys.readouterr().out
    assert f"a `;` is missing before `{line.split()[0]}`" in printed
    assert "1 job: 1 error" in printed


def test_the_steps_of_a_run_name_the_connector_that_wrote(tmp_path, capsys):
    journal = tmp_path / "runs/r/journal"
    journal.mkdir(parents=True)
    (journal / "begin.json").write_text('{"at": 1, "writes": {"0a1b": "Delta"}}')
    (journal / "0a1b.staged.json").write_text('{"at": 2}')
    record(layout_at(None, str(tmp_path)), RunRecord("r", "orders", "orders.conf", State.FINISHED, now(), seconds=2.26))
    assert main(["runs", "r", "--state-dir", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "begin\n" in printed
    assert "staged (Delta 0a1b)\n" in printed


def test_fmt_shows_the_difference_of_a_file_without_a_last_new_line(tmp_path, capsys):
    (tmp_path / "job.conf").write_text("source { FakeSource {} }\nsink { Console { } }")
    main(["fmt", "--diff", str(tmp_path / "job.conf")])
    assert "-sink { Console { } }\n\\ No newline at end of file\n+sink { Console {} }\n" in capsys.readouterr().out


def test_a_table_joined_with_itself_is_reported_with_the_aliases_to_write(tmp_path, capsys):
    job = (
        "CREATE TABLE a (id INT) WITH ('connector' = 'FakeSource');\n"
        "CREATE TABLE o WITH ('connector' = 'Console');\nINSERT INTO o SELECT a.id FROM a JOIN a ON true;\n"
    )
    said = said_of(tmp_path, capsys, job, "job.sql")
    assert "`a` is in FROM twice under one name" in said
    assert "`a as x join a as y`" in said


def test_duplicate_keys_in_a_block_are_a_warning_but_overrides_are_not(tmp_path, capsys):
    job = """
source { FakeSource { row.num = 5, row.num = 6, schema { fields { id = int } }, schema { fields { name = string } } } }
sink { Console { limit = 3, limit = ${?NO_SUCH_LIMIT} } }
"""
    said = said_of(tmp_path, capsys, job, code=0)
    assert "this `row.num` has no effect" in said
    assert "1 warning" in said


def test_an_unknown_setting_of_spark_is_a_warning_with_the_one_that_is_meant(tmp_path, capsys):
    job = """
env { spark.sql.shufle.partitions = 3, spark.sql.adaptive.enabled = true, spark.hadoop.fs.s3a.endpont = "x" }
source { FakeSource { schema { fields { id = int } } } }
sink { Console {} }
"""
    said = said_of(tmp_path, capsys, job, code=0)
    assert "did you mean `spark.sql.shuffle.partitions`?" in said
    assert "1 warning" in said


def test_a_version_that_a_delta_table_lacks_is_marked_and_the_known_ones_are_named(tmp_path, capsys):
    log = tmp_path / "t/_delta_log"
    log.mkdir(parents=True)
    fields = [{"name": "id", "type": "integer", "nullable": True, "metadata": {}}]
    metadata = {"id": "1", "schemaString": json.dumps({"type": "struct", "fields": fields}), "partitionColumns": []}
    for version in (0, 1):
        (log / f"{version:020}.json").write_text(json.dumps({"metaData": metadata}))
    for schema in ("", ", schema { fields { id = int } }"):
        job = f'source {{ Delta {{ path = "{tmp_path}/t", version = 99{schema} }} }}\nsink {{ Console {{}} }}\n'
        said = said_of(tmp_path, capsys, job)
        assert "has no version 99" in said
        assert "its log has the versions 0 to 1" in said
        (line,) = (line for line in said.splitlines() if "^" in line)
        assert line.count("^") == 2


def test_a_declared_column_that_the_source_lacks_is_marked_there(tmp_path, capsys):
    (tmp_path / "c.csv").write_text("id,nam\n1,x\n")
    job = f"""
source {{ LocalFile {{ path = "{tmp_path}/c.csv", file_format_type = csv, csv_use_header_line = true
  schema {{ fields {{ id = int
                      name = string }} }} }} }}
sink {{ Console {{}} }}
"""
    said = said_of(tmp_path, capsys, job)
    assert "4│                       name = string } } } }\n  │                       ^^^^\n" in said


def test_carets_mark_the_operand_of_a_long_expression(tmp_path, capsys):
    long = "sum(id) over (partition by id order by id rows between unbounded preceding and current row)"
    job = (
        "CREATE TABLE a (id INT) WITH ('connector' = 'FakeSource');\n"
        f"CREATE TABLE o WITH ('connector' = 'Console');\nINSERT INTO o SELECT {long} + array(1) AS y FROM a;\n"
    )
    said = said_of(tmp_path, capsys, job, "job.sql")
    (line,) = (line for line in said.splitlines() if "^" in line)
    assert line.count("^") == len("array(1)")


def test_upsert_is_offered_only_where_a_sink_can_do_it(tmp_path, capsys):
    job = """
source { FakeSource { schema { fields { id = int } } } }
sink { %s { path = "o", write_mode = "upsrt" } }
"""
    assert "`upsert`" not in said_of(tmp_path, capsys, job % "LocalFile")
    assert "`upsert`" in said_of(tmp_path, capsys, job % "Delta")


def test_progress_names_the_job_and_prints_totals_of_many_pipelines_and_what_failed():
    out = io.StringIO()
    with shown_progress(None, "load", 200, stream=out) as progress:
        for number in range(200):
            progress.changed(f"t{number}", State.RUNNING)
            progress.changed(f"t{number}", State.FAILED if number == 7 else State.FINISHED)
        progress.committing([f"t{number}" for number in range(199)])
        progress.committed([f"t{number}" for number in range(199)])
    lines = [line.split("  ")[-1] for line in out.getvalue().splitlines()]
    assert lines == [
        "load: 0 of 200 pipelines staged, 1 running", "load: t7: FAILED", "load: committing 199 pipelines",
        "load: 199 pipelines: FINISHED",
    ]  # fmt: skip
    every = io.StringIO()
    with shown_progress(None, "load", 200, stream=every, lists_all=True) as progress:
        progress.changed("t0", State.RUNNING)
    assert every.getvalue().endswith("load: t0: RUNNING\n")


def test_rows_are_printed_as_they_are():
    """rich would take `[red]` for a colour, `:smile:` for a picture, and fail at `[/foo]`."""
    printed = io.StringIO()
    value = "[red]x :smile: [/foo]"
    console(printed).print(row_table([value], [[value]]))
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == [value, value]


def test_the_table_of_many_pipelines_is_a_summary_and_verbose_lists_all():
    pipelines = tuple(
        PipelineResult(f"{number}: t{number}", State.FAILED if number == 7 else State.FINISHED, 1, 0.5,
                       (ReadCount("t", 10, None, 1),), (WriteCount("s", 10, 2),))
        for number in range(200)
    )  # fmt: skip
    result = JobResult("many", "r1", State.FAILED, 9.0, pipelines)
    short, long = io.StringIO(), io.StringIO()
    print_summary(result, short)
    print_summary(result, long, lists_all=True)
    assert len(short.getvalue().splitlines()) < 10
    assert "200 pipelines" in short.getvalue()
    assert "2,000" in short.getvalue()
    assert "1 FAILED: 7: t7" in short.getvalue()
    assert "`--verbose` lists each pipeline" in short.getvalue()
    assert len(long.getvalue().splitlines()) > 600


def test_rows_that_filters_dropped_are_unknown_behind_a_join_with_a_condition():
    def execution(name, description):
        scan = Operator(1, "Scan", "Scan", {"number of output rows": "100"})
        top = Operator(0, name, description, {"number of output rows": "40"})
        return SimpleNamespace(
            operators=(top, scan), by_id={0: top, 1: scan}, inputs={0: (1,)}, rows_out=lambda o: o.count(ROWS)
        )

    assert filtered_rows(execution("Filter", "Filter (v#1 > 1)")) == 60
    assert filtered_rows(execution("WindowGroupLimit", "WindowGroupLimit [k#1], row_number(), 1, Final")) == 60
    assert (
        filtered_rows(execution("BroadcastHashJoin", "BroadcastHashJoin [k#1], [k#2], Inner, BuildRight, false")) == 0
    )
    for description in (
        "BroadcastHashJoin [k#1], [k#2], Inner, BuildRight, (v#1 > w#2), false",
        "SortMergeJoin [k#1], [k#2], LeftAnti",
        "BroadcastNestedLoopJoin BuildRight, Inner, (v#1 > w#2)",
    ):
        assert filtered_rows(execution(description.split()[0], description)) is None


def test_validate_refuses_a_target_with_foreign_files(tmp_path, capsys):
    job = f"""
source {{ FakeSource {{ schema {{ fields {{ id = int }} }} }} }}
sink {{ LocalFile {{ path = "{tmp_path}/out", file_format_type = json, data_save_mode = DROP_DATA }} }}
"""
    assert "no errors found" in said_of(tmp_path, capsys, job, code=0)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/notes.txt").write_text("mine")
    said = said_of(tmp_path, capsys, job)
    assert "holds files that Penstock did not write: `notes.txt`" in said
    assert "no errors found" in said_of(tmp_path, capsys, job.replace("DROP_DATA", "APPEND_DATA"), code=0)


@pytest.mark.spark
def test_describe_of_a_mistyped_path_names_the_file_that_is_there(project, capsys):
    assert main(["describe", "data/ordrs.csv"]) == 2
    assert "did you mean `data/orders.csv`?" in capsys.readouterr().err


def test_schema_sync_says_why_it_locks_nothing(project, capsys):
    assert main(["schema", "sync", "jobs"]) == 0
    assert "0 sources: each source of these jobs declares its columns" in capsys.readouterr().out


@pytest.mark.spark
def test_describe_asks_for_the_table_of_a_database(capsys):
    assert main(["describe", "jdbc:postgresql://host/shop"]) == 2
    assert "--table public.orders" in capsys.readouterr().err


@pytest.mark.spark
def test_describe_prints_a_block_for_the_table_of_a_database(spark, tmp_path, capsys, monkeypatch):
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        shop.execute("create table orders (id integer primary key, customer text, amount double)")
    monkeypatch.setenv("PENSTOCK_JDBC_PASSWORD", "sesame")
    assert main(["describe", f"jdbc:sqlite:{tmp_path}/shop.db", "--table", "orders"]) == 0
    said = capsys.readouterr().out
    assert "table_path = orders" in said
    assert "password = ${PENSTOCK_JDBC_PASSWORD}" in said
    assert "sesame" not in said
    job = tmp_path / "job.conf"
    job.write_text(said + "sink { Console {} }\n")
    assert main(["validate", str(job)]) == 0


@pytest.mark.spark
def test_a_machine_without_java_gets_one_clear_sentence(tmp_path):
    (tmp_path / "job.conf").write_text(
        "source { FakeSource { row.num = 1, schema { fields { id = int } } } }\nsink { Console {} }\n"
    )
    environment = {**os.environ, "PATH": str(tmp_path), "PYTHONPATH": os.getcwd(), "PENSTOCK_STATE_DIR": str(tmp_path)}
    environment.pop("JAVA_HOME", None)
    command = [sys.executable, "-m", "engine.cli", "run", str(tmp_path / "job.conf")]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 1
    assert "error[PEN5002]" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) <= 3


@pytest.mark.spark
def test_package_with_jars_bundles_what_spark_submit_needs_without_a_network(spark, tmp_path, capsys):
    (tmp_path / "job.conf").write_text(
        'source { FakeSource { schema { fields { id = int } } } }\nsink { Delta { path = "${out}" } }\n'
    )
    (tmp_path / "plain.conf").write_text(
        "source { FakeSource { schema { fields { id = int } } } }\nsink { Console {} }\n"
    )
    assert main(["package", str(tmp_path / "job.conf"), "--jars", "-o", str(tmp_path / "app.zip")]) == 0
    command = capsys.readouterr().out.splitlines()[-1]
    jars = re.search(r"spark-submit --jars (\S+) --py-files", command)[1].split(",")
    assert any(f"delta-spark_4.1_2.13-{DELTA_VERSION}.jar" in jar for jar in jars)
    assert all(Path(jar).is_file() and Path(jar).parent == tmp_path / "app-jars" for jar in jars)
    assert "--packages" not in command
    assert main(["package", str(tmp_path / "plain.conf"), "--jars", "-o", str(tmp_path / "plain.zip")]) == 0
    assert "the jobs need no jars" in capsys.readouterr().out


def test_running_pipelines_are_shown_first():
    screen = Screen("load", lambda: (1, 4))
    for name, state in (("a", State.FINISHED), ("b", State.SCHEDULED), ("c", State.RUNNING)):
        screen.changed(name, state)
    screen.doing("c", "writing sink (1 of 1)")
    out = io.StringIO()
    Console(file=out, width=100).print(screen.__rich__())
    names = [line.split()[0] for line in out.getvalue().splitlines()]
    assert names == ["c", "a", "b", "load"]
    assert "writing sink (1 of 1)" in out.getvalue()


def test_ctrl_c_says_at_once_that_the_run_is_being_cancelled(capsys):
    def waits_in_a_run():
        with interrupts_of_run() as received, received.raised():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)

    with pytest.raises(InterruptedRun):
        waits_in_a_run()
    assert capsys.readouterr().err.startswith("cancelling: ")
