"""Files and Delta tables in an S3 bucket: a commit completes uploads, and nothing is renamed."""

import json
from typing import ClassVar

import pytest

import connectors
from catalog.diagnostics.diagnostic import RunError
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BIGINT, STRING
from connectors.files.committing.upload_commit import UploadStore
from connectors.interface.source import ScanTask
from connectors.local_file import connector
from connectors.storage.filesystem import files_at
from connectors.storage.hadoop_files import HadoopFiles
from connectors.storage.object_store import StoreSettings
from engine.cli import main
from engine.job.model.job import Env
from engine.plan.nodes import Plan
from engine.plan.rendering.explain_text import explain
from tests.connectors.dead_runs import bury_claims
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, stage_writes, write
from tests.connectors.killed_files import killed_before
from tests.connectors.suite import ResolvedSinkSuite, ShippedSuite, SinkSuite
from tests.sampling import sampled
from tests.services.s3 import SECRET_KEY

CHANGES = ((UploadStore, "complete"), (HadoopFiles, "delete"), (HadoopFiles, "write"))
"""The changes before which a commit is killed."""


class OnS3(SinkSuite):
    """The shared suite, at paths of a bucket, which also holds the journals."""

    @pytest.fixture
    def tmp_path(self, s3_spark, s3, monkeypatch):
        bucket = s3.bucket()
        StoreSettings.of(str(bucket), s3.settings).apply(s3_spark)
        monkeypatch.setattr(type(self), "given", {**self.given, "hadoop_properties": s3.settings})
        return bucket

    def hinder(self, tmp_path):
        for key in tmp_path.keys():  # noqa: SIM118 (of a bucket, not of a dictionary)
            if key.startswith(".other.penstock/") and "/data/" in key:
                tmp_path.delete(key)

    def bury(self, spark, tmp_path, run_id, mark):
        bury_claims(*files_at(spark, str(tmp_path / ".target.penstock/claims")))

    def leftovers(self, tmp_path):
        known = ("target", "state", "other")
        print(tmp_path.keys(), tmp_path.uploads())  # shown where the test fails
        return [*(name for name in tmp_path.children() if name not in known), *tmp_path.uploads()]


@pytest.mark.spark
@sampled(
    SinkSuite,
    "test_same_run_id_twice",
    "test_overwrite_partitions",
)
class TestParquet(OnS3):
    name = "LocalFile"
    given: ClassVar = {"file_format_type": "parquet"}

    def read(self, spark, path):
        return spark.read.parquet(path)

    @pytest.mark.parametrize(("mode", "step"), [("DROP_DATA", 3), ("APPEND_DATA", 2), ("PARTITIONS", 4)])
    def test_killed_before_a_step_of_the_commit(self, spark, tmp_path, monkeypatch, mode, step):
        assert self.killed_before(step, mode, spark, tmp_path, monkeypatch)

    @pytest.mark.soak
    @pytest.mark.parametrize("mode", ["DROP_DATA", "APPEND_DATA", "PARTITIONS"])
    def test_killed_before_each_step_of_the_commit(self, spark, tmp_path, monkeypatch, mode):
        assert all(self.killed_before(step, mode, spark, tmp_path, monkeypatch) for step in range(1, 5))
        assert not all(self.killed_before(step, mode, spark, tmp_path, monkeypatch) for step in range(5, 20))

    def killed_before(self, step, mode, spark, tmp_path, monkeypatch):
        was_killed = killed_before(self, step, mode, spark, tmp_path, monkeypatch, CHANGES)
        assert [name for name in tmp_path.children() if name.startswith(".")] == tmp_path.uploads() == []
        return was_killed

    def test_the_commit_renames_nothing_and_survives_expired_uploads(self, spark, tmp_path, monkeypatch):
        monkeypatch.setattr(HadoopFiles, "rename", None)
        self.fill(spark, tmp_path)
        state = str(tmp_path / "state")
        run = stage_writes(spark, [self.write(tmp_path / "target", data_save_mode="DROP_DATA")], state, "run")
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "old")
        for upload in tmp_path.client.list_multipart_uploads(Bucket=tmp_path.bucket)["Uploads"]:
            tmp_path.client.abort_multipart_upload(
                Bucket=tmp_path.bucket, Key=upload["Key"], UploadId=upload["UploadId"]
            )
        connector.commit(spark, run.places["w"], run.context)
        assert self.rows_at(spark, tmp_path / "target") == self.expect(spark, "new")
        assert self.leftovers(tmp_path) == []

    def test_a_big_file_is_copied_in_parts(self, spark, tmp_path, monkeypatch):
        monkeypatch.setattr(
            "connectors.files.committing.upload_commit._PART", 5 * 1024 * 1024
        )  # the least that S3 takes
        query = "select id, sha2(string(id), 256) name, cast(id as decimal(10,2)) amount from range(0, 150000, 1, 1)"
        run = stage_writes(spark, [self.write(tmp_path / "target", query)], str(tmp_path / "state"), "run")
        [record] = [key for key in tmp_path.keys() if key.endswith("/uploads.json")]  # noqa: SIM118
        assert max(len(upload["tags"]) for upload in json.loads(tmp_path.read(record))) >= 2
        connector.commit(spark, run.places["w"], run.context)
        there = self.read(spark, str(tmp_path / "target"))
        assert there.count() == 150000
        assert there.where("name <> sha2(string(id), 256)").isEmpty()

    def test_no_object_holds_the_secret_key(self, spark, tmp_path):
        stage_writes(spark, [self.write(tmp_path / "target")], str(tmp_path / "state"), "run")
        found = {key: tmp_path.read(key) for key in tmp_path.keys()}  # noqa: SIM118
        assert any("journal" in key for key in found)
        assert [key for key, content in found.items() if SECRET_KEY.encode() in content] == []


