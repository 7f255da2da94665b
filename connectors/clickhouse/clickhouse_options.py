"""The options of ClickHouse: those of Apache SeaTunnel's documentation, with its names."""

from typing import Final

from catalog.options import SAVE_OPTIONS, Option, OptionType
from catalog.outside import Fill
from connectors.interface.schema_option import SCHEMA_OPTION

_NO_EFFECT: Final = "No effect; it is accepted for SeaTunnel's job files: "

_CONNECTION: Final = (
    Option("host", OptionType.STRING,
           "The server's HTTP port: `localhost:8123`, `https://ch.example.com:8443`; of several, separated by commas, "
           "the first is asked.", required=True),
    Option("database", OptionType.STRING, "The database.", default="default", fill=Fill.FOLDER_NAME),
    Option("username", OptionType.STRING, "The user."),
    Option("password", OptionType.STRING, "The user's password.", sensitive=True),
    Option("clickhouse.config", OptionType.MAP, "Settings of the queries: `{ max_threads = 4 }`."),
)  # fmt: skip

SOURCE_OPTIONS: Final = (
    *_CONNECTION,
    Option("sql", OptionType.STRING, "A query in ClickHouse's SQL, read by one task.", fill=Fill.SQL),
    Option("table_path", OptionType.STRING,
           "A table, `database.table` or `table`: its partitions are read by several tasks.", fill=Fill.TABLE),
    Option("filter_query", OptionType.STRING, "A condition in ClickHouse's SQL for the rows of `table_path`.",
           fill=Fill.SQL),
    SCHEMA_OPTION,
    Option("server_time_zone", OptionType.STRING, _NO_EFFECT + "times are read as instants."),
)  # fmt: skip

SINK_OPTIONS: Final = (
    *_CONNECTION,
    Option("table", OptionType.STRING, "The table.", required=True, fill=Fill.FOLDER_NAME),
    Option("primary_key", OptionType.LIST,
           "Columns that a new table is ordered by, and by which `write_mode = upsert` finds rows. By default the "
           "primary key of the incoming table.", element=OptionType.STRING, alternatives=("primary_keys",)),
    Option("support_upsert", OptionType.BOOLEAN, "Whether `write_mode` is `upsert`."),
    Option("engine", OptionType.STRING, "The engine of a new table, of the MergeTree family.", default="MergeTree"),
    Option("bulk_size", OptionType.INTEGER, "Rows of a request.", default=100_000, minimum=1),
    Option("allow_experimental_lightweight_delete", OptionType.BOOLEAN,
           _NO_EFFECT + "an upsert deletes rows in this way."),
    Option("split_mode", OptionType.BOOLEAN, _NO_EFFECT + "a distributed table shards its rows itself."),
    Option("sharding_key", OptionType.STRING, _NO_EFFECT + "a distributed table shards its rows itself."),
    *SAVE_OPTIONS,
)  # fmt: skip
