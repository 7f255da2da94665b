"""Kinds of arguments: which families of types a parameter takes, and what they are cast to before the call.

A kind's name in the catalogue is one of `KINDS`, or families joined by `|` that are taken as they are. `!` behind it:
the argument must be constant. `~` behind it: `NULL` is refused, which Spark otherwise takes for any kind.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VOID,
    Array,
    DataType,
    Decimal,
    Map,
)
from sql.types.coercion import holds_map
from sql.types.operators import is_orderable
from sql.types.type_family import kind_of

_INTEGERS: Final = "tinyint smallint int bigint"
_NUMBERS: Final = f"{_INTEGERS} float double decimal"
_ATOMIC: Final = f"boolean {_NUMBERS} string binary date timestamp timestamp_ntz ym dt interval variant time"
_ALL: Final = f"{_ATOMIC} array map struct"
_NOT_NUMBERS: Final = "boolean string binary date timestamp timestamp_ntz ym dt interval variant time"
_DATES: Final = "string date timestamp timestamp_ntz"
_ORDERABLE: Final = f"boolean {_NUMBERS} string binary date timestamp timestamp_ntz ym dt array struct time"

KINDS: Final[dict[str, tuple[str, DataType | None, str]]] = {
    # name          taken                        cast to        kept as they are
    "any":          (_ALL,                       None,          _ALL),
    "not_map":      (f"{_ATOMIC} array struct",  None,          _ALL),
    "atomic_or_array": (f"{_ATOMIC} array",      None,          _ALL),
    "orderable":    (_ORDERABLE,                 None,          _ALL),
    "hashable":     (f"{_ORDERABLE} interval",   None,          _ALL),
    "string":       (_ATOMIC,                    STRING,        ""),
    "text":         (_ATOMIC,                    STRING,        "binary"),
    "no_binary":    (_ATOMIC.replace("binary ", ""), STRING,    ""),
    "tinyint":      (f"{_NUMBERS} string",       TINYINT,       ""),
    "smallint":     (f"{_NUMBERS} string",       SMALLINT,      ""),
    "int":          (f"{_NUMBERS} string",       INT,           ""),
    "bigint":       (f"{_NUMBERS} string",       BIGINT,        ""),
    "float":        (f"{_NUMBERS} string",       FLOAT,         ""),
    "double":       (f"{_NUMBERS} string",       DOUBLE,        ""),
    "seconds":      (f"{_NUMBERS} string",       Decimal(18, 6), ""),
    "number":       (f"{_NUMBERS} string",       DOUBLE,        _NUMBERS),
    "long_or_decimal": (f"{_NUMBERS} string",    BIGINT,        "bigint decimal"),
    "number_or_interval": (f"{_NUMBERS} string ym dt", DOUBLE,  f"{_NUMBERS} ym dt"),
    "number_or_any_interval": (f"{_NUMBERS} string ym dt interval", DOUBLE, f"{_NUMBERS} ym dt interval"),
    "summable":     (f"{_NUMBERS} string ym dt timestamp", DOUBLE, f"{_NUMBERS} ym dt"),
    "numeric":      (_NUMBERS,                   None,          _NUMBERS),
    "integral":     (_INTEGERS,                  None,          _INTEGERS),
    "days":         ("tinyint smallint int string", INT,        ""),
    "boolean":      ("boolean string",           BOOLEAN,       ""),
    "binary":       ("string binary",            BINARY,        ""),
    "date":         (_DATES,                     DATE,          ""),
    "timestamp":    (_DATES,                     TIMESTAMP,     ""),
    "timestamp_ntz": (_DATES,                    TIMESTAMP_NTZ, ""),
    "moment":       (_DATES,                     TIMESTAMP,     "timestamp timestamp_ntz"),
    "clock":        (f"{_DATES} time",           TIMESTAMP,     "time"),
    "instant":      (_DATES,                     None,          _DATES),
    "approximable": (f"{_NUMBERS} {_DATES} ym dt", DOUBLE,      f"{_NUMBERS} date timestamp timestamp_ntz ym dt"),
    "int_or_bigint": (f"{_NUMBERS} string",      INT,           "int bigint"),
    "seconds16":    (f"{_NUMBERS} string",       Decimal(16, 6), ""),
    "datetime_text": (_ATOMIC,                   STRING,        "date timestamp timestamp_ntz"),
    "datetime_not_number": (_NOT_NUMBERS,        STRING,        "date timestamp timestamp_ntz"),
    "datetime_text_or_number": (_ATOMIC,         STRING,        f"date timestamp timestamp_ntz {_NUMBERS}"),
    "comparable_array": ("array",                None,          _ALL),
    "sketchable":   (f"boolean {_NUMBERS} {_DATES}", None,      _ALL),
}  # fmt: skip


VOID_AS: Final[dict[str, DataType]] = {
    "array": Array(VOID), "comparable_array": Array(VOID), "map": Map(VOID, VOID), "integral": INT, "numeric": DOUBLE,
}  # fmt: skip
"""The type of NULL for kinds without a type of their own."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The types that a parameter accepts."""

    name: str
    taken: frozenset[str]
    target: DataType | None
    kept: frozenset[str]
    is_constant: bool
    takes_null: bool

    def takes(self, type: DataType) -> bool:
        if type == VOID:
            return self.takes_null
        if self.name in ("orderable", "comparable_array") and not is_orderable(type):
            return False
        return kind_of(type) in self.taken and not (self.name == "not_map" and holds_map(type))

    def cast(self, type: DataType) -> DataType:
        """The type to which an accepted argument is cast."""
        if type == VOID:
            return self.target or VOID_AS.get(self.name, VOID)
        return type if type == self.target or self.target is None or kind_of(type) in self.kept else self.target


@cache
def kind(text: str) -> Kind:
    """The kind that the catalogue writes so."""
    name = text.rstrip("!~")
    taken, target, kept = KINDS.get(name) or (name.replace("=", "").replace("|", " "), None, _ALL)
    return Kind(name, frozenset(taken.split()), target, frozenset(kept.split()), "!" in text, "~" not in text)