FEW_SHIPPED = ("test_another_process_commits_from_the_journal", "test_another_process_aborts_from_the_journal")


class ShippedOnS3(ShippedSuite):
    """The suite that ships with Penstock, with targets in a bucket."""

    def begin_at(self, request):
        store, session = request.getfixturevalue("s3"), request.getfixturevalue("s3_spark")
        self.place = store.bucket()
        StoreSettings.of(str(self.place), store.settings).apply(session)
        self.suite.given = {**self.described.given, "hadoop_properties": store.settings}


@pytest.mark.spark
@sampled(ShippedSuite, *FEW_SHIPPED)
class TestShippedFiles(ShippedOnS3):
    described = TestParquet


@pytest.mark.spark
@pytest.mark.delta
@sampled(SinkSuite)
class TestDelta(OnS3, ResolvedSinkSuite):
    name = "Delta"

    def read(self, spark, path):
        return spark.read.format("delta").load(path)

    def hinder(self, tmp_path):
        for key in tmp_path.keys():  # noqa: SIM118
            if key.startswith("other/") and key.endswith(".parquet"):
                tmp_path.delete(key)

    def test_upsert(self, spark, tmp_path):
        columns = ("id bigint", "name string", "amount decimal(10,2)")
        self.fill(spark, tmp_path)
        changed = "select id, 'changed' name, cast(1 as decimal(10,2)) amount from range(5, 12)"
        given = {"write_mode": "upsert", "primary_keys": ["id"]}
        run_writes(spark, [self.write(tmp_path / "target", changed, columns, **given)], str(tmp_path / "state"), "run")
        found = [name for _, name, _ in self.rows_at(spark, tmp_path / "target")]
        assert found == [f"old{id}" for id in range(5)] + ["changed"] * 7


