"""The file connectors of other stores: their options as Hadoop's URIs and settings."""

import pytest

import connectors
from connectors.interface.source import ScanTask
from tests.connectors.given_options import options_of


@pytest.mark.parametrize(
    ("name", "given", "path", "settings"),
    [
        ("HdfsFile", {"fs.defaultFS": "hdfs://nn:9000"}, "hdfs://nn:9000/in/a", {"fs.defaultFS": "hdfs://nn:9000"}),
        ("HdfsFile", {}, "/in/a", {}),
        (
            "S3File",
            {"bucket": "s3n://b", "access_key": "k", "secret_key": "s", "hadoop_s3_properties": {"fs.s3a.x": "1"}},
            "s3a://b/in/a",
            {"fs.s3a.access.key": "k", "fs.s3a.secret.key": "s", "fs.s3a.x": "1"},
        ),
        (
            "OssFile",
            {"bucket": "oss://b", "endpoint": "https://oss-cn-beijing.aliyuncs.com", "access_secret": "s"},
            "s3a://b/in/a",
            {
                "fs.s3a.endpoint": "https://oss-cn-beijing.aliyuncs.com",
                "fs.s3a.endpoint.region": "cn-beijing",
                "fs.s3a.path.style.access": "false",
                "fs.s3a.secret.key": "s",
            },
        ),
        (
            "ObsFile",
            {
                "bucket": "obs://b",
                "endpoint": "h:9000",
                "hadoop_s3_properties": {"fs.s3a.endpoint.region": "r"},
            },
            "s3a://b/in/a",
            {
                "fs.s3a.endpoint": "h:9000",
                "fs.s3a.endpoint.region": "r",
                "fs.s3a.path.style.access": "true",
            },
        ),
        (
            "CosFile",
            {"bucket": "cosn://b-1", "region": "ap-chengdu", "secret_id": "i"},
            "s3a://b-1/in/a",
            {
                "fs.s3a.endpoint": "https://cos.ap-chengdu.myqcloud.com",
                "fs.s3a.endpoint.region": "ap-chengdu",
                "fs.s3a.path.style.access": "false",
                "fs.s3a.access.key": "i",
            },
        ),
        (
            "GcsFile",
            {"bucket": "b", "service_account_key_file": "k.json", "hadoop_properties": {"fs.gs.project.id": "p"}},
            "gs://b/in/a",
            {
                "fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
                "fs.gs.auth.service.account.json.keyfile": "k.json",
                "fs.gs.project.id": "p",
            },
        ),
        (
            "AzureBlobFile",
            {"account": "a", "container": "c", "account_key": "k"},
            "abfss://c@a.dfs.core.windows.net/in/a",
            {
                "fs.azure.account.auth.type.a.dfs.core.windows.net": "SharedKey",
                "fs.azure.account.key.a.dfs.core.windows.net": "k",
            },
        ),
        (
            "AzureBlobFile",
            {"account": "a", "container": "c", "sas_token": "t"},
            "abfss://c@a.dfs.core.windows.net/in/a",
            {
                "fs.azure.account.auth.type.a.dfs.core.windows.net": "SAS",
                "fs.azure.sas.fixed.token.a.dfs.core.windows.net": "t",
            },
        ),
    ],
)
def test_locations(name, given, path, settings):
    source = connectors.source(name)
    options = options_of(source.source_options, path="/in/a", file_format_type="json", **given)
    assert source.located(options).string("path") == path
    assert dict(source.hadoop_settings(options)) == settings
    assert connectors.sink(name) is source


@pytest.mark.parametrize(
    ("name", "given", "path", "location"),
    [
        ("FtpFile", {"password": "p"}, "/in/a", "ftp://u@h:21/in/a"),
        ("FtpFile", {"password": "p"}, "in/a", "ftp://u@h:21/~/in/a"),
        ("SftpFile", {"password": "p", "port": 2222}, "/in/a", "sftp://u@h:2222/in/a"),
        ("SftpFile", {"private_key_file": "k"}, "sftp://v@h:22/b", "sftp://v@h:22/b"),
    ],
)
def test_a_path_on_a_server_names_the_user_and_no_password(name, given, path, location):
    source = connectors.source(name)
    options = options_of(source.source_options, path=path, file_format_type="json", host="h", user="u", **given)
    assert source.located(options).string("path") == location
    assert "'p'" not in repr(source.server(options))


@pytest.mark.spark
def test_a_file_system_of_hadoop_is_read(spark, tmp_path):
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    source = connectors.source("HdfsFile")
    options = options_of(
        source.source_options, path=str(tmp_path), file_format_type="json", schema={"fields": {"id": "int"}},
        **{"fs.defaultFS": "file:///"},
    )  # fmt: skip
    from catalog.diagnostics.diagnostic import Diagnostics

    (table,) = source.tables(options, Diagnostics())
    assert source.read(spark.newSession(), ScanTask(options, table)).collect() == [(1,)]
