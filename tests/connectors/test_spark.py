"""The Spark connector: any data source by format and options, and tables of the catalog."""

import shutil
from pathlib import Path

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, JobError, RunError, Severity
from connectors.spark import connector
from connectors.storage.local_files import LocalFiles
from engine.plan.nodes import Scan
from engine.spark.lower import lower
from engine.spark.session import pipeline_session
from engine.spark.writing.recover import recover, resume
from engine.state.dismissal import forget
from engine.state.journal import RunOutcome, journal_in
from engine.state.layout import layout_at
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, write
from tests.connectors.killed_commits import Killed
from tests.engine.commands.test_secrets import SPELLINGS

pytestmark = pytest.mark.spark
SCHEMA = {"fields": {"id": "bigint", "name": "string"}}


def read(spark, **given):
    options = options_of(connector.source_options, **given)
    diagnostics = Diagnostics()
    (table,) = connector.tables(options, diagnostics)
    assert list(diagnostics) == []
    scan = Scan("spark", connector, options, table, id="scan", span=options.span())
    return lower(pipeline_session(spark), [write(connectors.sink("Console"), scan)]).dataframes[scan]


@pytest.mark.parametrize(("mode", "count"), [("APPEND_DATA", 8), ("DROP_DATA", 4)])
def test_round_trip(spark, tmp_path, mode, count):
    scan = rows("select id, 'x' name from range(4)", "id bigint", "name string")
    given = {"format": "csv", "path": str(tmp_path / "out"), "options": {"header": True, "sep": "|"}}
    for run in ("one", "two", "two"):
        run_writes(spark, [write(connector, scan, data_save_mode=mode, **given)], str(tmp_path / "state"), run)
    df = read(spark, **given, schema=SCHEMA)
    assert df.dtypes == [("id", "bigint"), ("name", "string")]
    assert df.count() == count
    assert not list((tmp_path / "state").rglob("*.parquet"))


def test_catalog_table(spark, tmp_path):
    scan = rows("select /*+ repartition(2) */ id, 'x' name from range(4)", "id bigint", "name string")
    job = [write(connector, scan, format="parquet", table="made_by_test", data_save_mode="DROP_DATA")]
    run_writes(spark, job, str(tmp_path / "state"), "run")
    assert read(spark, format="parquet", table="made_by_test", schema=SCHEMA).count() == 4
    spark.sql("drop table made_by_test")


def test_schema_that_is_not_the_sources(spark, tmp_path):
    spark.range(3).write.parquet(str(tmp_path / "in"))
    with pytest.raises(RunError, match="PEN5004"):
        read(spark, format="rate", schema=SCHEMA)


def test_secret_options_stay_out_of_the_journal(spark, tmp_path):
    scan = rows("select 1 id", "id int")
    given = {"format": "csv", "path": str(tmp_path / "out"), "options": {}}
    given["options"] = {
        "password": "sesame",
        "sep": "|",
        "sasl": 'Plain required password="sesame";',
        "a": "b?pwd=sesame",
        **dict.fromkeys(SPELLINGS, "sesame"),
    }
    run_writes(spark, [write(connector, scan, **given)], str(tmp_path / "state"), "run")
    journal = "".join(path.read_text() for path in (tmp_path / "state").rglob("*.json"))
    assert '"sep": "|"' in journal
    assert "sesame" not in journal


def cut_off(spark, tmp_path, monkeypatch, mode, before_noted=True):
    """A run that was killed after the data source had got its rows: before that was noted, or where the test has it."""
    scan = rows("select id, 'x' name from range(4)", "id bigint", "name string")
    job = [write(connector, scan, format="parquet", path=str(tmp_path / "out"), data_save_mode=mode)]
    with monkeypatch.context() as patched:
        if before_noted:
            patched.setattr(LocalFiles, "write", killed_before("done", LocalFiles.write))
        with pytest.raises(Killed):
            run_writes(spark, job, str(tmp_path / "state"), "cut")
    log = journal_in(layout_at(spark, str(tmp_path / "state")), "cut")
    begun = log.read().steps["begin"]
    log._put("begin", {**begun, "owner": {**begun["owner"], "pid": 2**22 + 1, "jvm_pid": None}})
    return log


def killed_before(name, change):
    """The same change of the file system, but for a path of that name: there the process is killed."""

    def do(files, path, *arguments):
        if path.endswith(f"/{name}"):
            raise Killed
        return change(files, path, *arguments)

    return do


