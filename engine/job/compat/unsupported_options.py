"""Options of Apache SeaTunnel's documentation that Penstock does not support: the reason, or what to use instead."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from engine.job.compat.unsupported import Unsupported

FILES: Final = ("LocalFile", "HdfsFile", "S3File", "OssFile", "ObsFile", "CosFile", "FtpFile", "SftpFile")
"""The connectors that are the file connector over another file system."""

_STREAM_OF_FILES: Final = Unsupported("a streaming job reads arriving files: `job.mode = STREAMING`", ("once",))
_COMPARED: Final = Unsupported("files are not compared with a target: `incremental` reads those that are new")
_UNTOUCHED: Final = Unsupported("files of a source are never removed or moved", ("none",))
_KERBEROS: Final = Unsupported("set Kerberos up for Spark: `spark.kerberos.…` in `env`, or `kinit`", (False,))
_KERBEROS_FILE: Final = Unsupported(_KERBEROS.reason, ("/etc/krb5.conf",))
"""Its default, which SeaTunnel's web interface writes."""
_TIMEOUT: Final = Unsupported("give the driver's own setting in `properties`", is_ignored=True)
_SPLITS: Final = Unsupported("the read is split by `partition_column`", is_ignored=True)
_SPLITS_NONE: Final = Unsupported("a snapshot is one consistent read", is_ignored=True)
_STREAM: Final = Unsupported("only a streaming job has it", is_ignored=True)

_ANY_NAME: Final = Unsupported("no catalog is opened by a name of the job's: leave it out", is_ignored=True)
_READ_BY_SPARK: Final = Unsupported("Spark reads and paces the partitions", is_ignored=True)

ENV: Final[Mapping[str, Unsupported]] = {
    **dict.fromkeys(
        ("checkpoint.timeout", "execution.checkpoint.timeout"),
        Unsupported("a micro-batch takes as long as it needs; a driver that hangs loses its lease", is_ignored=True),
    ),
    "min-pause-between-checkpoints": Unsupported(
        "a micro-batch begins by `stream.trigger`, at the earliest when the last one has ended", is_ignored=True
    ),
    "flink": Unsupported("these are settings of Flink, and Spark runs the job", is_ignored=True),
    "custom_parameters": Unsupported("no part of a run reads it", is_ignored=True),
    "savemode.execute.location": Unsupported("save modes are always applied by the driver", is_ignored=True),
}
"""Settings of `env`."""

_PAIMON: Final = {
    "catalog_name": _ANY_NAME,
    **dict.fromkeys(
        ("catalog_uri", "user", "password"),
        Unsupported("a table is found by its directory, in no catalog", is_ignored=True),  # `catalog_type` is checked
    ),
    **dict.fromkeys(
        ("hdfs_site_path", "paimon.hadoop.conf", "paimon.hadoop.conf-path"),
        Unsupported("tables are read and written in mounted directories, without Hadoop", is_ignored=True),
    ),
}
_ICEBERG: Final = {
    "catalog_name": _ANY_NAME,
    "case_sensitive": Unsupported("columns are found as Spark does, whatever their case", (False,), is_ignored=True),
}
_WHOLE_FILES: Final = Unsupported("a binary file is one row", is_ignored=True)
_INT96: Final = Unsupported("set `spark.sql.parquet.outputTimestampType` in `env`", is_ignored=True)
_HDFS: Final = {
    "hdfs_site_path": Unsupported("set Hadoop up for Spark: its folder in `HADOOP_CONF_DIR`", is_ignored=True),
    "remote_user": Unsupported("set `HADOOP_USER_NAME` in the environment", is_ignored=True),
    "krb5_path": Unsupported(_KERBEROS.reason, ("/etc/krb5.conf",), is_ignored=True),
    "kerberos_principal": Unsupported("set `spark.kerberos.principal` in `env`", is_ignored=True),
    "kerberos_keytab_path": Unsupported("set `spark.kerberos.keytab` in `env`", is_ignored=True),
}

_BY_FILE: Final = Unsupported("a stream starts at a file and a position in it")
_CAPTURE: Final = {
    "split.allow-sampling": _SPLITS_NONE,
    "enable_concurrent_read": _SPLITS_NONE,
    "schema-changes.include": Unsupported("columns that are added are followed, nothing else", ([], ["add.column"])),
    "schema-changes.exclude": Unsupported("leave `schema-changes.enabled` out: a change stops the stream", ([],)),
}

