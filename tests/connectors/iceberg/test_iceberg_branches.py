"""Branches that rows are appended to, ranges of snapshots, and what jobs of SeaTunnel say about Iceberg."""

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, RunError
from connectors.iceberg.connector import connector
from connectors.iceberg.seatunnel_options import hadoop_settings
from engine.compile import Settings, compile_job
from engine.spark.writing.commit import commit_all
from tests.connectors.given_options import options_of
from tests.connectors.iceberg.iceberg_target import IcebergTarget
from tests.connectors.jobs import stage_writes


@pytest.fixture
def target(spark, tmp_path):
    return IcebergTarget(spark, tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("exists", [False, True])
def test_rows_are_appended_to_a_branch(target, exists):
    columns = ("id bigint",)
    if exists:
        target.write("select 1L id", columns)
    for number in (2, 3):
        target.write(f"select {number}L id", columns, to_branch="audit")
    assert target.rows() == ([(1,)] if exists else [])
    assert target.rows(branch="audit") == ([(1,)] if exists else []) + [(2,), (3,)]
    assert set(target.refs()) == {*(["main"] if exists else []), "audit"}


@pytest.mark.spark
def test_a_commit_to_a_branch_is_repeated_without_effect(target, spark):
    job = target.job("select 1L id", ("id bigint",), to_branch="audit")
    run = stage_writes(spark, [job], target.state, "r1")
    commit_all(spark, run)
    connector.commit(spark, run.places["w"], run.context)
    assert target.rows(branch="audit") == [(1,)]


@pytest.mark.spark
def test_the_rows_that_a_range_of_snapshots_has_appended(target):
    for number in range(1, 5):
        target.write(f"select {number}L id", ("id bigint",))
    made = sorted(target.metadata()["snapshots"], key=lambda snapshot: snapshot["sequence-number"])
    ids, times = [each["snapshot-id"] for each in made], [each["timestamp-ms"] for each in made]
    assert target.rows(start_snapshot_id=ids[1]) == [(3,), (4,)]
    assert target.rows(start_snapshot_id=ids[0], end_snapshot_id=ids[2]) == [(2,), (3,)]
    assert target.rows(start_snapshot_timestamp=times[2]) == [(4,)]
    with pytest.raises(RunError, match="no snapshot of the time 1"):
        target.rows(start_snapshot_timestamp=1)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"to_branch": "audit", "write_mode": "upsert", "primary_keys": ["id"]}, "not write_mode upsert"),
        ({"to_branch": "audit", "data_save_mode": "DROP_DATA"}, "not data_save_mode DROP_DATA"),
        ({"to_branch": "audit", "schema_save_mode": "RECREATE_SCHEMA"}, "RECREATE_SCHEMA replaces the table"),
    ],
)
def test_a_branch_takes_appends_alone(target, given, said):
    diagnostics = Diagnostics()
    job = target.job("select 1L id", ("id bigint",), **given)
    connector.validate(job.options, job.input.table, diagnostics)
    assert said in " ".join(item.message for item in diagnostics)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"end_snapshot_id": 1}, "begins nowhere"),
        ({"start_snapshot_id": 1, "start_snapshot_timestamp": 1}, "exclude each other"),
        ({"start_snapshot_id": 1, "branch": "b"}, "`branch` and `start_snapshot_id` exclude each other"),
    ],
)
def test_ranges_that_cannot_be(given, said):
    diagnostics = Diagnostics()
    options = options_of(connector.source_options, warehouse="/w", table="a.b", **given)
    connector.tables(options, diagnostics)
    assert said in " ".join(item.message for item in diagnostics)


def test_settings_of_hadoop_come_from_its_files(tmp_path):
    def site(name, **properties):
        entries = (
            f"<property><name>{key}</name><value>{value}</value></property>" for key, value in properties.items()
        )
        (tmp_path / name).write_text(f"<configuration>{''.join(entries)}</configuration>")

    site("core-site.xml", a=1, b=2)
    site("hive-site.xml", b=3, c=4)
    given = {"iceberg.hadoop-conf-path": str(tmp_path), "hadoop.config": {"c": "5"}}
    assert hadoop_settings(options_of(connector.source_options, **given)) == {"a": "1", "b": "3", "c": "5"}
    (tmp_path / "hdfs-site.xml").write_text("<configuration>")
    with pytest.raises(RunError, match="a file of Hadoop's settings"):
        hadoop_settings(options_of(connector.source_options, **given))


@pytest.mark.spark
def test_timestamps_without_a_zone_are_seatunnels_timestamps(target, spark, tmp_path, monkeypatch):
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest

    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    query = "select 1L id, timestamp_ntz '2026-01-02 03:04:05' at, array(timestamp_ntz '2026-01-02 03:04:05') many"
    target.write(query, ("id bigint", "at timestamp_ntz", "many array<timestamp_ntz>"))
    job = tmp_path / "job.conf"
    job.write_text(f"""
    source {{ Iceberg {{
      namespace = db, table = target, iceberg.catalog.config {{ type = hadoop, warehouse = "{target.warehouse}" }}
      schema {{ fields {{ id = bigint, at = timestamp, many = "array<timestamp>" }} }}
    }} }}
    sink {{ Assert {{ rules {{ field_rules = [
      {{ field_name = at, field_type = timestamp, field_value = [{{ equals_to = "2026-01-02T03:04:05" }}] }}
    ] }} }} }}
    """)
    diagnostics = Diagnostics()
    found = compile_job(job, Settings(compat=Compat.SEATUNNEL_2), diagnostics)
    assert found is not None, list(diagnostics)
    result = run_job(spark, found, RunRequest("clock"))
    assert str(result.state).endswith("FINISHED"), result.diagnostics
