"""Which texts can be cast to a type, as far as it is known."""

import re
from typing import Final

from catalog.types.datatypes import BOOLEAN, DATE, INTEGRAL_TYPES, TIMESTAMP, TIMESTAMP_NTZ, DataType, is_numeric
from sql.parsing.typed_literals import is_date, read_timestamp

_TRUTH_VALUES: Final = frozenset(("t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"))
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[dDfF]?|[+-]?(?i:nan|inf|infinity)")


def may_be(text: str, target: DataType) -> bool:
    """Whether a text may be cast to a type; true of types whose texts are not known here."""
    if target in INTEGRAL_TYPES:
        return text.lstrip("+-").isdigit()
    if is_numeric(target):
        return _NUMBER.fullmatch(text) is not None
    if target == BOOLEAN:
        return text.lower() in _TRUTH_VALUES
    if target == DATE:
        return is_date(text)
    return target not in (TIMESTAMP, TIMESTAMP_NTZ) or read_timestamp(text) is not None
