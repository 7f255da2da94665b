"""The options of the Kafka connector: those of Apache SeaTunnel's 2.3 documentation, with its names and defaults."""

from typing import Final

from catalog.options import Option, Options, OptionType
from catalog.outside import Fill
from connectors.interface.schema_option import SCHEMA_OPTION
from connectors.kafka.whole_records import WHOLE_FORMATS
from connectors.records.change_logs.change_log import CHANGE_LOGS
from connectors.records.change_logs.read_changes import METADATA_TYPES

START_MODES: Final = ("earliest", "latest", "group_offsets", "timestamp", "specific_offsets")
CONNECT_JSON: Final = "compatible_kafka_connect_json"
ROW_FORMATS: Final = ("json", "text", "csv", "avro", "protobuf", "raw", "native", CONNECT_JSON)
CHANGE_FORMATS: Final = tuple(CHANGE_LOGS)
DEFAULT_GROUP: Final = "SeaTunnel-Consumer-Group"
SCHEMA_CHANGES: Final = "schema-changes.enabled"
METADATA: Final = ("topic", "partition", "offset", "timestamp", "key", "headers")
MARKS: Final = ("_error", "_value")
CHANGE_METADATA: Final = tuple(METADATA_TYPES)
"""What only records of change logs have."""

_SHARED: Final = (
    Option("bootstrap.servers", OptionType.STRING, "The brokers: `host:port`, several separated by commas.",
           required=True, alternatives=("bootstrap_servers",)),
    Option("avro_schema", OptionType.STRING,
           "The schema of records in Avro, as JSON; by default made of the columns. It also declares the columns of a "
           "source without `schema`."),
    Option("schema_registry.url", OptionType.STRING,
           "A schema registry with Confluent's API, whose schemas records in Avro name."),
    Option("schema_registry.subject", OptionType.STRING, "The subject in the registry (default: `<topic>-value`).",
           fill=Fill.TOPIC),
    Option("schema_registry.user", OptionType.STRING, "The user of the registry's basic authentication."),
    Option("schema_registry.password", OptionType.STRING, "Its password.", sensitive=True),
    Option("protobuf_message_name", OptionType.STRING,
           "For `protobuf`: the message of the records, with or without its package."),
    Option("protobuf_schema", OptionType.STRING,
           "For `protobuf`: the text of a `.proto` file that has the message. It also declares the columns of a source "
           "without `schema`."),
    Option("protobuf_descriptor_file", OptionType.STRING,
           "For `protobuf`, instead of `protobuf_schema`: a `.proto` file, which may import others from its directory, "
           "or a descriptor set (`protoc --include_imports --descriptor_set_out=FILE`)."),
    Option("kafka.config", OptionType.MAP,
           "Settings of Kafka's clients, as its documentation names them: `{ security.protocol = SASL_SSL, … }`. "
           "Secrets in it are masked in all output."),
)  # fmt: skip

