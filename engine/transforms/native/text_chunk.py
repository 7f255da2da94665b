"""`TextChunk`: a long text as several rows, one per chunk."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import INT, STRING
from engine.transforms.base import check_columns
from engine.transforms.support import text_chunks
from engine.transforms.support.native_columns import by_batches, texts, with_added

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class TextChunk:
    name: ClassVar[str] = "TextChunk"
    doc: ClassVar[str] = (
        "Split a text column into chunks, one row each: all columns of the input, the chunk and its number from 0. "
        "A primary key gets the number as a further column."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("text_field", OptionType.STRING, "The column that is split.", required=True),
        Option("output_field", OptionType.STRING, "The chunk's column.", default="chunk"),
        Option("chunk_index_field", OptionType.STRING, "The column of the chunk's number.", default="chunk_index"),
        Option("chunk_size", OptionType.INTEGER, "Most characters (code points) of a chunk.", default=1000, minimum=1),
        Option("overlap_size", OptionType.INTEGER,
               "Most characters of the chunk before that a chunk begins with, in whole pieces.", default=0, minimum=0),
        Option("separators", OptionType.LIST, "Where texts are split, the first one first; empty: anywhere.",
               default=["\n\n", "\n", "。", "！", "？", ". ", " "], element=OptionType.STRING),
        Option("skip_empty_text", OptionType.BOOLEAN, "Whether rows with NULL or an empty text are dropped.",
               default=True),
    )  # fmt: skip
    is_expensive: ClassVar[bool] = False

    def output(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> CatalogTable | None:
        field = options.string("text_field")
        chunk, index = options.string("output_field"), options.string("chunk_index_field")
        if options.integer("overlap_size") >= options.integer("chunk_size"):
            span = options.span("overlap_size")
            diagnostics.error("PEN2004", "`overlap_size` must be less than `chunk_size`", span)
            return None
        if not check_columns(table, {field: "text_field"}, options, diagnostics) or table.is_open:
            return None
        key = table.schema.primary_key
        if key is not None and {chunk.lower(), index.lower()} & {name.lower() for name in key.columns}:
            diagnostics.error("PEN2004", "a chunk cannot replace a column of the primary key", options.span())
            return None
        made = with_added(table, {chunk: STRING, index: INT})
        if key is None:
            return made
        longer = replace(key, columns=(*key.columns, index))
        return replace(made, schema=replace(made.schema, primary_key=longer))

    def apply(self, df: "DataFrame", table: CatalogTable, options: Options) -> "DataFrame":
        rules = text_chunks.Chunking(
            options.string("text_field"), options.string("output_field"), options.string("chunk_index_field"),
            options.integer("chunk_size"), options.integer("overlap_size"), tuple(texts(options["separators"])),
            options.flag("skip_empty_text"),
        )  # fmt: skip
        return by_batches(df, table, partial(text_chunks.run, rules), text_chunks)


transform = TextChunk()
