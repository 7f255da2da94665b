"""What may be cast to what under ANSI, and which casts may give null (Spark's `Cast.canAnsiCast`, `forceNullable`).

Columns are the target families in the order of `TARGETS`: `.` no such cast; `y` allowed, null only for null; `n` may
give null; `d` may give null unless the decimal holds every value. `TRY_SAFE` holds the casts that TRY_CAST can't fail.
"""

from typing import Final

from catalog.types.datatypes import (
    DATE,
    INTEGRAL_TYPES,
    STRING,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
)
from sql.types import decimals
from sql.types.type_family import kind_of

_TARGET_NAMES: Final = (
    "boolean tinyint smallint int bigint float double decimal string binary "
    "date timestamp timestamp_ntz ym dt interval variant time"
)
TARGETS: Final = tuple(_TARGET_NAMES.split())

CASTS: Final = {
    #                 bool tiny small int big flt dbl dec str bin date ts ntz ym dt cal var time
    "boolean":       "y    y    y     y   y   y   y   d   y   .   .    .  .   .  .  .   y   .",
    "tinyint":       "y    y    y     y   y   y   y   d   y   .   .    y  .   y  y  .   y   .",
    "smallint":      "y    y    y     y   y   y   y   d   y   .   .    y  .   y  y  .   y   .",
    "int":           "y    y    y     y   y   y   y   d   y   .   .    y  .   y  y  .   y   .",
    "bigint":        "y    y    y     y   y   y   y   d   y   .   .    y  .   y  y  .   y   .",
    "float":         "y    n    n     n   n   y   y   n   y   .   .    n  .   .  .  .   y   .",
    "double":        "y    n    n     n   n   y   y   n   y   .   .    n  .   .  .  .   y   .",
    "decimal":       "y    n    n     n   n   y   y   d   y   .   .    y  .   y  y  .   y   .",
    "string":        "n    n    n     n   n   n   n   n   y   y   n    n  n   n  n  n   n   n",
    "binary":        ".    .    .     .   .   .   .   .   y   y   .    .  .   .  .  .   y   .",
    "date":          ".    .    .     .   .   .   .   .   y   .   y    y  n   .  .  .   n   .",
    "timestamp":     ".    n    n     n   y   y   y   n   y   .   y    y  y   .  .  .   y   .",
    "timestamp_ntz": ".    .    .     .   .   .   .   .   y   .   n    y  y   .  .  .   y   .",
    "ym":            ".    y    y     y   y   .   .   n   y   .   .    .  .   y  .  .   .   .",
    "dt":            ".    y    y     y   y   .   .   n   y   .   .    .  .   .  y  .   .   .",
    "interval":      ".    .    .     .   .   .   .   .   y   .   .    .  .   .  .  y   .   .",
    "variant":       "n    n    n     n   n   n   n   n   n   n   n    n  n   .  .  .   y   n",
    "time":          ".    n    n     y   y   .   .   n   y   .   .    .  .   .  .  .   y   y",
    "array":         ".    .    .     .   .   .   .   .   y   .   .    .  .   .  .  .   y   .",
    "map":           ".    .    .     .   .   .   .   .   y   .   .    .  .   .  .  .   .   .",
    "struct":        ".    .    .     .   .   .   .   .   y   .   .    .  .   .  .  .   .   .",
}  # fmt: skip

TRY_SAFE: Final = {
    "boolean": "string",
    "tinyint": "smallint int bigint float double string",
    "smallint": "int bigint float double string",
    "int": "bigint float double string",
    "bigint": "float double string timestamp",
    "float": "double string",
    "double": "string",
    "decimal": "string",
    "string": "binary",
    "binary": "string",
    "date": "string timestamp timestamp_ntz",
    "timestamp": "string timestamp_ntz bigint",
    "timestamp_ntz": "string timestamp",
    "ym": "string",
    "dt": "string",
    "interval": "string",
    "time": "string",
}

_CELLS: Final = {source: dict(zip(TARGETS, row.split(), strict=True)) for source, row in CASTS.items()}