SOURCE_OPTIONS: Final = (
    Option("topic", OptionType.ANY, "A topic, or several: a list, or separated by commas. With `pattern = true`, a "
           "regular expression (Java's) that names of topics match as a whole.", required=True),
    Option("pattern", OptionType.BOOLEAN, "Whether `topic` is a regular expression.", default=False),
    *_SHARED,
    Option("consumer.group", OptionType.STRING,
           "The consumer group whose offsets are read (`start_mode = group_offsets`) and committed.",
           default=DEFAULT_GROUP),
    Option("commit_on_checkpoint", OptionType.BOOLEAN,
           "Whether the offsets up to which records were read are committed to the group, after the sinks' commit. "
           "They are not where neither `consumer.group` is given nor `start_mode` is `group_offsets`.", default=True),
    Option("start_mode", OptionType.STRING,
           "Where reading starts. `group_offsets`: where the group ended; a partition that the group has not read "
           "starts at its first record, or as `auto.offset.reset` in `kafka.config` says.",
           default="group_offsets", choices=START_MODES),
    Option("start_mode.timestamp", OptionType.INTEGER,
           "For `timestamp`: milliseconds since 1970; reading starts at the first record of that time or later.",
           minimum=0),
    Option("start_mode.end_timestamp", OptionType.INTEGER,
           "For `timestamp`, in batch jobs: reading ends before the first record of that time or later.", minimum=0),
    Option("start_mode.offsets", OptionType.MAP,
           "For `specific_offsets`: the first offset of each partition, `{ orders-0 = 70, orders-1 = 10 }`. A "
           "partition that is not in it starts at the group's offset."),
    Option("format", OptionType.STRING,
           "What a record's value is. `json`: an object. `text`: values between `field_delimiter`. `csv`: the same "
           "with quotes. Without a `schema`, these yield the value as a string, `content`. `avro`: Avro, with or "
           "without a schema registry. `protobuf`: a message of Protobuf. `raw`: the value's bytes. "
           "`native`: the whole record. `compatible_kafka_connect_json`: what Kafka Connect's JsonConverter writes, an "
           "object or an array of them. `debezium_json`, `canal_json`, `maxwell_json`, `ogg_json`: changes of the rows "
           "of `schema`, each with its row kind.",
           default="json", choices=(*ROW_FORMATS, *CHANGE_FORMATS)),
    SCHEMA_OPTION,
    Option("value_converter_schema_enabled", OptionType.BOOLEAN,
           "For `compatible_kafka_connect_json`: whether the row is the `payload` of the record's value, beside its "
           "`schema`. With false, the value is the row.", default=True),
    Option("debezium_record_include_schema", OptionType.BOOLEAN,
           "Whether records of `debezium_json` have a `schema` beside their `payload`. Both forms are read. With "
           "false, timestamps without a declared unit are reported.", default=True),
    Option("debezium_record_table_filter", OptionType.MAP,
           "Changes of which table are read: `{ database_name = shop, schema_name = public, table_name = orders }`, "
           "or some of these.", element=OptionType.STRING),
    Option("debezium_decimals", OptionType.STRING,
           "Debezium's `decimal.handling.mode`, for records without a schema: what texts in columns of decimals are, "
           "bytes in base64 or the number itself.", default="precise", choices=("precise", "string")),
    Option("database.include", OptionType.STRING,
           "A regular expression (Java's): changes are read of databases whose whole name matches.",
           alternatives=tuple(f"{name}.database.include" for name in CHANGE_FORMATS)),
    Option("table.include", OptionType.STRING,
           "A regular expression (Java's): changes are read of tables whose whole name matches.",
           alternatives=tuple(f"{name}.table.include" for name in CHANGE_FORMATS)),
    Option("field_delimiter", OptionType.STRING, "What separates the values of `text` and `csv`.", default=","),
    Option("format_error_handle_way", OptionType.STRING,
           "What happens with a record that does not fit the format or schema. `fail`: the run fails and names it. "
           "`skip`: it is left out. `mark`: its columns are NULL, and the cause and the value are in two more columns, "
           "`_error` and `_value`, by which later steps can route it.",
           default="fail", choices=("fail", "skip", "mark")),
    Option("metadata_columns", OptionType.LIST,
           "Columns of each record's own, added after those of the schema: any of `topic`, `partition`, `offset`, "
           "`timestamp`, `key`, `headers`; of change logs also `database`, `schema`, `table`, `table_path` "
           "(`shop.public.orders`) and `change_time`. Their names begin with `_`: `_topic`.",
           element=OptionType.STRING),
    Option(SCHEMA_CHANGES, OptionType.BOOLEAN,
           "Whether a stream adds columns that appear in the records to those of `schema`, and its sinks to their "
           "targets. For `debezium_json` whose records have their `schema`, and Avro with a schema registry.",
           default=False),
    Option("max_offsets", OptionType.INTEGER, "The most records of one micro-batch of a stream.", minimum=1),
)  # fmt: skip

SINK_OPTIONS: Final = (
    Option("topic", OptionType.STRING, "The topic. `${column}` is the value of a column of each row; placeholders "
           "of table names, such as `${table_name}`, are replaced first. For rows that are records, by default their "
           "column `topic`.", fill=Fill.TOPIC),
    *_SHARED,
    Option("format", OptionType.STRING,
           "The value of a record. `json`: an object of all columns. `text`: their values between `field_delimiter`. "
           "`csv`: the same with quotes where a value needs them. `avro`: Avro. `protobuf`: a message of Protobuf. "
           "`raw`: the only column, a string or bytes. `debezium_json`, `canal_json`, `maxwell_json`, `ogg_json`: an "
           "insert or delete by the row's kind. "
           "`native`: the row is a record, with `value`, and `key`, `headers`, `partition` and `topic` where it has "
           "them. `compatible_debezium_json`: the row is one of Debezium's records: `topic`, `key` and `value`.",
           default="json",
           choices=("json", "text", "csv", "avro", "protobuf", "raw", *CHANGE_FORMATS, *WHOLE_FORMATS)),
    Option("field_delimiter", OptionType.STRING, "What separates the values of `text` and `csv`.", default=","),
    Option("partition_key_fields", OptionType.LIST,
           "The columns of the record's key, a JSON object: rows of equal values come into one partition, in order. "
           "By default, for change logs, the primary key of the rows.",
           element=OptionType.STRING),
    Option("partition", OptionType.INTEGER, "The partition of all records.", minimum=0),
    Option("assign_partitions", OptionType.LIST,
           "Texts: a record whose value contains the first goes into partition 0, the second into 1, and so on. Others "
           "go into the partitions behind these, by the hash of their value.", element=OptionType.STRING),
    Option("kafka_headers_fields", OptionType.LIST,
           "Columns that become headers of the record, as text, instead of a part of its value.",
           element=OptionType.STRING),
    Option("semantics", OptionType.STRING,
           "Accepted for compatibility. Records are sent once, also by a commit that was interrupted, in no "
           "transaction; headers tell those that are sent again otherwise.",
           default="AT_LEAST_ONCE", choices=("AT_LEAST_ONCE", "EXACTLY_ONCE", "NON")),
)  # fmt: skip


def added_columns(options: Options) -> tuple[str, ...]:
    """The columns that a source adds to those of its records' values: `metadata_columns`, and the marks of records that
    do not fit."""
    names = [f"_{name.lower()}" for name in dict.fromkeys(options.strings("metadata_columns"))]
    is_marking = str(options["format_error_handle_way"]).lower() == "mark"
    return (*names, *(MARKS if is_marking else ()))