@pytest.mark.spark
def test_an_iceberg_table_of_a_warehouse_in_a_bucket(s3_spark, s3, tmp_path):
    bucket = s3.bucket()
    source, sink = connectors.source("Iceberg"), connectors.sink("Iceberg")
    given = {"warehouse": f"{bucket}/lake", "table": "sales.orders", "hadoop.config": s3.settings}
    assert [jar.split(":")[1] for jar in sink.jars(options_of(sink.sink_options, **given))][1:] == ["hadoop-aws"]
    columns = ("id bigint", "name string")
    for run, mode in (("first", "APPEND_DATA"), ("second", "DROP_DATA"), ("third", "APPEND_DATA")):
        job = [write(sink, rows(f"select 1L id, '{run}' name", *columns), **given, data_save_mode=mode)]
        for _ in range(1 if run == "second" else 2):
            run_writes(s3_spark, job, str(tmp_path / "state"), run)
    table = CatalogTable.of("orders", [Column("id", BIGINT), Column("name", STRING)])
    df = source.read(s3_spark.newSession(), ScanTask(options_of(source.source_options, **given), table))
    assert sorted(df.collect()) == [(1, "second"), (1, "third")]
    assert SECRET_KEY not in "".join(file.read_text() for file in (tmp_path / "state").rglob("*.json"))
    text = explain(Plan(Env("job"), tuple(job)))
    assert "s3a: needs org.apache.hadoop:hadoop-aws:" in text
    assert "may lose rows; name the table in a catalog" in text


JOB = """
source {{ S3File {{
  plugin_output = orders, bucket = "{bucket}", path = "/in", file_format_type = csv, csv_use_header_line = true
  schema {{ fields {{ id = bigint, amount = string }} }}
  {store}
}} }}
transform {{ Sql {{ query = "select id, cast(amount as decimal(10,2)) amount from orders" }} }}
sink {{ S3File {{ bucket = "{bucket}", path = "/out", file_format_type = parquet, {store} }} }}
"""


@pytest.mark.spark
def test_a_job_reads_and_writes_a_bucket_and_shows_no_secret(s3_spark, s3, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    bucket, path = s3.bucket(), tmp_path / "job.conf"
    store = f"""access_key = key, secret_key = "{SECRET_KEY}", fs.s3a.endpoint = "{s3.endpoint}"
      hadoop_s3_properties {{ fs.s3a.endpoint.region = us-east-1, fs.s3a.path.style.access = true }}"""
    path.write_text(JOB.format(bucket=bucket, store=store))
    bucket.write("in/a.csv", "id,amount\n1,1.50\n2,2.50\n")
    assert main(["validate", str(path)]) == 0
    assert main(["explain", str(path)]) == 0
    for _ in range(2):
        assert main(["run", str(path), "--run-id", "first"]) == 0
    bucket.write("in/b.csv", "id,amount\n3,none\n")
    assert main(["run", str(path), "--run-id", "second"]) == 1
    found = s3_spark.read.parquet(f"{bucket}/out").collect()
    assert sorted((row.id, str(row.amount)) for row in found) == [(1, "1.50"), (2, "2.50")]
    assert bucket.children() == ["in", "out"]
    assert bucket.uploads() == []
    shown = capsys.readouterr()
    written = [file.read_text() for file in (tmp_path / "state").rglob("*") if file.is_file()]
    assert "hadoop-aws" in shown.out
    assert SECRET_KEY not in "".join([shown.out, shown.err, *written])


@pytest.mark.spark
def test_a_small_file_is_created_once(s3_spark, s3):
    bucket = s3.bucket()
    StoreSettings.of(str(bucket), s3.settings).apply(s3_spark)
    files, root = files_at(s3_spark, str(bucket))
    assert isinstance(files, HadoopFiles)
    assert files.is_s3
    assert files.write_new(f"{root}/a/lock", "first")
    assert not files.write_new(f"{root}/a/lock", "second")
    with pytest.MonkeyPatch.context() as patched:  # both writers saw no file: the store decides
        seen = iter([False, True])
        patched.setattr(HadoopFiles, "exists", lambda *_: next(seen))
        assert not files.write_new(f"{root}/a/lock", "third")
    assert bucket.read("a/lock") == b"first"
    files.write(f"{root}/a/lock", "ü")
    assert files.read(f"{root}/a/lock") == "ü"
    assert files.children(f"{root}/a") == ["lock"]


@pytest.mark.parametrize(
    ("name", "given", "jars"),
    [
        ("LocalFile", {"path": "s3a://raw/a"}, ["hadoop-aws", "spark-hadoop-cloud_2.13"]),
        ("S3File", {"path": "/a", "bucket": "s3a://raw"}, ["hadoop-aws", "spark-hadoop-cloud_2.13"]),
        ("LocalFile", {"path": "abfss://c@a.dfs.core.windows.net/a"}, ["hadoop-azure"]),
        ("LocalFile", {"path": "hdfs://nn/a"}, []),
        ("LocalFile", {"path": "/a"}, []),
        ("Delta", {"path": "s3a://raw/a"}, ["delta-spark_4.1_2.13", "hadoop-aws"]),
        ("Delta", {"path": "/a"}, ["delta-spark_4.1_2.13"]),
    ],
)
def test_the_jar_is_named_by_the_scheme(name, given, jars):
    sink, source = connectors.sink(name), connectors.source(name)
    kind = {} if name == "Delta" else {"file_format_type": "parquet"}
    written = sink.jars(options_of(sink.sink_options, **given, **kind))
    assert [jar.split(":")[1] for jar in written] == jars
    read = source.jars(options_of(source.source_options, **given, **kind))
    assert [jar.split(":")[1] for jar in read] == [jar for jar in jars if "cloud" not in jar]


def test_settings_are_those_of_one_bucket_and_secrets_are_not_journaled():
    given = {"fs.s3a.endpoint": "http://h:9000", "fs.s3a.secret.key": "planted-1", "fs.s3a.impl": "x", "fs.x": "1"}
    settings = StoreSettings.of("s3a://raw/in/a", given)
    assert settings.plain == {"fs.s3a.bucket.raw.endpoint": "http://h:9000", "fs.s3a.impl": "x", "fs.x": "1"}
    assert settings.secrets == {"fs.s3a.bucket.raw.secret.key": "planted-1"}
    assert "planted-1" not in json.dumps(settings.to_json()) + repr(settings)
    assert StoreSettings.from_json(settings.to_json()).plain == settings.plain


@pytest.mark.parametrize(
    ("mode", "said"), [("DROP_DATA", "then the old ones are deleted"), ("APPEND_DATA", "one request each; a run")]
)
def test_explain_shows_that_a_commit_is_seen_half_done(mode, said):
    suite = TestParquet()
    text = explain(Plan(Env("job"), (suite.write("s3a://raw/out", data_save_mode=mode),)))
    assert "not atomic on S3" in text
    assert said in text


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("s3a://raw/out", "s3a: needs org.apache.hadoop:hadoop-aws:3.4.2, org.apache.spark:spark-hadoop-cloud_2.13:"),
        ("abfss://c@a.dfs.core.windows.net/out", "abfss: needs org.apache.hadoop:hadoop-azure:3.4.2"),
        ("gs://raw/out", "gs: needs a jar that Spark cannot fetch by its name: `spark.jars = "),
    ],
)
def test_explain_names_the_jars(path, said):
    assert said in explain(Plan(Env("job"), (TestParquet().write(path),)))