def can_cast(source: DataType, target: DataType) -> bool:
    """Whether `CAST(source AS target)` passes analysis; true where either is not known."""
    if source in (target, VOID) or UNKNOWN in (source, target):
        return True
    match source, target:
        case Array(), Array():
            forced = not target.contains_null and (source.contains_null or forces_null(source.element, target.element))
            return can_cast(source.element, target.element) and not forced
        case Map(), Map():
            forced = not target.value_contains_null and (
                source.value_contains_null or forces_null(source.value, target.value)
            )
            return can_cast(source.key, target.key) and can_cast(source.value, target.value) and not forced
        case Struct(), Struct():
            if len(source.fields) != len(target.fields):
                return False
            return all(
                can_cast(a.type, b.type) and (b.nullable or not (a.nullable or forces_null(a.type, b.type)))
                for a, b in zip(source.fields, target.fields, strict=True)
            )
    source_kind, target_kind = kind_of(source), kind_of(target)
    if source_kind == "variant" and target_kind in ("array", "map", "struct"):
        return not isinstance(target, Map) or target.key == STRING
    if isinstance(source, Array) and target == VARIANT:
        return source.element != VOID and can_cast(source.element, VARIANT)
    if source_kind == target_kind and source_kind not in ("array", "map", "struct"):
        return True
    return _CELLS.get(source_kind, {}).get(target_kind, ".") != "."


_PIVOT_CASTS: Final = {
    "date": "boolean tinyint smallint int bigint float double decimal",
    "timestamp": "boolean",
} | dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "binary")
"""What `CAST` takes without ANSI, by source."""


def can_cast_in_pivot(source: DataType, target: DataType) -> bool:
    """Whether a value of PIVOT fits the column, for which Spark asks as if ANSI were off (`Cast.canCast`)."""
    return can_cast(source, target) or kind_of(target) in _PIVOT_CASTS.get(kind_of(source), "").split()


def forces_null_in_pivot(source: DataType, target: DataType) -> bool:
    """`forces_null` as if ANSI were off: a date becomes a number then, which is null."""
    return forces_null(source, target) or (source == DATE and not can_cast(source, target))


def forces_null(source: DataType, target: DataType) -> bool:
    """Whether the cast may give null for what is not null."""
    if source in (target, VOID, UNKNOWN):
        return False
    source_kind, target_kind = kind_of(source), kind_of(target)
    if source_kind == "variant":
        return target_kind != "variant"
    cell = _CELLS.get(source_kind, {}).get(target_kind, ".")
    if cell == "d":
        assert isinstance(target, Decimal)
        if isinstance(source, Decimal) and target.precision - target.scale > source.precision - source.scale:
            return False
        digits = source if isinstance(source, Decimal) else decimals.DIGITS[source]
        return not decimals.is_wider(target, digits)
    return cell == "n"


def try_forces_null(source: DataType, target: DataType) -> bool:
    """Whether `TRY_CAST` may give null for what is not null."""
    if source in (target, VOID):
        return False
    if isinstance(target, Decimal) and (isinstance(source, Decimal) or source in INTEGRAL_TYPES):
        return not decimals.is_wider(target, source if isinstance(source, Decimal) else decimals.DIGITS[source])
    source_kind, target_kind = kind_of(source), kind_of(target)
    if source_kind == target_kind and source_kind not in ("array", "map", "struct"):
        return False
    if source_kind in ("array", "map", "struct"):
        return target_kind != source_kind or not _is_safe_inside(source, target)
    return target_kind not in TRY_SAFE.get(source_kind, "").split()


def _is_safe_inside(source: DataType, target: DataType) -> bool:
    match source, target:
        case Array(), Array():
            return not try_forces_null(source.element, target.element)
        case Map(), Map():
            return not (try_forces_null(source.key, target.key) or try_forces_null(source.value, target.value))
        case Struct(), Struct():
            pairs = zip(source.fields, target.fields, strict=False)
            return not any(try_forces_null(a.type, b.type) for a, b in pairs)
    return False
