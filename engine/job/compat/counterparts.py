"""What to use here for a plugin that Penstock does not have: Apache SeaTunnel's, a format's or a database's name."""

from collections.abc import Mapping
from typing import Final

_FILES: Final = "read or write it with `LocalFile` by its URL (`s3a://`, `oss://`, `hdfs://`, `abfss://`)"
_OWN_JDBC: Final = "use `Jdbc` with its URL"
_JDBC: Final = "use `Spark` with `format = jdbc`, and the database's driver in `spark.jars.packages`"
_CDC: Final = "let Debezium publish its changes to Kafka, and read that topic"
_SPARK: Final = "use `Spark` with that system's Spark connector as `format`, its jar in `spark.jars.packages`"
_API: Final = "use `Http` with the service's URL, headers and JSON path"

_BY_ADVICE: Final = {
    _FILES: "OssJindoFile BosFile ADLSFile SmbFile",
    _OWN_JDBC: "Mysql MariaDB PostgreSQL Oracle SqlServer DB2 DuckDB",
    _JDBC: "StarRocks Doris Cloudberry Snowflake Phoenix HiveJdbc Databend Dameng Vertica SingleStore "
    "Kingbase OceanBase Greenplum Redshift",
    _CDC: "MariaDB-CDC PostgreSQL-CDC SqlServer-CDC Oracle-CDC MongoDB-CDC TiDB-CDC "
    "Opengauss-CDC OceanBase-CDC DB2-CDC GaussDB-CDC Dameng-CDC",
    _SPARK: "Hive Hudi Kudu HBase Cassandra Neo4j Maxcompute DynamoDB "
    "AmazonDynamoDB InfluxDB IoTDB TDengine OpenMldb Druid Milvus Qdrant Typesense Aerospike "
    "Pulsar RocketMQ RabbitMQ ActiveMQ AmazonSqs DataHub S3-Redshift SelectDBCloud ClickhouseFile Tablestore "
    "GoogleFirestore Fluss Lance BigQuery GoogleBigtable GooglePubSub AzureCosmosDB AzureDataExplorer AzureEventHubs "
    "AmazonDocumentDB Couchbase HugeGraph NebulaGraph IoTDBv2 Mqtt NatsJetStream Firebase DeepLake",
    _API: "MyHours Airtable GoogleSheets Prometheus DingTalk WeChat Enterprise-WeChat Slack Email Sentry Socket Web3j "
    "Sls GraphQL HubSpot Salesforce PayPal "
    "PostHog Asana FacebookAds GoogleAds GoogleAnalytics4 Splunk Http-Linear Http-Splunk",
}
_TRANSFORMS: Final = {
    "DynamicCompile": "its Java or Groovy does not run here. Write the class as Python and use "
    '`Python { source_code_path = "…", columns = [{dest_field, dest_type}] }`: `getInlineOutputColumns` is '
    "`columns`, `getInlineOutputFieldValues(row)` is `def process(row, context)`, which returns their values",
    "Calcite": "use `Sql`: Spark's SQL has what Calcite's has",
    "MultiFieldSplit": "use `Sql` with `split`",
    "Pivot": "use `Sql` with PIVOT",
    "Deduplicate": "use `Sql` with `row_number() over (partition by … order by …)`",
    "TikaDocument": "use `Python` with a package that reads the documents",
}

COUNTERPARTS: Final = {name: advice for advice, names in _BY_ADVICE.items() for name in names.split()} | _TRANSFORMS
"""Name in SeaTunnel -> replacement."""

_FORMATS: Final = {
    name: f"use `LocalFile` with `file_format_type = {name}`"
    for name in ["csv", "json", "parquet", "orc", "text", "xml", "excel"]
} | dict.fromkeys(("file", "files", "s3", "hdfs"), "use `LocalFile` with `file_format_type = …`")
_DATABASES: Final = dict.fromkeys(
    ["postgres", "postgresql", "mysql", "mariadb", "sqlite", "oracle", "sqlserver"], "use `Jdbc` with its JDBC URL"
)

_VERSION_1: Final = {
    **dict.fromkeys(("fake", "fakestream", "fakesourcestream"), "use `FakeSource` with a `schema`"),
    **dict.fromkeys(("filesource", "filesink"), _FORMATS["file"]),
    **dict.fromkeys(("jdbcsource", "jdbcsink"), _OWN_JDBC),
    **dict.fromkeys(("kafkastream", "kafkatable", "kafkatablestream", "kafkasink"), "use `Kafka`"),
    **dict.fromkeys(("consolesink", "stdout"), "use `Console`"),
}
"""Connectors of SeaTunnel 1 and 2.1."""
_TRANSFORMS_OF_VERSION_1: Final = {
    "add": "use `Sql`: `select *, … as name`",
    "convert": "use `Sql` with `cast`",
    "date": "use `Sql` with `date_format` and `to_timestamp`",
    "drop": "use `Sql` with WHERE",
    "fieldsplit": "use `Split`",
    "grok": "use `RegexExtract`",
    "join": "use `Sql` with JOIN",
    "json": "use `JsonPath`",
    "lowercase": "use `Sql` with `lower`",
    "remove": "use `Filter` with `exclude_fields`",
    "rename": "use `FieldMapper`",
    "uppercase": "use `Sql` with `upper`",
    "uuid": "use `Sql` with `uuid`",
}
_OF_KIND: Final[Mapping[str, Mapping[str, str]]] = {"transform": _TRANSFORMS_OF_VERSION_1}
SECTIONS_OF_VERSION_1: Final = {
    "input": "source", "filter": "transform", "output": "sink", "spark": "env", "flink": "env",
}  # fmt: skip
"""Name in SeaTunnel 1 -> the section since."""

_FOLDED: Final = (
    _FORMATS
    | _DATABASES
    | _VERSION_1
    | {name.replace("-", "").lower(): advice for name, advice in COUNTERPARTS.items()}
)


def counterpart(name: str, kind: str = "source") -> str | None:
    """The replacement of a `source`, `transform` or `sink`, ignoring case; None if none is known."""
    folded = name.replace("-", "").replace("_", "").lower()
    return _OF_KIND.get(kind, {}).get(folded) or _FOLDED.get(folded)
