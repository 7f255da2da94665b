"""Precision and scale of decimal results (Spark's `DecimalType` and `DecimalPrecision`, precision loss allowed)."""

from typing import Final

from catalog.types.datatypes import BIGINT, BOOLEAN, INT, MAX_PRECISION, SMALLINT, TINYINT, DataType, Decimal

MIN_ADJUSTED_SCALE: Final = 6

DIGITS: Final[dict[DataType, Decimal]] = {
    BOOLEAN: Decimal(1, 0),
    TINYINT: Decimal(3, 0),
    SMALLINT: Decimal(5, 0),
    INT: Decimal(10, 0),
    BIGINT: Decimal(20, 0),
}
"""The decimal that holds every value of an integral type."""


def bounded(precision: int, scale: int) -> Decimal:
    return Decimal(max(min(precision, MAX_PRECISION), 1), min(scale, MAX_PRECISION))


def adjusted(precision: int, scale: int) -> Decimal:
    """Keep the digits before the point where there are more than 38, and at least six behind it."""
    if precision <= MAX_PRECISION:
        return Decimal(precision, scale)
    integral = precision - scale
    return Decimal(MAX_PRECISION, max(MAX_PRECISION - integral, min(scale, MIN_ADJUSTED_SCALE)))


def wider(a: Decimal, b: Decimal) -> Decimal:
    """The decimal that holds both, dropping digits behind the point where there are more than 38."""
    scale = max(a.scale, b.scale)
    precision = max(a.precision - a.scale, b.precision - b.scale) + scale
    if precision <= MAX_PRECISION:
        return Decimal(precision, scale)
    return Decimal(MAX_PRECISION, max(0, scale - (precision - MAX_PRECISION)))


def is_wider(a: Decimal, b: Decimal) -> bool:
    """Whether `a` holds every value of `b`."""
    return a.precision - a.scale >= b.precision - b.scale and a.scale >= b.scale


def added(a: Decimal, b: Decimal) -> Decimal:
    scale = max(a.scale, b.scale)
    return adjusted(max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale)


def multiplied(a: Decimal, b: Decimal) -> Decimal:
    return adjusted(a.precision + b.precision + 1, a.scale + b.scale)


def divided(a: Decimal, b: Decimal) -> Decimal:
    scale = max(MIN_ADJUSTED_SCALE, a.scale + b.precision + 1)
    return adjusted(a.precision - a.scale + b.scale + scale, scale)


def remainder(a: Decimal, b: Decimal) -> Decimal:
    scale = max(a.scale, b.scale)
    return adjusted(min(a.precision - a.scale, b.precision - b.scale) + scale, scale)


def summed(a: Decimal) -> Decimal:
    return bounded(a.precision + 10, a.scale)


def averaged(a: Decimal) -> Decimal:
    return bounded(a.precision + 4, a.scale + 4)


def rounded(a: Decimal, scale: int) -> Decimal:
    """`round`, `bround`, and `ceil` and `floor` with a scale."""
    integral = a.precision - a.scale + 1
    if scale < 0:
        return Decimal(min(max(integral, -scale + 1), MAX_PRECISION), 0)
    kept = min(scale, a.scale)
    return Decimal(min(integral + kept, MAX_PRECISION), kept)


def whole(a: Decimal) -> Decimal:
    """`ceil` and `floor` without a scale."""
    return a if a.scale == 0 else bounded(a.precision - a.scale + 1, 0)


def of_literal(text: str) -> Decimal | None:
    """The type of a number as written, `1.50` being decimal(3,2); None if it has more than 38 digits."""
    mantissa, _, exponent = text.lower().partition("e")
    before, _, after = mantissa.lstrip("+-").partition(".")
    digits = (before + after).lstrip("0")
    scale = len(after) - (int(exponent) if exponent else 0)
    precision = max(len(digits), 1)
    if scale < 0:
        precision, scale = precision - scale, 0
    precision = max(precision, scale)
    return Decimal(precision, scale) if precision <= MAX_PRECISION and scale <= MAX_PRECISION else None
