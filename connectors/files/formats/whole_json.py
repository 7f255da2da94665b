"""Refuses JSON files whose later values Spark would leave out: with `multiLine` it reads the first value of a file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from catalog.options import Options
from catalog.quoting import quote_text
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import Column
from catalog.types.datatypes import STRING
from connectors.files.file_options import HADOOP_CODECS, file_format
from connectors.files.formats.readers import given_options, load

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from connectors.files.formats.readers import Reader

FIRST_VALUE_ONLY: Final = "more than one JSON value in the file"
"""How the error begins; the file's path follows."""

_TEXT: Final = "__text"


def reads_whole_json(options: Options) -> bool:
    """Whether Spark reads each file as one JSON value."""
    return file_format(options) == "json" and options.flag("multi_line")


def with_refused_rest(df: "DataFrame", texts: "Reader", paths: Sequence[str], options: Options) -> "DataFrame":
    """The rows; reading them fails where a file goes on after its first value. `texts`: a reader of texts for the same
    files.

    The files are read a second time for this: Spark's reader does not tell what it leaves.
    """
    from pyspark.sql.functions import lit

    given = {HADOOP_CODECS: given_options(options)[HADOOP_CODECS], "wholetext": "true"}
    opened = load(texts.options(**given).schema(columns_to_ddl([Column(_TEXT, STRING)])), paths)
    content = _TEXT
    if options.string("encoding").lower() != "utf-8":
        content = f"decode(cast({_TEXT} as binary), {quote_text(options.string('encoding'))})"
    content = f"trim(leading '\\uFEFF' from {content})"
    goes_on = f"json_array_length(concat('[', {content}, ']')) is distinct from 1"
    is_read = f"get_json_object({content}, '$') is not null"
    message = f"concat('{FIRST_VALUE_ONLY} ', _metadata.file_path)"
    refused = opened.where(f"if({is_read} and {goes_on}, raise_error({message}), false)")
    return df.unionAll(refused.select(*(lit(None).cast(field.dataType).alias(field.name) for field in df.schema)))
