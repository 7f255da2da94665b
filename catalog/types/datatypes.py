"""Column types.

`str(type)` is the text that Spark prints (`decimal(10,2)`, `array<int>`, `struct<a:int,b:string>`); it leaves out the
nullability of elements and fields, which equality does not. Names of other systems are in `typenames.py`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Final, TypeAlias

from catalog.limits import check

MAX_PRECISION: Final = 38


@dataclass(frozen=True, slots=True)
class Atomic:
    """A type without parameters or element types, by Spark's name.

    `collation`: of a string, by its full name (`UTF8_LCASE`); None: `UTF8_BINARY`. Equality ignores it: a string with a
    collation is a string everywhere but where strings are compared (`sql/expressions/collations.py`).
    """

    name: str
    collation: str | None = dataclass_field(default=None, compare=False)

    def __eq__(self, other: object) -> bool:
        """As a dataclass compares, without the tuples that it makes: types are compared more than anything else."""
        return self is other or (isinstance(other, Atomic) and self.name == other.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> "tuple[type[Atomic], tuple[str, str | None]]":
        """Faster to read back than what dataclasses do: a project has ten thousands of them."""
        return Atomic, (self.name, self.collation)

    def __str__(self) -> str:
        return self.name if self.collation is None else f"{self.name} collate {self.collation}"


@dataclass(frozen=True, slots=True)
class Decimal:
    """Fixed-point number of `precision` digits (1..38), `scale` of them behind the point (0..precision)."""

    precision: int = 10
    scale: int = 0

    def __post_init__(self) -> None:
        if not (1 <= self.precision <= MAX_PRECISION and 0 <= self.scale <= self.precision):
            raise ValueError(f"decimal({self.precision},{self.scale}): 1 <= precision <= 38, 0 <= scale <= precision")

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Decimal) and self.precision == other.precision and self.scale == other.scale
        )

    def __hash__(self) -> int:
        return hash((self.precision, self.scale))

    def __reduce__(self) -> "tuple[type[Decimal], tuple[int, int]]":
        """Faster to read back than what dataclasses do."""
        return Decimal, (self.precision, self.scale)

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class Time:
    """Time of day with `precision` fractional digits (0..6)."""

    precision: int = 6

    def __post_init__(self) -> None:
        if not 0 <= self.precision <= 6:
            raise ValueError(f"time({self.precision}): 0 <= precision <= 6")

    def __str__(self) -> str:
        return f"time({self.precision})"


YEAR_MONTH_UNITS: Final = ("year", "month")
DAY_TIME_UNITS: Final = ("day", "hour", "minute", "second")


@dataclass(frozen=True, slots=True)
class Interval:
    """ANSI interval from one unit to another: years and months, or days to seconds."""

    start: str
    end: str

    def __post_init__(self) -> None:
        for units in (YEAR_MONTH_UNITS, DAY_TIME_UNITS):
            if self.start in units and self.end in units and units.index(self.start) <= units.index(self.end):
                return
        raise ValueError(f"interval {self.start} to {self.end} does not exist in Spark")

    @property
    def is_year_month(self) -> bool:
        return self.start in YEAR_MONTH_UNITS

    def holds(self, unit: str) -> bool:
        """Whether the interval has the unit, one of those from `start` to `end`."""
        units = YEAR_MONTH_UNITS if self.is_year_month else DAY_TIME_UNITS
        return unit in units[units.index(self.start) : units.index(self.end) + 1]

    def __str__(self) -> str:
        return f"interval {self.start}" if self.start == self.end else f"interval {self.start} to {self.end}"


_MANY, _DEEP = 1_000, 50
"""From here on the limits are asked for: types are made more often than anything else."""


def _weigh(type: "Array | Map | Struct", parts: "tuple[DataType, ...]") -> None:
    """Record how many types are in a type, and how deep; raises `LimitError` where these are too many.

    Two fields of one struct may be one object, so that a type is small in memory and has more text than any disk holds.
    """
    weight, depth = 1, 0
    for part in parts:
        weight += getattr(part, "weight", 1)
        depth = max(depth, getattr(part, "depth", 0))
    object.__setattr__(type, "weight", weight)
    object.__setattr__(type, "depth", depth + 1)
    if weight > _MANY or depth > _DEEP:
        check("type_nodes", weight)
        check("type_nesting", depth + 1)


@dataclass(frozen=True, slots=True)
class Array:
    element: "DataType"
    contains_null: bool = True
    weight: int = dataclass_field(init=False, repr=False, compare=False)
    depth: int = dataclass_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _weigh(self, (self.element,))

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    key: "DataType"
    value: "DataType"
    value_contains_null: bool = True
    weight: int = dataclass_field(init=False, repr=False, compare=False)
    depth: int = dataclass_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _weigh(self, (self.key, self.value))

    def __str__(self) -> str:
        return f"map<{self.key},{self.value}>"


@dataclass(frozen=True, slots=True)
class Field:
    """A named part of a struct."""

    name: str
    type: "DataType"
    nullable: bool = True
    comment: str | None = None

    def __str__(self) -> str:
        return f"{self.name}:{self.type}"


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[Field, ...]
    _by_name: Mapping[str, tuple[Field, ...]] = dataclass_field(init=False, repr=False, compare=False)
    weight: int = dataclass_field(init=False, repr=False, compare=False)
    depth: int = dataclass_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name: dict[str, tuple[Field, ...]] = {}
        for field in self.fields:
            name = field.name.lower()
            by_name[name] = (*by_name.get(name, ()), field)
        object.__setattr__(self, "_by_name", by_name)
        _weigh(self, tuple(field.type for field in self.fields))

    def __str__(self) -> str:
        return f"struct<{','.join(str(field) for field in self.fields)}>"

    def field(self, name: str) -> Field | None:
        """The first field of that name, ignoring case."""
        return next(iter(self.named(name)), None)

    def named(self, name: str) -> tuple[Field, ...]:
        """All fields of that name, ignoring case: rows of Spark may have several."""
        return self._by_name.get(name.lower(), ())


DataType: TypeAlias = Atomic | Decimal | Time | Interval | Array | Map | Struct

BOOLEAN: Final = Atomic("boolean")
TINYINT: Final = Atomic("tinyint")
SMALLINT: Final = Atomic("smallint")
INT: Final = Atomic("int")
BIGINT: Final = Atomic("bigint")
FLOAT: Final = Atomic("float")
DOUBLE: Final = Atomic("double")
STRING: Final = Atomic("string")
BINARY: Final = Atomic("binary")
DATE: Final = Atomic("date")
TIMESTAMP: Final = Atomic("timestamp")
TIMESTAMP_NTZ: Final = Atomic("timestamp_ntz")
CALENDAR_INTERVAL: Final = Atomic("interval")
VARIANT: Final = Atomic("variant")
VOID: Final = Atomic("void")
UNKNOWN: Final = Atomic("unknown")
"""A type that could not be determined. It fits every type, and no other type is derived from it."""

ATOMIC_TYPES: Final = {
    atomic.name: atomic
    for atomic in (
        BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ,
        CALENDAR_INTERVAL, VARIANT, VOID, UNKNOWN,
    )
}  # fmt: skip

INTEGRAL_TYPES: Final = (TINYINT, SMALLINT, INT, BIGINT)


_NUMBERS: Final = frozenset((*INTEGRAL_TYPES, FLOAT, DOUBLE))


def is_numeric(type: DataType) -> bool:
    return isinstance(type, Decimal) or type in _NUMBERS


def has_unknown(type: DataType) -> bool:
    """Whether the type, or a type nested in it, is unknown."""
    if isinstance(type, Array | Map | Struct):
        return any(part == UNKNOWN for part in parts(type))
    return type == UNKNOWN


def with_collation(name: str) -> Atomic:
    """The string type of a collation, by its full name."""
    return Atomic("string", None if name == "UTF8_BINARY" else name)


def is_collated(type: DataType) -> bool:
    """Whether the type, or a type nested in it, is a string with a collation other than `UTF8_BINARY`."""
    if isinstance(type, Array | Map | Struct):
        return any(isinstance(part, Atomic) and part.collation is not None for part in parts(type))
    return isinstance(type, Atomic) and type.collation is not None


def without_collations(type: DataType) -> DataType:
    """The type with plain strings in place of those with a collation."""
    return with_strings(type, lambda string: replace(string, collation=None))


def with_strings(type: DataType, change: Callable[[Atomic], Atomic]) -> DataType:
    """The type with each of its strings changed."""
    match type:
        case Array(element):
            return replace(type, element=with_strings(element, change))
        case Map(key, value):
            return replace(type, key=with_strings(key, change), value=with_strings(value, change))
        case Struct(fields):
            return Struct(tuple(replace(field, type=with_strings(field.type, change)) for field in fields))
        case Atomic("string"):
            return change(type)
    return type


def as_nullable(type: DataType) -> DataType:
    """The type with elements, values and fields that may all be null."""
    match type:
        case Array(element):
            return Array(as_nullable(element))
        case Map(key, value):
            return Map(as_nullable(key), as_nullable(value))
        case Struct(fields):
            return Struct(tuple(Field(field.name, as_nullable(field.type)) for field in fields))
        case _:
            return type


def parts(type: DataType) -> Iterator[DataType]:
    """The type and all types nested in it."""
    yield type
    match type:
        case Array(element):
            yield from parts(element)
        case Map(key, value):
            yield from parts(key)
            yield from parts(value)
        case Struct(fields):
            for field in fields:
                yield from parts(field.type)
