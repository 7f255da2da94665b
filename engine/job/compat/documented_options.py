"""The options that Apache SeaTunnel documents for the connectors and transforms that Penstock has, too.

The list is of its 2.3 line, with what 3.0 adds. Options that are not supported are in `unsupported_options`."""

from collections.abc import Mapping
from typing import Final

DOCUMENTED: Final[Mapping[str, str]] = {
    "Copy": "fields src_field dest_field",
    "DefineSinkType": "columns",
    "DataValidator": "field_rules row_error_handle_way row_error_handle_way.error_table",
    "Embedding": "model_provider api_key secret_key aws_region single_vectorized_input_number vectorization_fields "
    "model api_path dimension oauth_path custom_config model_retry_max_attempts model_retry_backoff_ms "
    "model_retry_max_backoff_ms model_request_timeout_ms process_batch_size",
    "FieldEncrypt": "fields algorithm key mode",
    "FieldMapper": "field_mapper",
    "FieldRename": "convert_case prefix suffix replacements_with_regex specific",
    "Filter": "include_fields exclude_fields fields",
    "FilterRowKind": "include_kinds exclude_kinds",
    "JsonPath": "columns row_error_handle_way",
    "LLM": "model_provider output_data_type output_column_name prompt inference_columns model api_key api_path "
    "custom_config process_batch_size",
    "Metadata": "metadata_fields",
    "Python": "source_code source_code_path python_executable script_config columns row_error_handle_way",
    "RegexExtract": "source_field regex_pattern output_fields default_values",
    "Replace": "replace_field replace_fields pattern replacement is_regex replace_first",
    "RowKindExtractor": "custom_field_name transform_type",
    "Split": "separator split_field output_fields",
    "Sql": "query engine",
    "TableFilter": "database_pattern schema_pattern table_pattern pattern_mode",
    "TableMerge": "database schema table",
    "TableRename": "convert_case prefix suffix replacements_with_regex",
    "TextChunk": "text_field output_field chunk_index_field chunk_size overlap_size separators skip_empty_text",
}
"""Transform -> its options."""

_READ_FILES: Final = (
    "path file_format_type read_columns delimiter field_delimiter row_delimiter parse_partition_from_path date_format "
    "datetime_format time_format skip_header_row_number schema sheet_name excel_engine poi_excel_max_file_size "
    "xml_row_tag xml_use_attr_format csv_use_header_line file_filter_pattern filename_extension compress_codec "
    "archive_compress_codec encoding null_format binary_chunk_size binary_complete_file_mode enable_file_split "
    "file_split_size quote_char escape_char file_filter_modified_start file_filter_modified_end tables_configs "
    "discovery_mode scan_interval start_mode sync_mode target_path target_hadoop_conf update_strategy compare_mode "
    "update_compare_parallelism update_compare_bulk_threshold post_sync_action backup_path retention_max_age "
    "retention_check_interval metalake_type recursive_file_scan sort_files_by_modification_time"
)
_WRITTEN_FILES: Final = (
    "path tmp_path custom_filename file_name_expression filename_time_format file_format_type filename_extension "
    "field_delimiter row_delimiter have_partition partition_by partition_dir_expression "
    "is_partition_field_write_in_file sink_columns is_enable_transaction batch_size compress_codec max_rows_in_memory "
    "sheet_max_rows sheet_name csv_string_quote_mode xml_root_tag xml_row_tag xml_use_attr_format single_file_mode "
    "create_empty_file_when_no_data parquet_avro_write_timestamp_as_int96 parquet_avro_write_fixed_as_int96 "
    "enable_header_write encoding schema_save_mode data_save_mode merge_update_event schema_evolution_enabled "
    "date_format datetime_format time_format null_format"
)
_STORES: Final[Mapping[str, str]] = {
    "LocalFile": "",
    "HdfsFile": "fs.defaultFS hdfs_site_path remote_user krb5_path kerberos_principal kerberos_keytab_path",
    "S3File": "bucket fs.s3a.endpoint fs.s3a.aws.credentials.provider access_key secret_key hadoop_s3_properties",
    "OssFile": "bucket endpoint access_key access_secret",
    "ObsFile": "bucket endpoint access_key access_secret",
    "CosFile": "bucket region secret_id secret_key",
    "FtpFile": "host port user password connection_mode remote_verification_enabled control_encoding",
    "SftpFile": "host port user password",
}
"""Connector of files -> its options in addition to those of every connector of files."""