@pytest.mark.parametrize("mode", ["APPEND_DATA", "DROP_DATA"])
def test_killed_while_the_staged_rows_are_removed(spark, tmp_path, monkeypatch, mode):
    """Some of the staged files are gone: what is left must not be taken for all the rows."""

    def half(path, ignore_errors):
        staging = next((tmp_path / "state").glob("runs/cut/staging/*"))
        files = sorted(staging.glob("data/*.parquet"))
        assert len(files) > 1
        files[0].unlink()
        (staging / "begun").unlink(missing_ok=True)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", half)
        log = cut_off(spark, tmp_path, patched, mode, before_noted=False)
    assert resume(spark, layout_at(spark, str(tmp_path / "state")), "cut") is RunOutcome.FINISHED
    assert spark.read.parquet(str(tmp_path / "out")).count() == 4
    assert log.read().outcome is RunOutcome.FINISHED
    assert not list((tmp_path / "state").rglob("*.parquet"))


def test_an_append_that_was_cut_off_is_not_done_again(spark, tmp_path, monkeypatch):
    log = cut_off(spark, tmp_path, monkeypatch, "APPEND_DATA")
    for _ in range(2):
        with pytest.raises(RunError) as caught:
            resume(spark, layout_at(spark, str(tmp_path / "state")), "cut")
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "PEN5010"
        assert str(tmp_path / "out") in diagnostic.message
        assert "penstock runs --forget cut" in diagnostic.help
    (warning,) = recover(spark, layout_at(spark, str(tmp_path / "state")))  # another run goes on
    assert (warning.code, warning.severity) == ("PEN5010", Severity.WARNING)
    assert spark.read.parquet(str(tmp_path / "out")).count() == 4
    (dismissed,) = forget(layout_at(None, str(tmp_path / "state")), "cut").writes  # as the help says
    assert dismissed.state == "its commit may have begun; look at the target"
    assert list(Path(dismissed.staging).rglob("*.parquet"))
    assert log.read().outcome is RunOutcome.DISMISSED
    assert recover(spark, layout_at(spark, str(tmp_path / "state"))) == ()
    assert spark.read.parquet(str(tmp_path / "out")).count() == 4
    with pytest.raises(RunError, match=r"PEN5008.*it was dismissed"):
        resume(spark, layout_at(spark, str(tmp_path / "state")), "cut")
    with pytest.raises(JobError, match=r"PEN5309.*nothing is left to dismiss"):
        forget(layout_at(None, str(tmp_path / "state")), "cut")
    job = [
        write(
            connector,
            rows("select 9L id, 'x' name", "id bigint", "name string"),
            format="parquet",
            path=str(tmp_path / "out"),
        )
    ]
    run_writes(spark, job, str(tmp_path / "state"), "cut")  # the same id writes what is not committed
    assert spark.read.parquet(str(tmp_path / "out")).count() == 5


def test_an_overwrite_that_was_cut_off_is_done_again(spark, tmp_path, monkeypatch):
    cut_off(spark, tmp_path, monkeypatch, "DROP_DATA")
    assert resume(spark, layout_at(spark, str(tmp_path / "state")), "cut") is RunOutcome.FINISHED
    assert spark.read.parquet(str(tmp_path / "out")).count() == 4
    assert not list((tmp_path / "state").rglob("*.parquet"))


def test_replacing_the_rows_of_a_database_keeps_its_table(spark, tmp_path):
    """Derby, which comes with Spark."""
    url = f"jdbc:derby:{tmp_path / 'db'};create=true"
    driver = "org.apache.derby.jdbc.EmbeddedDriver"
    jvm = spark.sparkContext._jvm
    jvm.java.lang.Class.forName(driver)
    connection = jvm.org.apache.derby.jdbc.EmbeddedDriver().connect(url, jvm.java.util.Properties())
    try:
        statement = connection.createStatement()
        statement.execute("create table kept (id bigint not null primary key, name varchar(20) default 'none')")
        statement.execute("insert into kept values (9, 'old')")
        scan = rows("select id, 'x' name from range(2)", "id bigint", "name string")
        given = {"url": url, "driver": driver, "dbtable": "kept"}
        job = write(connector, scan, format="jdbc", options=given, data_save_mode="DROP_DATA")
        run_writes(spark, [job], str(tmp_path / "state"), "run")
        statement.execute("insert into kept (id) values (7)")
        found = statement.executeQuery("select count(*), max(case when id = 7 then name end) from kept")
        assert found.next()
        assert (found.getInt(1), found.getString(2)) == (3, "none")
        keys = connection.getMetaData().getPrimaryKeys(None, None, "KEPT")
        assert keys.next()
    finally:
        connection.close()
