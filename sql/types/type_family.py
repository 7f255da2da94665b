"""The family that a type belongs to, by which casts and coercions are looked up."""

from catalog.types.datatypes import Array, Atomic, DataType, Decimal, Interval, Map, Struct, Time


def kind_of(type: DataType) -> str:
    """The name of the type's family: its own for atomic types, else `decimal`, `time`, `ym`, `dt`, `array`, ..."""
    match type:
        case Atomic(name):
            return name
        case Decimal():
            return "decimal"
        case Time():
            return "time"
        case Interval():
            return "ym" if type.is_year_month else "dt"
        case Array():
            return "array"
        case Map():
            return "map"
        case Struct():
            return "struct"
