"""What to use here for a plugin that Penstock does not have: Apache SeaTunnel's, a format's or a database's name."""

from typing import Final

_FILES: Final = "read or write it with `LocalFile` by its URL (`s3a://`, `oss://`, `hdfs://`, `abfss://`)"
_OWN_JDBC: Final = "use `Jdbc` with its URL"
_JDBC: Final = "use `Spark` with `format = jdbc`, and the database's driver in `spark.jars.packages`"
_CDC: Final = "let Debezium publish its changes to Kafka, and read that topic"
_SPARK: Final = "use `Spark` with that system's Spark connector as `format`, its jar in `spark.jars.packages`"
_API: Final = "use `Http` with the service's URL, headers and JSON path"

_BY_ADVICE: Final = {
    _FILES: "OssJindoFile CosFile ObsFile BosFile GcsFile ADLSFile SmbFile",
    _OWN_JDBC: "Mysql MariaDB PostgreSQL Oracle SqlServer DB2 DuckDB",
    _JDBC: "Clickhouse StarRocks Doris Cloudberry Snowflake Phoenix HiveJdbc Databend Dameng Vertica SingleStore "
    "Kingbase OceanBase Greenplum Redshift",
    _CDC: "MySQL-CDC MariaDB-CDC Postgres-CDC PostgreSQL-CDC SqlServer-CDC Oracle-CDC MongoDB-CDC TiDB-CDC "
    "Opengauss-CDC OceanBase-CDC DB2-CDC GaussDB-CDC Dameng-CDC",
    _SPARK: "Hive Hudi Kudu HBase MongoDB Cassandra Elasticsearch Easysearch Neo4j Redis Maxcompute DynamoDB "
    "AmazonDynamoDB InfluxDB IoTDB TDengine OpenMldb Druid Milvus Qdrant Typesense Aerospike "
    "Pulsar RocketMQ RabbitMQ ActiveMQ AmazonSqs DataHub S3-Redshift SelectDBCloud ClickhouseFile Tablestore "
    "GoogleFirestore Fluss Lance BigQuery GoogleBigtable GooglePubSub AzureCosmosDB AzureDataExplorer AzureEventHubs "
    "AmazonDocumentDB Couchbase HugeGraph NebulaGraph IoTDBv2 Mqtt NatsJetStream Firebase DeepLake",
    _API: "Github Gitlab Jira Klaviyo Lemlist MyHours Notion OneSignal Persistiq Airtable GoogleSheets Prometheus "
    "Feishu DingTalk WeChat Enterprise-WeChat Slack Email Sentry Socket Web3j Sls GraphQL HubSpot Salesforce PayPal "
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

_FOLDED: Final = (
    _FORMATS | _DATABASES | {name.replace("-", "").lower(): advice for name, advice in COUNTERPARTS.items()}
)


def counterpart(name: str) -> str | None:
    """The replacement, ignoring case; None if none is known."""
    return _FOLDED.get(name.replace("-", "").replace("_", "").lower())
