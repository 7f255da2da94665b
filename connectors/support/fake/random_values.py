"""Random values of any type as Spark SQL over the column `id`: hashes of it, so the same however the rows are split.

What is made is Apache SeaTunnel's: letters, numbers in a range, dates of a year, or one of a template's values.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from catalog.datatypes import Array, Atomic, DataType, Decimal, Interval, Map, Struct, Time
from catalog.quoting import quote_text
from catalog.table import Column
from catalog.typenames import to_ddl
from connectors.support.fake.ranges import RANGES, TEMPLATED
from connectors.support.literals import literal
from connectors.support.option import Options, Value

_UNROLLED: Final = 16
"""The most elements of an array that are written out: a longer one is made by a loop, which Spark does not compile."""

_FLOAT_VECTORS: Final = ("float_vector", "float16_vector", "bfloat16_vector")
_TO_UNIT: Final = "1.1102230246251565E-16D"
"""2 to the power of -53: what makes 53 random bits a number from 0 to 1."""


@dataclass(slots=True)
class RandomValues:
    """Expressions of one source; each that is made takes the next seed."""

    options: Options
    seeds: Iterator[int]

    def of_column(self, column: Column) -> str:
        """An expression of exactly the column's type."""
        if column.default is not None:
            return literal(_value(column.default), column.type)
        return self._typed(column.type, column, "id")

    def _typed(self, type: DataType, column: Column, key: str) -> str:
        return f"cast({self._value(type, column, key)} as {to_ddl(type)})"

    def _value(self, type: DataType, column: Column, key: str) -> str:
        """`key`: the expressions that make a row's value its own; one more in each array around it."""
        options = self.options
        match type:
            case Atomic(name) if name in TEMPLATED and (template := options.get(f"{name}.template")):
                return self._one_of(template, type, key)
            case Atomic(name) if name in RANGES:
                return self._number(name, column, key)
            case Atomic("string"):
                return self._letters(column.length or options.integer("string.length"), key)
            case Atomic("binary") if (column.source_type or "").lower() == "binary_vector":
                return self._bytes((column.scale or options.integer("binary.vector.dimension")) // 8, key)
            case Atomic("binary"):
                return f"encode({self._letters(options.integer('bytes.length'), key)}, 'UTF-8')"
            case Atomic("boolean"):
                return f"{self._hash(key)} < 0"
            case Atomic("date"):
                return self._date(key)
            case Atomic("timestamp" | "timestamp_ntz"):
                return f"timestampadd(second, {self._clock(key)}, cast({self._date(key)} as timestamp_ntz))"
            case Atomic("variant"):
                return f"to_variant_object(named_struct('value', {self._below(1000, key)}))"
            case Atomic() | Interval():
                return "null"
            case Decimal():
                return self._decimal(type, key)
            case Time():
                hour, minute, second = (self._part(f"time.{part}", 0, last, key) for part, last in _CLOCK)
                return f"make_time({hour}, {minute}, {second})"
            case Array(element):
                return self._array(element, column, key)
            case Map(of, value):
                return self._map(of, value, column, key)
            case Struct(fields):
                parts = ", ".join(f"{quote_text(each.name)}, {self._typed(each.type, column, key)}" for each in fields)
                return f"named_struct({parts})"

    def _array(self, element: DataType, column: Column, key: str) -> str:
        if (column.source_type or "").lower() in _FLOAT_VECTORS:
            size = column.scale or self.options.integer("vector.dimension")
            return self._repeated(size, key, self._vector_part)
        size = self.options.integer("array.size")
        return self._repeated(size, key, lambda inner: self._typed(element, column, inner))

    def _repeated(self, count: int, key: str, make: Callable[[str], str]) -> str:
        if count <= _UNROLLED:
            return f"array({', '.join(make(key) for _ in range(count))})"
        index = f"i{key.count(',')}"
        return f"transform(sequence(1, {count}), {index} -> {make(f'{key}, {index}')})"

    def _map(self, of: DataType, value: DataType, column: Column, key: str) -> str:
        """As many entries as there are different keys among those that were made."""
        is_vector = (column.source_type or "").lower() == "sparse_float_vector"
        size = (
            (column.scale or self.options.integer("vector.dimension"))
            if is_vector
            else self.options.integer("map.size")
        )
        if size == 0:
            return "map()"
        make_key = self._position if is_vector else lambda inner: self._typed(of, column, inner)
        keys = self._repeated(size, key, make_key)
        make = self._vector_part if is_vector else lambda inner: self._typed(value, column, inner)
        values = self._repeated(size, key, make)
        return f"map_from_arrays(array_distinct({keys}), slice({values}, 1, size(array_distinct({keys}))))"

    def _position(self, key: str) -> str:
        return f"cast({self._below(2**31, key)} as int)"

    def _vector_part(self, key: str) -> str:
        least, most = self.options.get("vector.float.min"), self.options.get("vector.float.max")
        return f"cast({self._between(least, most, *RANGES['float'], key)} as float)"

    def _number(self, name: str, column: Column, key: str) -> str:
        given_least, given_most = self.options.get(f"{name}.min"), self.options.get(f"{name}.max")
        least, most = RANGES[name]
        if name in ("float", "double"):
            number = self._between(given_least, given_most, least, most, key)
            return f"round({number}, {column.scale})" if column.scale is not None else number
        least = int(given_least) if isinstance(given_least, int | float) else int(least)
        most = int(given_most) if isinstance(given_most, int | float) else int(most)
        return f"{_long(least)} + {self._below(min(most - least + 1, 2**63 - 1), key)}"

    def _between(self, given_least: Value, given_most: Value, least: float, most: float, key: str) -> str:
        least = float(given_least) if isinstance(given_least, int | float) else least
        most = float(given_most) if isinstance(given_most, int | float) else most
        unit = f"(shiftrightunsigned({self._hash(key)}, 11) * {_TO_UNIT})"
        return f"{least!r}d + {unit} * {most - least!r}d"

    def _decimal(self, type: Decimal, key: str) -> str:
        whole, part = type.precision - type.scale, type.scale
        digits = [*self._digits(whole, key), *(["'.'", *self._digits(part, key)] if part else [])]
        return f"concat({', '.join(digits or [quote_text('0')])})"

    def _digits(self, count: int, key: str) -> list[str]:
        sizes = [18] * (count // 18) + ([count % 18] if count % 18 else [])
        return [f"lpad(cast({self._below(10**size, key)} as string), {size}, '0')" for size in sizes]

    def _letters(self, count: int, key: str) -> str:
        if count == 0:
            return "''"
        texts = [f"md5(cast({self._hash(key)} as string))" for _ in range(-(-count // 32))]
        text = texts[0] if len(texts) == 1 else f"concat({', '.join(texts)})"
        return f"translate(left({text}, {count}), '0123456789', 'GHIJKLMNOP')"

    def _bytes(self, count: int, key: str) -> str:
        return f"unhex(left({self._hex(count * 2, key)}, {count * 2}))"

    def _hex(self, count: int, key: str) -> str:
        texts = [f"md5(cast({self._hash(key)} as string))" for _ in range(max(1, -(-count // 32)))]
        return f"concat({', '.join(texts)})"

    def _one_of(self, template: Value, type: DataType, key: str) -> str:
        values = template if isinstance(template, Sequence) and not isinstance(template, str) else [template]
        listed = ", ".join(literal(each, type) for each in values)
        return f"element_at(array({listed}), cast({self._below(len(values), key)} as int) + 1)"

    def _part(self, name: str, least: int, most: int, key: str) -> str:
        template = self.options.get(f"{name}.template")
        if template:
            return self._one_of(template, Atomic("int"), key)
        return f"cast({least} + {self._below(most - least + 1, key)} as int)"

    def _date(self, key: str) -> str:
        has_years = bool(self.options.get("date.year.template"))
        is_this_year = self.options.seatunnel is not None and not has_years
        year = "year(current_date())" if is_this_year else self._part("date.year", 2000, 2029, key)
        return f"make_date({year}, {self._part('date.month', 1, 12, key)}, {self._part('date.day', 1, 28, key)})"

    def _clock(self, key: str) -> str:
        hour, minute, second = (self._part(f"time.{part}", 0, last, key) for part, last in _CLOCK)
        return f"({hour} * 3600 + {minute} * 60 + {second})"

    def _below(self, count: int, key: str) -> str:
        """A whole number from 0 to below the count, as BIGINT."""
        return f"pmod({self._hash(key)}, {count}L)"

    def _hash(self, key: str) -> str:
        return f"xxhash64({key}, {next(self.seeds)}L)"


_CLOCK: Final = (("hour", 23), ("minute", 59), ("second", 59))


def _long(number: int) -> str:
    return f"{number}L" if number > -(2**63) else "(-9223372036854775807L - 1L)"


def _value(default: object) -> Value:
    return default if isinstance(default, bool | int | float | str | list | dict) else str(default)
