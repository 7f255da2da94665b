"""The options of Apache SeaTunnel's transforms and Http source in its 2.3 documentation, and why some are refused."""

from collections.abc import Mapping
from typing import Final

DOCUMENTED: Final[Mapping[str, str]] = {
    "Copy": "fields src_field dest_field",
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

DOCUMENTED_SOURCES: Final[Mapping[str, str]] = {
    "Http": "url schema format method headers params body json_field content_field content_json pageing.page_field "
    "pageing.use_placeholder_replacement pageing.total_page_size pageing.batch_size pageing.start_page_number "
    "pageing.page_type pageing.cursor_field pageing.cursor_response_field poll_interval_millis retry "
    "retry_backoff_multiplier_ms retry_backoff_max_ms enable_multi_lines connect_timeout_ms socket_timeout_ms "
    "keep_params_as_form keep_page_param_as_http_param json_filed_missed_return_null",
}
"""Source -> its options."""

REFUSED: Final[Mapping[tuple[str, str], str]] = {
    ("Embedding", "aws_region"): "Amazon Bedrock signs its requests, and is not OpenAI's API",
}
"""Options that are not supported, and why."""

FUNCTIONS_REFUSED: Final[Mapping[str, str]] = {
    "DES_ENCRYPT, DES_DECRYPT": "Spark has no DES: use AES_ENCRYPT",
    "MURMUR64": "Spark has no 128-bit MurmurHash: `xxhash64` is a hash of 64 bits, with other values",
    "TRIM_SCALE": "a column's scale is part of its type on Spark",
    "AT TIME ZONE": "Spark has no type with a zone: use `from_utc_timestamp` or `to_utc_timestamp`",
    "VECTOR_REDUCE by projection": "only `TRUNCATE`: projections are random",
}
"""SQL functions that are not supported, and why."""
