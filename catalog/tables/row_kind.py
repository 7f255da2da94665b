"""Row kinds: the change of a table that a row describes, named as in Flink and Apache SeaTunnel.

`+I` inserts a row, `-U` and `+U` are a row before and after an update, `-D` deletes a row. On Spark the kind is a
column of that text, last of the rows and hidden: a `CatalogTable` with `has_row_kind` does not list it, `select *` does
not show it, and it travels through every transform.
"""

from enum import Enum
from typing import Final

ROW_KIND: Final = "__row_kind"
"""The hidden column, on Spark, of rows whose table `has_row_kind`."""


class RowKind(str, Enum):
    """A row kind; its value is the short text that the hidden column holds."""

    INSERT = "+I"
    UPDATE_BEFORE = "-U"
    UPDATE_AFTER = "+U"
    DELETE = "-D"

    @classmethod
    def parse(cls, text: str) -> "RowKind":
        """A kind by its name (`DELETE`, in any case) or its short text (`-D`); ValueError if it is neither."""
        for kind in cls:
            if text.upper() in (kind.name, kind.value):
                return kind
        names = ", ".join(kind.name for kind in cls)
        raise ValueError(f"`{text}` is not a row kind: {names}")