_SOURCES: Final[Mapping[str, Mapping[str, Unsupported]]] = {
    "files": {
        "discovery_mode": _STREAM_OF_FILES,
        "scan_interval": _STREAM_OF_FILES,
        "start_mode": _STREAM_OF_FILES,
        "sync_mode": Unsupported(_COMPARED.reason, ("full",)),
        "target_path": _COMPARED,
        "target_hadoop_conf": _COMPARED,
        "update_strategy": _COMPARED,
        "compare_mode": _COMPARED,
        "update_compare_parallelism": _COMPARED,
        "update_compare_bulk_threshold": _COMPARED,
        "post_sync_action": _UNTOUCHED,
        "backup_path": _UNTOUCHED,
        "retention_max_age": _UNTOUCHED,
        "retention_check_interval": _UNTOUCHED,
        "excel_engine": Unsupported("workbooks are read by calamine", is_ignored=True),
        "poi_excel_max_file_size": Unsupported("workbooks are read by calamine, of any size", is_ignored=True),
        "binary_chunk_size": _WHOLE_FILES,
        "binary_complete_file_mode": _WHOLE_FILES,
        "enable_file_split": Unsupported("Spark splits large files that can be split", (True,), is_ignored=True),
        "file_split_size": Unsupported("set `spark.sql.files.maxPartitionBytes` in `env`", is_ignored=True),
        "recursive_file_scan": Unsupported("give `path` a pattern, such as `in/*.csv`", (True,)),
        "sort_files_by_modification_time": Unsupported("rows have no order", is_ignored=True),
        "metalake_type": Unsupported("no metadata service is asked: give a `schema`, or lock it with `schema sync`"),
    },
    "HdfsFile": _HDFS,
    "FtpFile": {
        "remote_verification_enabled": Unsupported("the data connection goes to `host`", is_ignored=True),
        "control_encoding": Unsupported("names of files are read as UTF-8", ("UTF-8",)),
    },
    "Jdbc": {
        "dialect": Unsupported("the dialect follows from the URL", is_ignored=True),
        "connect_timeout_ms": _TIMEOUT,
        "socket_timeout_ms": _TIMEOUT,
        "decimal_type_narrowing": Unsupported("columns have the database's types: cast them", is_ignored=True),
        "int_type_narrowing": Unsupported("columns have the database's types: cast them in `query`", (True,)),
        "handle_blob_as_string": Unsupported("cast the column in a `Sql` transform", (False,)),
        "use_kerberos": _KERBEROS,
        "kerberos_principal": _KERBEROS,
        "kerberos_keytab_path": _KERBEROS,
        "krb5_path": _KERBEROS_FILE,
        "split.allow-sampling": _SPLITS,
        "split.string-strategy": _SPLITS,
        "enable_concurrent_read": _SPLITS,
    },
    "FakeSource": {
        "split.read-interval": Unsupported("give `read_limit.rows_per_second` in `env`", (1, 0), is_ignored=True)
    },
    "Kafka": {
        **dict.fromkeys(
            ("poll.timeout", "partition-discovery.interval-millis", "reader_cache_queue_size"), _READ_BY_SPARK
        ),
        "strip_schema_registry_header": Unsupported(
            "`schema_registry.url` reads the schema that each record names", (False,)
        ),
        "ignore_no_leader_partition": Unsupported("Spark waits for a leader", is_ignored=True),
        "is_native": Unsupported("use `format = native`", (False,)),
        "kafka_headers_fields": Unsupported("read the headers as a column: `metadata_columns`"),
    },
    "Iceberg": {
        **_ICEBERG,
        "stream_scan_strategy": _STREAM,
        "increment.scan-interval": _STREAM,
    },
    "Paimon": _PAIMON,
    "MySQL-CDC": {
        **_CAPTURE,
        "startup.specific-offset.gtid-set": _BY_FILE,
        "startup.specific-offset.skip-events": Unsupported(_BY_FILE.reason, (0,)),
        "startup.specific-offset.skip-rows": Unsupported(_BY_FILE.reason, (0,)),
        **dict.fromkeys(
            ("stop.specific-offset.file", "stop.specific-offset.pos", "stop.timestamp"),
            Unsupported("`stop.mode = latest` ends at what is there when the stream starts"),
        ),
        "database-pattern": Unsupported("`table-pattern` matches the name with its database", (".*",)),
    },
    "Postgres-CDC": {
        **_CAPTURE,
        "require-replica-identity-full": Unsupported(
            "a table needs a primary key, or REPLICA IDENTITY FULL", is_ignored=True
        ),
    },
}
_SINKS: Final[Mapping[str, Mapping[str, Unsupported]]] = {
    "*": {"multi_table_sink_replica": Unsupported("Spark's tasks write a table in parallel", is_ignored=True)},
    "files": {
        "tmp_path": Unsupported("files are staged in a hidden folder next to the target", is_ignored=True),
        "max_rows_in_memory": Unsupported("workbooks are written row by row", is_ignored=True),
        "parquet_avro_write_timestamp_as_int96": _INT96,
        "parquet_avro_write_fixed_as_int96": _INT96,
        "create_empty_file_when_no_data": Unsupported("a file is written in any case", (True,), is_ignored=True),
        "merge_update_event": Unsupported("change logs are written to Kafka, not to files", (False,)),
        "schema_evolution_enabled": Unsupported("files of a new run have the columns of that run", (False,)),
        "sheet_max_rows": Unsupported("a workbook has one sheet, of at most 1,048,576 rows", (1_048_576,)),
    },
    "HdfsFile": _HDFS,
    "FtpFile": {
        "remote_verification_enabled": Unsupported("the data connection goes to `host`", is_ignored=True),
        "control_encoding": Unsupported("names of files are written as UTF-8", ("UTF-8",)),
    },
    "Console": {
        "log.print.delay.ms": Unsupported("the rows are printed once the run is committed", (0,), is_ignored=True)
    },
    "Kafka": {
        "transaction_prefix": Unsupported("records are written at least once, in no transaction", is_ignored=True)
    },
    "Jdbc": {
        "compatible_mode": Unsupported("the dialect follows from the URL", is_ignored=True),
        "dialect": Unsupported("the dialect follows from the URL", is_ignored=True),
        "multi_table_config": Unsupported('give `primary_keys = ["${primary_key}"]`, or a sink for each key'),
        "connect_timeout_ms": _TIMEOUT,
        "socket_timeout_ms": _TIMEOUT,
        "batch_interval_ms": Unsupported("rows are loaded at once and committed together", is_ignored=True),
        "is_primary_key_updated": Unsupported("a changed key is a delete and an insert", is_ignored=True),
        "support_upsert_by_insert_only": Unsupported("use `write_mode = upsert`", (False,)),
        "table_options": Unsupported("create the table with them before the first run"),
        "oracle_insert_mode": Unsupported("rows are loaded into a staging table", is_ignored=True),
        "use_kerberos": _KERBEROS,
        "kerberos_principal": _KERBEROS,
        "kerberos_keytab_path": _KERBEROS,
        "krb5_path": _KERBEROS_FILE,
        "access_key_id": Unsupported("Aurora DSQL is not supported"),
        "secret_access_key": Unsupported("Aurora DSQL is not supported"),
        "region": Unsupported("Aurora DSQL is not supported"),
    },
    "Iceberg": {
        **_ICEBERG,
        "custom_sql": Unsupported("use `delete_condition`, or `data_save_mode`"),
        "krb5_path": _KERBEROS_FILE,
        "kerberos_principal": _KERBEROS,
        "kerberos_keytab_path": _KERBEROS,
    },
    "Paimon": _PAIMON,
}
_TRANSFORMS: Final[Mapping[str, Mapping[str, Unsupported]]] = {
    "Sql": {"engine": Unsupported("Spark runs all queries", is_ignored=True)},
    "Python": {
        "python_executable": Unsupported(
            "Spark's workers run the Python of the job: `spark.pyspark.python`", is_ignored=True
        )
    },
    "Embedding": {"aws_region": Unsupported("Amazon Bedrock signs its requests, and is not OpenAI's API")},
}
_OF_KIND: Final = {"source": _SOURCES, "transform": _TRANSFORMS, "sink": _SINKS}


@lru_cache(maxsize=256)
def unsupported_options(kind: str, plugin: str) -> Mapping[str, Unsupported]:
    """The unsupported options of a `source`, `transform` or `sink` block, by name; the plugin's case is ignored."""
    groups = ["*", *(["files"] if plugin.lower() in {name.lower() for name in FILES} else []), plugin]
    tables = {name.lower(): options for name, options in _OF_KIND[kind].items()}
    return {name: option for group in groups for name, option in tables.get(group.lower(), {}).items()}
