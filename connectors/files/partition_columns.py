"""The columns of `column=value` directories, with the types that Spark infers, where these keep all values apart."""

import os
import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Final
from urllib.parse import unquote

from catalog.tables.table import Column
from catalog.types.datatypes import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP, DataType

_HIVE_NULL: Final = "__HIVE_DEFAULT_PARTITION__"


def partition_columns(path: str, files: Iterable[str]) -> list[Column]:
    """The columns of `column=value` directories, with the types that Spark infers.

    Spark would make the numbers 1 and 1 of `01` and `1`: such a column is a string.
    """
    values: dict[str, list[str]] = {}
    root = path if os.path.isdir(path) else os.path.dirname(re.split(r"[*?\[{]", path)[0])
    for file in files:
        for part in os.path.relpath(os.path.dirname(file) or ".", root or ".").split(os.sep):
            name, equals, value = part.partition("=")
            if equals:
                values.setdefault(unquote(name), []).append(unquote(value))
    return [Column(name, _inferred(texts)) for name, texts in values.items()]


def _inferred(texts: list[str]) -> DataType:
    given = [text for text in texts if text != _HIVE_NULL]
    for type, fits in _INFERENCE:
        if given and all(fits(text) for text in given):
            return type if type not in (INT, BIGINT, DOUBLE) or _are_kept_by_numbers(given) else STRING
    return STRING


def _are_kept_by_numbers(texts: list[str]) -> bool:
    """Whether each text is the only one of its number: no leading zeros or `+`, and no two texts of one number."""
    is_padded = any(re.match(r"[+-]?0\d|[+]", text) for text in texts)
    return not is_padded and len(set(map(float, texts))) == len(set(texts))


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10


def _is_double(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) is not None


def _is_timestamp(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?", text) is not None


_INFERENCE: Final[tuple[tuple[DataType, Callable[[str], bool]], ...]] = (
    (INT, lambda text: re.fullmatch(r"[+-]?\d+", text) is not None and -(2**31) <= int(text) < 2**31),
    (BIGINT, lambda text: re.fullmatch(r"[+-]?\d+", text) is not None and -(2**63) <= int(text) < 2**63),
    (DOUBLE, _is_double),
    (DATE, _is_date),
    (TIMESTAMP, _is_timestamp),
)
"""The types that Spark tries for partition values, in its order (PartitioningUtils.inferPartitionColumnValue)."""