_JDBC: Final = (
    "url driver username user password compatible_mode dialect connection_check_timeout_sec connect_timeout_ms "
    "socket_timeout_ms properties use_kerberos kerberos_principal kerberos_keytab_path krb5_path"
)
_ICEBERG: Final = (
    "catalog_name namespace table iceberg.catalog.config hadoop.config iceberg.hadoop-conf-path case_sensitive"
)
_PAIMON: Final = (
    "warehouse catalog_name catalog_type catalog_uri database table user password hdfs_site_path paimon.hadoop.conf "
    "paimon.hadoop.conf-path"
)

_SEARCH: Final = (
    "hosts username password tls_verify_certificate tls_verify_hostnames tls_verify_hostname tls_keystore_path "
    "tls_keystore_password tls_truststore_path tls_truststore_password index"
)
_READ_INDEX: Final = f"{_SEARCH} source query scroll_time scroll_size schema"
_WRITTEN_INDEX: Final = f"{_SEARCH} primary_keys key_delimiter max_retry_count max_batch_size multi_table_sink_replica"
_REDIS: Final = "host port user auth db_num mode nodes data_type batch_size format"

_CLICKHOUSE: Final = "host database username password clickhouse.config"
_MONGODB: Final = "uri database collection schema"

_SENT: Final = (
    "url headers params array_mode batch_size request_interval_ms retry retry_backoff_multiplier_ms "
    "retry_backoff_max_ms connect_timeout_ms socket_timeout_ms multi_table_sink_replica"
)
_CAPTURE: Final = (
    "url base-url username password database-names schema-names table-names table-pattern table-names-config "
    "startup.mode stop.mode snapshot.split.size snapshot.fetch.size server-time-zone connect.timeout.ms "
    "connect.max-retries connection.pool.size chunk-key.even-distribution.factor.upper-bound "
    "chunk-key.even-distribution.factor.lower-bound sample-sharding.threshold inverse-sampling.rate "
    "split.allow-sampling enable_concurrent_read exactly_once format schema-changes.enabled schema-changes.include "
    "schema-changes.exclude debezium"
)
DOCUMENTED_SOURCES: Final[Mapping[str, str]] = {
    **{name: f"{own} {_READ_FILES}".strip() for name, own in _STORES.items()},
    "FakeSource": "tables_configs schema rows row.num split.num split.read-interval map.size array.size bytes.length "
    "string.length string.fake.mode string.template "
    + " ".join(
        f"{type}.fake.mode {type}.min {type}.max {type}.template"
        for type in ("tinyint", "smallint", "int", "bigint", "float", "double")
    )
    + " vector.dimension binary.vector.dimension vector.float.min vector.float.max date.year.template "
    "date.month.template date.day.template time.hour.template time.minute.template time.second.template "
    "auto.increment.enabled auto.increment.start",
    "Elasticsearch": f"{_READ_INDEX} index_list array_column search_api_type pit_keep_alive pit_batch_size",
    "Easysearch": _READ_INDEX,
    "Redis": f"{_REDIS} keys hash_key_parse_mode schema",
    "Clickhouse": f"{_CLICKHOUSE} sql table_path filter_query server_time_zone",
    "MongoDB": f"{_MONGODB} match.query match.projection partition.split-key partition.split-size cursor.no-timeout "
    "fetch.size max.time-min flat.sync-string",
    "Http": "url schema format method headers params body json_field content_field content_json pageing.page_field "
    "pageing.use_placeholder_replacement pageing.total_page_size pageing.batch_size pageing.start_page_number "
    "pageing.page_type pageing.cursor_field pageing.cursor_response_field poll_interval_millis retry "
    "retry_backoff_multiplier_ms retry_backoff_max_ms enable_multi_lines connect_timeout_ms socket_timeout_ms "
    "keep_params_as_form keep_page_param_as_http_param json_filed_missed_return_null",
    "Iceberg": f"{_ICEBERG} table_list schema start_snapshot_timestamp start_snapshot_id end_snapshot_id "
    "use_snapshot_id use_snapshot_timestamp stream_scan_strategy increment.scan-interval query",
    "Jdbc": f"{_JDBC} query partition_column partition_upper_bound partition_lower_bound partition_num "
    "decimal_type_narrowing int_type_narrowing handle_blob_as_string use_select_count skip_analyze use_regex "
    "fetch_size table_path table_list where_condition split.size split.even-distribution.factor.lower-bound "
    "split.even-distribution.factor.upper-bound split.sample-sharding.threshold split.inverse-sampling.rate "
    "split.allow-sampling enable_concurrent_read split.string_split_mode split.string-strategy "
    "split.string_split_mode_collate",
    "Paimon": f"{_PAIMON} table_list query",
    "MySQL-CDC": f"{_CAPTURE} server-id startup.specific-offset.file startup.specific-offset.pos "
    "startup.specific-offset.gtid-set startup.specific-offset.skip-events startup.specific-offset.skip-rows "
    "startup.timestamp stop.specific-offset.file stop.specific-offset.pos stop.timestamp database-pattern "
    "int_type_narrowing",
    "Postgres-CDC": f"{_CAPTURE} slot.name decoding.plugin.name require-replica-identity-full",
    "Kafka": "topic tables_configs table_list bootstrap.servers pattern consumer.group commit_on_checkpoint "
    "poll.timeout kafka.config schema format avro_schema format_error_handle_way debezium_record_include_schema "
    "debezium_record_table_filter field_delimiter start_mode start_mode.offsets start_mode.timestamp "
    "start_mode.end_timestamp partition-discovery.interval-millis ignore_no_leader_partition protobuf_message_name "
    "protobuf_schema strip_schema_registry_header reader_cache_queue_size is_native kafka_headers_fields",
}
"""Source -> its options."""

