"""`FieldEncrypt`: columns encrypted, or decrypted."""

from base64 import b64decode
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import STRING
from engine.transforms.base import check_columns
from engine.transforms.support import ciphers
from engine.transforms.support.native_columns import by_batches, with_added

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class FieldEncrypt:
    name: ClassVar[str] = "FieldEncrypt"
    doc: ClassVar[str] = (
        "Encrypt or decrypt text columns with AES. The result is base64 of a random IV and the ciphertext; the key "
        "is not in the plan, and not in what Spark shows or logs of it."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("fields", OptionType.LIST, "The columns, texts.", required=True, element=OptionType.STRING),
        Option("key", OptionType.STRING, "16, 24 or 32 bytes in base64, with or without `base64:` before it.",
               required=True, sensitive=True),
        Option("algorithm", OptionType.STRING,
               "The cipher; `AES_GCM` also detects values that were changed since.", default="AES_CBC",
               choices=("AES_CBC", "AES_GCM")),
        Option("mode", OptionType.STRING, "Which way.", default="ENCRYPT", choices=("ENCRYPT", "DECRYPT")),
    )  # fmt: skip
    is_expensive: ClassVar[bool] = True

    def output(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> CatalogTable | None:
        places = {name: f"fields.{index}" for index, name in enumerate(options.strings("fields"))}
        if not check_columns(table, places, options, diagnostics) or not _check_key(options, diagnostics):
            return None
        for name, place in places.items():
            column = table.column(name)
            if column is not None and column.type != STRING:
                message = f"the column `{name}` is {column.type}, and only texts can be encrypted"
                diagnostics.error("PEN3008", message, options.span(place), "cast it in a `Sql` transform before")
                return None
        return None if table.is_open else with_added(table, dict.fromkeys(places, STRING))

    def apply(self, df: "DataFrame", table: CatalogTable, options: Options) -> "DataFrame":
        names = {name.lower(): name for name in df.columns}
        fields = tuple(names[name.lower()] for name in options.strings("fields"))
        way = options.string("algorithm").upper(), options.string("mode").upper() == "ENCRYPT"
        run = partial(ciphers.run, fields, _key(options), way)
        return by_batches(df, table, run, ciphers)


def _key(options: Options) -> bytes:
    return b64decode(options.string("key").removeprefix("base64:"), validate=True)


def _check_key(options: Options, diagnostics: Diagnostics) -> bool:
    if not options.string("key"):  # read and decrypted by a run only
        return True
    try:
        length = len(_key(options))
    except ValueError:  # also of signs that are no ASCII
        diagnostics.error("PEN2004", "`key` is not base64", options.span("key"))
        return False
    if length in (16, 24, 32):
        return True
    diagnostics.error("PEN2004", f"`key` has {length} bytes: 16, 24 or 32 are needed", options.span("key"))
    return False


transform = FieldEncrypt()
