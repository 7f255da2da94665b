"""The options of OpenSearch and Elasticsearch: those of Apache SeaTunnel's documentation, with its names."""

from typing import Final

from catalog.options import SAVE_OPTIONS, Option, OptionType
from catalog.outside import Fill
from connectors.interface.schema_option import SCHEMA_OPTION

_CONNECTION: Final = (
    Option("hosts", OptionType.LIST, 'The nodes of the cluster: `["https://search-1:9200", "search-2:9200"]`.',
           required=True, element=OptionType.STRING),
    Option("username", OptionType.STRING, "The user."),
    Option("password", OptionType.STRING, "The user's password.", sensitive=True),
    Option("tls_verify_certificate", OptionType.BOOLEAN, "Whether the certificate of an https node must be trusted.",
           default=True),
    Option("tls_verify_hostnames", OptionType.BOOLEAN, "Whether it must be the certificate of that host.",
           default=True, alternatives=("tls_verify_hostname",)),
    Option("tls_keystore_path", OptionType.STRING,
           "A file, on every machine that reads or writes, with the client's certificate and key: PEM or PKCS 12."),
    Option("tls_keystore_password", OptionType.STRING, "The password of that file.", sensitive=True),
    Option("tls_truststore_path", OptionType.STRING,
           "A file, on every machine that reads or writes, with the certificates that are trusted: PEM or PKCS 12. "
           "By default those of the operating system."),
    Option("tls_truststore_password", OptionType.STRING, "The password of that file.", sensitive=True),
)  # fmt: skip

SOURCE_OPTIONS: Final = (
    *_CONNECTION,
    Option("index", OptionType.STRING, "The index, an alias, or a pattern: `logs-*`.", required=True),
    Option("source", OptionType.LIST,
           "The fields to read; `_id` is the document's id. By default the columns of `schema`, else all fields of the "
           "index's mapping.", element=OptionType.STRING),
    Option("array_column", OptionType.MAP,
           'The types of fields that hold arrays, which a mapping does not show: `{ tags = "array<string>" }`.'),
    SCHEMA_OPTION,
    Option("query", OptionType.ANY, "Which documents: a query of the query DSL, as an object or as its text.",
           default='{"match_all": {}}'),
    Option("search_api_type", OptionType.STRING,
           "`SCROLL`: each task reads the state of the index when it begins. `PIT`: all tasks read that of a point in "
           "time, which is taken when the run plans the read.", default="SCROLL", choices=("SCROLL", "PIT")),
    Option("scroll_time", OptionType.STRING, "How long the cluster waits for the next request of a scroll.",
           default="1m"),
    Option("scroll_size", OptionType.INTEGER, "Documents of a response.", default=1_000, minimum=1,
           alternatives=("pit_batch_size",)),
    Option("pit_keep_alive", OptionType.INTEGER,
           "Milliseconds after the last request until the cluster forgets a point in time.", default=600_000,
           minimum=1),
)  # fmt: skip

SINK_OPTIONS: Final = (
    *_CONNECTION,
    Option("index", OptionType.STRING,
           "The index, or a text with columns, by which each row chooses its index: `logs-$${day}`, under `--compat "
           "seatunnel` `logs-${day}`.", required=True, fill=Fill.INDEX),
    Option("index_type", OptionType.STRING, "No effect; clusters since version 7 have no types."),
    Option("primary_keys", OptionType.LIST,
           "Columns of which the document's `_id` is made: rows then replace the document of their key. By default the "
           "primary key of the incoming table. Without any, the id is made of the run and the row.",
           element=OptionType.STRING),
    Option("key_delimiter", OptionType.STRING, "What separates the values of several columns in an `_id`.",
           default="_"),
    Option("max_batch_size", OptionType.INTEGER, "Most documents of a request.", default=1_000, minimum=1),
    Option("max_retry_count", OptionType.INTEGER,
           "How often a request is repeated that the cluster could not take, such as for want of a free thread.",
           default=3, minimum=0),
    *SAVE_OPTIONS,
)  # fmt: skip