DOCUMENTED_SINKS: Final[Mapping[str, str]] = {
    **{name: f"{own} {_WRITTEN_FILES} multi_table_sink_replica".strip() for name, own in _STORES.items()},
    "Assert": "rules multi_table_sink_replica",
    "Console": "log.print.data log.print.delay.ms multi_table_sink_replica",
    "Elasticsearch": f"{_WRITTEN_INDEX} index_type schema_save_mode data_save_mode",
    "Easysearch": _WRITTEN_INDEX,
    "Redis": f"{_REDIS} key support_custom_key value_field hash_key_field hash_value_field expire "
    "multi_table_sink_replica",
    "Clickhouse": f"{_CLICKHOUSE} table bulk_size split_mode sharding_key primary_key support_upsert "
    "allow_experimental_lightweight_delete schema_save_mode data_save_mode multi_table_sink_replica",
    "MongoDB": f"{_MONGODB} buffer-flush.max-rows buffer-flush.interval retry.max retry.interval upsert-enable "
    "primary-key transaction multi_table_sink_replica",
    "Feishu": _SENT,
    "Http": _SENT,
    "Iceberg": f"{_ICEBERG} iceberg.table.write-props iceberg.table.auto-create-props "
    "iceberg.table.schema-evolution-enabled iceberg.table.primary-keys iceberg.table.partition-keys "
    "iceberg.table.upsert-mode-enabled schema_save_mode data_save_mode custom_sql iceberg.table.commit-branch "
    "krb5_path kerberos_principal kerberos_keytab_path multi_table_sink_replica",
    "InMemory": "throw_exception throw_exception_of_committer multi_table_sink_replica",
    "Jdbc": f"{_JDBC} query database table tablePrefix tableSuffix primary_keys multi_table_config max_retries "
    "batch_size batch_interval_ms is_exactly_once generate_sink_sql xa_data_source_class_name max_commit_attempts "
    "transaction_timeout_sec auto_commit field_ide schema_save_mode data_save_mode custom_sql enable_upsert "
    "is_primary_key_updated support_upsert_by_query_primary_key_exist support_upsert_by_insert_only table_options "
    "use_copy_statement oracle_insert_mode create_index access_key_id secret_access_key region "
    "multi_table_sink_replica",
    "Paimon": f"{_PAIMON} schema_save_mode data_save_mode paimon.table.primary-keys paimon.table.partition-keys "
    "paimon.table.write-props multi_table_sink_replica",
    "Kafka": "topic bootstrap.servers kafka.config semantics partition_key_fields kafka_headers_fields partition "
    "assign_partitions transaction_prefix format field_delimiter protobuf_message_name protobuf_schema "
    "multi_table_sink_replica",
}
"""Sink -> its options."""

TABLE_LISTS: Final = ("tables_configs", "table_list", "index_list")
"""Options of several tables, which every source takes."""

FUNCTIONS_REFUSED: Final[Mapping[str, str]] = {
    "AT TIME ZONE": "Spark has no type with a zone: use `from_utc_timestamp` or `to_utc_timestamp`",
}
"""SQL functions that are not supported, and why."""