def test_a_commit_of_one_application_at_a_time_is_shown_for_delta():
    assert "spark.delta.logStore.s3a.impl" in explain(Plan(Env("job"), (TestDelta().write("s3a://raw/out"),)))


@pytest.mark.spark
def test_a_bucket_that_is_not_there_fails_before_anything_is_read(s3_spark, s3, tmp_path):
    suite = TestParquet()
    given = {"hadoop_properties": s3.settings, "file_format_type": "parquet"}
    with pytest.raises(RunError) as caught:
        run_writes(s3_spark, [suite.write("s3a://no-such-bucket-1/out", **given)], str(tmp_path), "run")
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["PEN5005"]


STORES = {
    "S3File": """bucket = "{bucket}", access_key = key, secret_key = "{key}", fs.s3a.endpoint = "{endpoint}"
      hadoop_s3_properties {{ fs.s3a.endpoint.region = us-east-1, fs.s3a.path.style.access = true }}""",
    "OssFile": 'bucket = "oss://{name}", endpoint = "{endpoint}", access_key = key, access_secret = "{key}"',
    "ObsFile": 'bucket = "obs://{name}", endpoint = "{endpoint}", access_key = key, access_secret = "{key}"',
    "CosFile": """bucket = "cosn://{name}", endpoint = "{endpoint}", region = ap-chengdu
      secret_id = key, secret_key = "{key}" """,
}


