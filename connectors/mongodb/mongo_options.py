"""The options of MongoDB: those of Apache SeaTunnel's documentation, with its names."""

from typing import Final

from catalog.options import SAVE_OPTIONS, Option, OptionType
from catalog.outside import Fill
from connectors.interface.schema_option import SCHEMA_OPTION

_NO_EFFECT: Final = "No effect; it is accepted for SeaTunnel's job files: "

_CONNECTION: Final = (
    Option("uri", OptionType.STRING, "`mongodb://user:password@host:27017/?replicaSet=rs`; the password is masked in "
           "all output.", required=True),
    Option("database", OptionType.STRING, "The database.", required=True),
    Option("collection", OptionType.STRING, "The collection.", required=True, fill=Fill.COLLECTION),
)  # fmt: skip

SOURCE_OPTIONS: Final = (
    *_CONNECTION,
    Option("schema", OptionType.MAP, SCHEMA_OPTION.doc, required=True),
    Option("match.query", OptionType.STRING, 'Which documents, as MongoDB\'s shell writes it: `{ status: "A" }`.',
           alternatives=("matchQuery",)),
    Option("match.projection", OptionType.STRING, "Which of their fields; by default those of `schema`."),
    Option("partition.split-key", OptionType.STRING, "The indexed field by which a large collection is divided.",
           default="_id"),
    Option("partition.split-size", OptionType.INTEGER, "Bytes that one task reads, about.", default=64 * 1024 * 1024,
           minimum=1),
    Option("cursor.no-timeout", OptionType.BOOLEAN, "Whether the server keeps an idle cursor.", default=True),
    Option("fetch.size", OptionType.INTEGER, "Documents of a response.", default=2048, minimum=1),
    Option("max.time-min", OptionType.INTEGER, "Minutes after which the server ends a query.", default=600, minimum=1),
    Option("flat.sync-string", OptionType.BOOLEAN,
           "Whether the one column of `schema`, a string, is the whole document as extended JSON.", default=False),
)  # fmt: skip

SINK_OPTIONS: Final = (
    *_CONNECTION,
    Option("primary-key", OptionType.LIST,
           "Fields by which `write_mode = upsert` finds a document. By default the primary key of the incoming table.",
           element=OptionType.STRING, alternatives=("upsert-key", "primary_keys")),
    Option("upsert-enable", OptionType.BOOLEAN, "Whether `write_mode` is `upsert`."),
    Option("buffer-flush.max-rows", OptionType.INTEGER, "Documents of a request.", default=1_000, minimum=1),
    Option("buffer-flush.interval", OptionType.INTEGER, _NO_EFFECT + "a request is made when its documents are there."),
    Option("retry.max", OptionType.INTEGER, _NO_EFFECT + "the client repeats a request that did not arrive."),
    Option("retry.interval", OptionType.INTEGER, _NO_EFFECT + "the client repeats a request that did not arrive."),
    Option("transaction", OptionType.BOOLEAN, _NO_EFFECT + "a commit can be repeated without doubling a document."),
    Option("schema", OptionType.MAP, _NO_EFFECT + "documents have the columns of the rows."),
    *SAVE_OPTIONS,
)  # fmt: skip
