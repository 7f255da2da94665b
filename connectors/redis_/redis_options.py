"""The options of Redis: those of Apache SeaTunnel's documentation, with its names."""

from typing import Final

from catalog.options import SAVE_OPTIONS, Option, OptionType
from catalog.outside import Fill
from connectors.interface.schema_option import SCHEMA_OPTION

TYPES: Final = ("key", "string", "hash", "list", "set", "zset")

_CONNECTION: Final = (
    Option("host", OptionType.STRING, "The server, with `mode = single`."),
    Option("port", OptionType.INTEGER, "Its port.", default=6379, minimum=1),
    Option("user", OptionType.STRING, "The user."),
    Option("auth", OptionType.STRING, "The password.", sensitive=True),
    Option("db_num", OptionType.INTEGER, "The number of the database, with `mode = single`.", default=0, minimum=0),
    Option("mode", OptionType.STRING, "One server, or the nodes of a cluster.", default="single",
           choices=("single", "cluster")),
    Option("nodes", OptionType.LIST, 'Nodes of the cluster: `["redis-1:6379", "redis-2:6379"]`.',
           element=OptionType.STRING),
    Option("data_type", OptionType.STRING, "The type of the keys; `key` and `string` are one.", required=True,
           choices=TYPES),
)  # fmt: skip

SOURCE_OPTIONS: Final = (
    *_CONNECTION,
    Option("keys", OptionType.STRING, "The pattern of the keys: `orders:*`. Keys of other types are not read.",
           required=True),
    Option("batch_size", OptionType.INTEGER, "Keys that are asked for at a time.", default=100, minimum=1),
    Option("format", OptionType.STRING,
           "`json`: each value is an object, or an array of objects, with the columns of `schema`. `text`: it is a "
           "`content`. Default: `json` with `schema`, else `text`.", choices=("json", "text")),
    SCHEMA_OPTION,
    Option("hash_key_parse_mode", OptionType.STRING,
           "Of hashes with `format = json`: `all` reads a hash as a row, whose column `hash_key` is the key. `kv` "
           "reads each entry as one: its value is an object, and its name the first column.", default="all",
           choices=("all", "kv")),
)  # fmt: skip

SINK_OPTIONS: Final = (
    *_CONNECTION,
    Option("key", OptionType.STRING,
           "A column whose value is the key, or the key of all rows. With `support_custom_key`, a text with columns: "
           "`user:{id}`.", required=True, fill=Fill.KEY),
    Option("support_custom_key", OptionType.BOOLEAN, "Whether `{name}` in `key` is the column's value.", default=False),
    Option("value_field", OptionType.STRING,
           "The column that is written as the value of a key, list, set or zset, in place of the whole row."),
    Option("hash_key_field", OptionType.STRING, "The column that names the entry of a hash, with `hash_value_field`."),
    Option("hash_value_field", OptionType.STRING, "The column that is the entry's value."),
    Option("batch_size", OptionType.INTEGER, "Rows that are sent at a time.", default=1_000, minimum=1),
    Option("expire", OptionType.INTEGER, "Seconds after which a key expires; -1: never.", default=-1, minimum=-1),
    Option("format", OptionType.STRING, "Rows are written as JSON objects.", default="json", choices=("json",)),
    *(option for option in SAVE_OPTIONS if option.name != "write_mode"),
)  # fmt: skip