@pytest.mark.spark
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.soak if name in ("S3File", "ObsFile") else ()) for name in STORES]
)
def test_a_store_keeps_partition_columns_of_files_without_a_schema(s3_spark, s3, tmp_path, monkeypatch, name):
    """As SeaTunnel reads Parquet: the directories' columns are strings after those of the files."""
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    bucket = s3.bucket()
    store = STORES[name].format(bucket=bucket, name=bucket.bucket, endpoint=s3.endpoint, key=SECRET_KEY)
    job = """
    source {{ FakeSource {{ plugin_output = rows, schema {{ fields {{ id = int, name = string, day = string }} }}
      rows = [{{ kind = INSERT, fields = [1, "a b", "01"] }}, {{ kind = INSERT, fields = [2, "c", "2"] }}] }} }}
    sink {{ {name} {{ {store}, path = "/in", file_format_type = parquet
      have_partition = true, partition_by = [name, day]
      partition_dir_expression = "${{k0}}=${{v0}}/${{k1}}=${{v1}}" }} }}
    """
    read = """
    source {{ {name} {{ {store}, path = "/{path}", file_format_type = {kind}, {more} }} }}
    sink {{ LocalFile {{ path = "{out}", file_format_type = parquet }} }}
    """
    bucket.write("none/", "")
    texts = {
        "write": job.format(name=name, store=store),
        "read": read.format(name=name, store=store, path="in", kind="parquet", more="", out=tmp_path / "all"),
        "some": read.format(
            name=name, store=store, path="in", kind="parquet", more="read_columns = [id]", out=tmp_path / "some"
        ),
        "empty": read.format(name=name, store=store, path="none", kind="parquet", more="", out=tmp_path / "none"),
        "empty_json": read.format(name=name, store=store, path="none", kind="json", more="", out=tmp_path / "nojs"),
    }
    for file, text in texts.items():
        (tmp_path / f"{file}.conf").write_text(text)
        assert main(["run", "--compat", "seatunnel", str(tmp_path / f"{file}.conf")]) == 0, file
    found = s3_spark.read.parquet(str(tmp_path / "all"))
    assert found.columns == ["id", "name", "day"]
    assert sorted(map(tuple, found.collect())) == [(1, "a b", "01"), (2, "c", "2")]
    assert s3_spark.read.parquet(str(tmp_path / "some")).columns == ["id", "name", "day"]
    assert s3_spark.read.parquet(str(tmp_path / "none")).count() == 0
    assert bucket.children() == ["in", "none"]


@pytest.mark.spark
def test_two_stores_with_one_bucket_name_are_refused(s3_spark, s3):
    bucket = s3.bucket()
    StoreSettings.of(str(bucket), s3.settings).apply(s3_spark)
    StoreSettings.of(str(bucket), s3.settings).apply(s3_spark)
    with pytest.raises(RunError, match="PEN5802"):
        StoreSettings.of(str(bucket), {**s3.settings, "fs.s3a.endpoint": "http://other:1"}).apply(s3_spark)


@pytest.mark.spark
@pytest.mark.parametrize("path", ["/out", "/"])
def test_workbooks_and_rows_at_the_root_of_a_bucket_are_written(s3_spark, s3, tmp_path, monkeypatch, path):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    bucket = s3.bucket()
    store = STORES["OssFile"].format(name=bucket.bucket, endpoint=s3.endpoint, key=SECRET_KEY)
    job = """
    source {{ FakeSource {{ schema {{ fields {{ id = int, name = string }} }}
      rows = [{{ kind = INSERT, fields = [1, "a"] }}, {{ kind = INSERT, fields = [2, "b"] }}] }} }}
    sink {{ OssFile {{ {store}, path = "{path}", file_format_type = {kind}, data_save_mode = APPEND_DATA }} }}
    """
    for kind in ("excel", "csv"):
        (tmp_path / "job.conf").write_text(job.format(store=store, path=path, kind=kind))
        assert main(["run", str(tmp_path / "job.conf")]) == 0
    names = [key for key in bucket.keys() if "_penstock" not in key]  # noqa: SIM118
    assert {name.rpartition(".")[2] for name in names} == {"csv", "xlsx"}
    assert [name for name in bucket.children() if name.startswith(".")] == bucket.uploads() == []
