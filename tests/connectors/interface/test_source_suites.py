"""The suite of sources that ships with Penstock, for those of its own connectors that read a server or a table."""

from typing import ClassVar

import pytest

import connectors
from connectors.interface.testing import SourceSuite
from connectors.storage.object_store import StoreSettings
from tests.connectors.given_options import options_of
from tests.connectors.http_.service import service
from tests.connectors.jobs import rows, run_writes, write
from tests.sampling import sampled
from tests.services.s3 import SECRET_KEY

pytestmark = pytest.mark.spark

COLUMNS = {"fields": {"id": "bigint", "name": "string"}}
TWO_ROWS = "select * from values (1L, 'a'), (2L, null) as t(id, name)"
SAMPLE = (
    "test_options_are_documented_and_named_once",
    "test_options_and_abilities_agree",
    "test_rows_have_the_columns_and_types_of_the_table",
    "test_a_second_incremental_read_yields_nothing",
)


class OfTwoRows(SourceSuite):
    expected = ((1, "a"), (2, None))
    column = "id"


@pytest.mark.delta
@sampled(SourceSuite, *SAMPLE)
class TestDelta(OfTwoRows):
    source = connectors.source("Delta")

    @pytest.fixture(autouse=True)
    def _table(self, spark, tmp_path):
        spark.sql(TWO_ROWS).write.format("delta").save(str(tmp_path / "t"))

    def given(self, tmp_path):
        return {"path": str(tmp_path / "t")}


@sampled(SourceSuite, *SAMPLE)
class TestIceberg(OfTwoRows):
    source = connectors.source("Iceberg")

    @pytest.fixture(autouse=True)
    def _table(self, spark, tmp_path):
        table = write(connectors.sink("Iceberg"), rows(TWO_ROWS, "id bigint", "name string"), **self.given(tmp_path))
        run_writes(spark, [table], str(tmp_path / "state"), "run")

    def given(self, tmp_path):
        return {"warehouse": str(tmp_path), "table": "db.t"}


class OfDatabase(OfTwoRows):
    source = connectors.source("Jdbc")
    database: ClassVar[str]

    @pytest.fixture(autouse=True)
    def _table(self, request):
        self.served = request.getfixturevalue(self.database)
        self.served.clear()
        self.served.run("create table two (id bigint, name varchar(10))", "insert into two values (1, 'a'), (2, null)")

    def given(self, tmp_path):
        return {**self.served.options, "table_path": "two"}


@sampled(SourceSuite, *SAMPLE)
class TestPostgres(OfDatabase):
    database = "postgres"


@sampled(SourceSuite, "test_rows_have_the_columns_and_types_of_the_table")
class TestMariadb(OfDatabase):
    database = "mariadb"


@sampled(SourceSuite, "test_rows_have_the_columns_and_types_of_the_table")
class TestSqlite(OfDatabase):
    database = "sqlite"


@sampled(SourceSuite, *SAMPLE)
class TestKafka(OfTwoRows):
    source = connectors.source("Kafka")

    @pytest.fixture(autouse=True)
    def _topic(self, kafka):
        self.broker, self.topic = kafka, kafka.topic(2)
        kafka.send(self.topic, ['{"id": 1, "name": "a"}', '{"id": 2}'])

    def given(self, tmp_path):
        schema = {"schema": COLUMNS, "start_mode": "earliest", "format": "json"}
        return {"bootstrap.servers": self.broker.servers, "topic": self.topic, **schema}


@sampled(SourceSuite, *SAMPLE)
class TestHttp(OfTwoRows):
    source = connectors.source("Http")

    @pytest.fixture(autouse=True)
    def _service(self):
        with service(lambda _: [{"id": 1, "name": "a"}, {"id": 2}]) as self.served:
            yield

    def given(self, tmp_path):
        return {"url": self.served.url, "schema": COLUMNS}


class OfFiles(OfTwoRows):
    files: ClassVar = {"file_format_type": "json", "schema": COLUMNS}
    text = '{"id": 1, "name": "a"}\n{"id": 2}\n'


@sampled(SourceSuite, *SAMPLE)
class TestS3(OfFiles):
    source = connectors.source("S3File")

    @pytest.fixture(autouse=True)
    def _bucket(self, s3, s3_spark):
        self.store, self.bucket = s3, s3.bucket()
        StoreSettings.of(str(self.bucket), s3.settings).apply(s3_spark)
        self.bucket.write("in/a.json", self.text)

    def given(self, tmp_path):
        keys = {"access_key": "key", "secret_key": SECRET_KEY, "fs.s3a.endpoint": self.store.endpoint}
        more = {"fs.s3a.endpoint.region": "us-east-1", "fs.s3a.path.style.access": "true"}
        return {"bucket": str(self.bucket), "path": "/in", **keys, "hadoop_s3_properties": more, **self.files}


class OnServer(OfFiles):
    scheme: ClassVar[str]

    @pytest.fixture(autouse=True)
    def _server(self, request, spark, tmp_path):
        self.served = request.getfixturevalue(self.scheme)
        folder = self.served.folder / tmp_path.name
        folder.mkdir()
        (folder / "a.json").write_text(self.text)
        options = options_of(self.source.source_options, **self.given(tmp_path))
        self.source.store_settings(options).apply(spark)

    def given(self, tmp_path):
        return {**self.served.options, "path": f"/{tmp_path.name}", **self.files}


@sampled(SourceSuite, "test_rows_have_the_columns_and_types_of_the_table")
class TestSftp(OnServer):
    source, scheme = connectors.source("SftpFile"), "sftp"


@sampled(SourceSuite, "test_rows_have_the_columns_and_types_of_the_table")
class TestFtp(OnServer):
    source, scheme = connectors.source("FtpFile"), "ftp"

    def given(self, tmp_path):
        return {**super().given(tmp_path), "connection_mode": "passive_local"}


@sampled(SourceSuite, "test_rows_have_the_columns_and_types_of_the_table")
class TestSpark(OfTwoRows):
    source = connectors.source("Spark")

    def given(self, tmp_path):
        (tmp_path / "a.json").write_text('{"id": 1, "name": "a"}\n{"id": 2}\n')
        return {"format": "json", "path": str(tmp_path / "a.json"), "schema": COLUMNS}


def test_each_source_without_a_service_of_its_own_has_the_suite():
    """Those of one service each are Http with its headers, those of a store are files with its settings."""
    shown = {suite.source.name for suite in _suites(SourceSuite) if hasattr(suite, "source")}
    services = {"Github", "Gitlab", "Jira", "Klaviyo", "Lemlist", "Notion", "OneSignal", "Persistiq"}
    stores = {"AzureBlobFile", "CosFile", "GcsFile", "HdfsFile", "ObsFile", "OssFile"}
    others = {"FakeSource", "LocalFile", "Paimon", "Table"}  # `test_suites`, `test_paimon`, `test_table`
    by_name = {
        "OpenSearch",
        "Elasticsearch",
        "Easysearch",
        "Clickhouse",
    }  # in the tests of each
    without = {
        "Redis",
        "MongoDB",
        "MySQL-CDC",
        "Postgres-CDC",
    }  # not shown
    assert set(connectors.source_names()) - shown <= services | stores | others | by_name | without


def _suites(kind):
    for each in kind.__subclasses__():
        yield each
        yield from _suites(each)
