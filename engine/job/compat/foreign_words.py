"""What to write for options and values of Spark's writers, dbt and SQL: `mode = overwrite` is a save mode here."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

_REPLACE: Final = '`data_save_mode = "DROP_DATA"` replaces the rows'
_MODE: Final = f'{_REPLACE}, `"APPEND_DATA"` (the default) adds rows; `write_mode` merges'
_FOREIGN_OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("mode", "save_mode", "savemode", "if_exists", "materialized"), _MODE),
    **dict.fromkeys(("overwrite", "truncate"), _REPLACE),
}
_NEEDED: Final = "data_save_mode"
_SAME_AS: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(("csv_use_header_line", "header"), ("csv_use_header_line", "enable_header_write")),
    **dict.fromkeys(("skip", "skip_rows", "skiprows", "skip_lines"), ("skip_header_row_number",)),
    **dict.fromkeys(("dbtable", "table_name"), ("table_path", "table")),
    **dict.fromkeys(("jdbc_url", "jdbcurl", "connection_url"), ("url",)),
    **dict.fromkeys(("mergeschema", "overwriteschema", "on_schema_change"), ("schema_evolution",)),
    **dict.fromkeys(("unique_key", "upsert_keys", "key_columns", "merge_keys"), ("primary_keys",)),
    **dict.fromkeys(("kafka", "kafka.bootstrap", "brokers", "bootstrap_servers"), ("bootstrap.servers",)),
    **dict.fromkeys(("subscribe", "topics"), ("topic",)),
    **dict.fromkeys(("startingoffsets", "auto_offset_reset", "scan.startup.mode"), ("start_mode",)),
    **dict.fromkeys(("group_id", "group", "groupid", "consumer_group"), ("consumer.group",)),
    "subscribepattern": ("pattern",),
    "charset": ("encoding",),
    "delimiter": ("separator",),
    "fields": ("output_fields",),
    "key": ("partition_key_fields",),
}
"""Options of ours by what they are called elsewhere, in lower case: the first one that the block has is meant."""
_FOREIGN_VALUES: Final[Mapping[str, str]] = {
    "overwrite": "DROP_DATA",
    "replace": "DROP_DATA",
    "truncate": "DROP_DATA",
    "drop": "DROP_DATA",
    "append": "APPEND_DATA",
    "insert": "append",
    "error": "ERROR_WHEN_DATA_EXISTS",
    "errorifexists": "ERROR_WHEN_DATA_EXISTS",
    "recreate": "RECREATE_SCHEMA",
    "merge": "upsert",
    "jsonl": "json",
    "ndjson": "json",
    "tsv": "csv",
    "xlsx": "excel",
}


def foreign_option(name: str, known: Collection[str]) -> str | None:
    """The remedy for an option of another tool; None if it is none, or the block has nothing like it."""
    if _NEEDED in known and name.lower() in _FOREIGN_OPTIONS:
        return _FOREIGN_OPTIONS[name.lower()]
    meant = next((each for each in _SAME_AS.get(name.lower(), ()) if each in known), None)
    return f"write `{meant}`" if meant else None


def meant_value(written: str, choices: Collection[str]) -> str | None:
    """The choice that the word of another tool means."""
    meant = _FOREIGN_VALUES.get(written.lower())
    return meant if meant in choices else None
