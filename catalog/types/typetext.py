"""Reads a type written as text: Spark's names and DDL, and Apache SeaTunnel's.

    type    = name | decimal(p,s) | varchar(n) | char(n) | time(p) | interval [unit [to unit]]
            | array<type> | map<type,type> | struct<field,…> | row<field,…> | {field,…}
    field   = name [: | =] type [not null] [comment 'text']

If a name has two meanings, Spark's applies: `timestamp` is a point in time.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from catalog.diagnostics.diagnostic import did_you_mean
from catalog.types.collations import full_name, unknown_collation
from catalog.types.datatypes import (
    ATOMIC_TYPES,
    BIGINT,
    BINARY,
    DAY_TIME_UNITS,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    VOID,
    YEAR_MONTH_UNITS,
    Array,
    DataType,
    Decimal,
    Field,
    Interval,
    Map,
    Struct,
    Time,
    with_collation,
)

NAMES: Final[Mapping[str, DataType]] = {
    **{name: type for name, type in ATOMIC_TYPES.items() if name != "unknown"},
    # Spark's other names
    "byte": TINYINT,
    "short": SMALLINT,
    "integer": INT,
    "long": BIGINT,
    "real": FLOAT,
    "timestamp_ltz": TIMESTAMP,
    # Apache SeaTunnel's
    "bytes": BINARY,
    "null": VOID,
    "timestamp_tz": TIMESTAMP,
    "float_vector": Array(FLOAT),
    "float16_vector": Array(FLOAT),
    "bfloat16_vector": Array(FLOAT),
    "binary_vector": BINARY,
    "sparse_float_vector": Map(INT, FLOAT),
}
"""Types without parts by every name that is read."""

DECIMAL_NAMES: Final = ("decimal", "dec", "numeric")
LENGTH_NAMES: Final = ("varchar", "char", "character")
STRUCT_NAMES: Final = ("struct", "row")
SEATUNNEL_NAMES: Final = frozenset(
    (
        *("bytes", "null", "timestamp_tz", "float_vector", "float16_vector", "bfloat16_vector"),
        *("binary_vector", "sparse_float_vector", "row"),
    )
)
"""Names that Spark lacks."""
FOREIGN_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("text", "nvarchar", "varchar2", "json", "uuid", "clob", "enum"), "string"),
    **dict.fromkeys(("datetime", "timestamptz", "smalldatetime"), "timestamp"),
    **dict.fromkeys(("number", "money", "bigdecimal"), "decimal(p,s)"),
    **dict.fromkeys(("int64", "uint32", "unsigned"), "bigint"),
    **dict.fromkeys(("int4", "int32", "mediumint", "signed"), "int"),
    **dict.fromkeys(("blob", "bytea", "varbinary"), "binary"),
    **dict.fromkeys(("float8", "float64"), "double"),
    "bool": "boolean",
    "object": "variant",
}
"""Spark's types for those of other systems."""
KNOWN_NAMES: Final = (*NAMES, *DECIMAL_NAMES, *LENGTH_NAMES, *STRUCT_NAMES, "array", "map", "time")

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+)|(?P<word>\w+)|`(?P<quoted>(?:[^`]|``)+)`"
    r"|'(?P<text>(?:[^'\\]|\\.)*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|(?P<mark>[<>(){},:=])"
)
_MAX_DEPTH: Final = 100


class TypeTextError(ValueError):
    """The text is not a type: the message, the offset of the error (0-based), and a suggestion."""

    def __init__(self, message: str, offset: int = 0, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.help = help


@dataclass(frozen=True, slots=True)
class SizedType:
    """A type and, where the text was `varchar(n)` or `char(n)`, its length in characters."""

    type: DataType
    length: int | None = None


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    value: str
    offset: int


def parse_type(text: str) -> DataType:
    """Parse the text of a type; raises `TypeTextError`."""
    return parse_sized_type(text).type


def check_spark_type(text: str) -> None:
    """Raises `TypeTextError` if the text is not a type in Spark's own grammar."""
    reader = _SparkReader(text)
    reader.type(0)
    reader.expect_end()


@lru_cache(maxsize=4096)
def parse_sized_type(text: str) -> SizedType:
    """As `parse_type`, with the length of `varchar(n)` and `char(n)`; raises `TypeTextError`."""
    reader = _Reader(text)
    sized = reader.type(0)
    reader.expect_end()
    return sized


class _Reader:
    """A recursive-descent reader over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def type(self, depth: int) -> SizedType:
        if depth > _MAX_DEPTH:
            raise TypeTextError("the type is nested too deeply", self.token.offset)
        if self.takes("{"):
            return SizedType(self.fields("}", depth))
        start = self.token
        if depth and start.kind in ("text", "double"):  # a row as JSON: `{"id": "int"}`
            self.at += 1
            return parse_sized_type(start.value)
        if start.kind != "word":
            raise TypeTextError(f"expected a type, found {_shown(start)}", start.offset)
        self.at += 1
        name = start.value.lower()
        try:
            return self.named(name, start, depth)
        except TypeTextError:
            raise
        except ValueError as error:  # the constructor of Decimal, Time or Interval refuses the value
            raise TypeTextError(str(error), start.offset) from error

    def named(self, name: str, start: _Token, depth: int) -> SizedType:
        match name:
            case "array":
                self.expect("<")
                element = self.type(depth + 1).type
                self.expect(">")
                return SizedType(Array(element))
            case "map":
                self.expect("<")
                key = self.type(depth + 1).type
                self.expect(",")
                value = self.type(depth + 1).type
                self.expect(">")
                return SizedType(Map(key, value))
            case "struct" | "row":
                close = ">" if self.takes("<") else ")" if name == "row" and self.takes("(") else None
                if close is None:
                    raise TypeTextError(f"expected `<` after `{start.value}`", self.token.offset)
                return SizedType(self.fields(close, depth))
            case "decimal" | "dec" | "numeric":
                return SizedType(Decimal(*self.sizes(0, 2)))
            case "varchar" | "char" | "character":
                if self.token.value != "(":
                    help = f"write `{name}(255)`, or `string` for text of any length"
                    raise TypeTextError(f"`{name}` needs a length", start.offset, help)
                return SizedType(STRING, self.sizes(1, 1)[0])
            case "time":
                return SizedType(Time(*self.sizes(0, 1)))
            case "interval":
                return SizedType(self.interval())
        if name == "string" and self.takes_word("collate"):
            return SizedType(self.collated())
        if name not in NAMES:
            foreign = FOREIGN_NAMES.get(name)
            meant = f"write `{foreign}`" if foreign else did_you_mean(name, KNOWN_NAMES)
            raise TypeTextError(f"unknown type `{start.value}`", start.offset, meant)
        if self.token.value == "(" and self.token.kind == "mark":
            raise TypeTextError(f"`{name}` takes no size", self.token.offset)
        return SizedType(NAMES[name])

    def collated(self) -> DataType:
        """A string with the collation that is named next."""
        named = self.token
        if named.kind not in ("word", "quoted"):
            raise TypeTextError(f"expected the name of a collation, found {_shown(named)}", named.offset)
        self.at += 1
        collation = full_name(named.value)
        if collation is None:
            raise TypeTextError(unknown_collation(named.value)[0], named.offset, unknown_collation(named.value)[1])
        return with_collation(collation)

    def interval(self) -> DataType:
        units = (*YEAR_MONTH_UNITS, *DAY_TIME_UNITS)
        first = self.token.value.lower()
        if self.token.kind != "word" or first not in units:
            return ATOMIC_TYPES["interval"]
        self.at += 1
        if not self.takes_word("to"):
            return Interval(first, first)
        last = self.token
        if last.value.lower() not in units:
            raise TypeTextError(f"expected a unit of time, found {_shown(last)}", last.offset)
        self.at += 1
        return Interval(first, last.value.lower())

    def fields(self, close: str, depth: int) -> Struct:
        found: list[Field] = []
        if self.takes(close):
            return Struct(())
        while True:
            found.append(self.field(depth))
            if self.takes(close):
                return Struct(tuple(found))
            if close != "}" or not self.is_on_new_line():  # as in HOCON, a new line separates fields
                self.expect(",", close)
            else:
                self.takes(",")

    def is_on_new_line(self) -> bool:
        return "\n" in self.text[self.tokens[self.at - 1].offset : self.token.offset]

    def field(self, depth: int) -> Field:
        name = self.token
        if name.kind not in ("word", "number", "quoted", "text", "double"):
            raise TypeTextError(f"expected a field's name, found {_shown(name)}", name.offset)
        self.at += 1
        if not self.takes(":"):
            self.takes("=")
        type = self.type(depth + 1).type
        nullable = not self.takes_word("not", "null")
        comment = self.comment() if self.takes_word("comment") else None
        return Field(name.value, type, nullable, comment)

    def comment(self) -> str:
        token = self.token
        if token.kind not in ("text", "double"):
            raise TypeTextError(f"expected the comment's text in quotes, found {_shown(token)}", token.offset)
        self.at += 1
        return token.value

    def sizes(self, least: int, most: int) -> list[int]:
        if least == 0 and self.token.value != "(":
            return []
        self.expect("(")
        found: list[int] = []
        while True:
            if self.token.kind != "number":
                raise TypeTextError(f"expected a number, found {_shown(self.token)}", self.token.offset)
            found.append(int(self.token.value))
            self.at += 1
            if len(found) < most and self.takes(","):
                continue
            self.expect(")")
            return found

    def takes(self, mark: str) -> bool:
        if self.token.kind == "mark" and self.token.value == mark:
            self.at += 1
            return True
        return False

    def takes_word(self, *words: str) -> bool:
        ahead = self.tokens[self.at : self.at + len(words)]
        if [token.value.lower() for token in ahead if token.kind == "word"] == list(words):
            self.at += len(words)
            return True
        return False

    def expect(self, *marks: str) -> None:
        if not self.takes(marks[0]):
            wanted = " or ".join(f"`{mark}`" for mark in marks)
            raise TypeTextError(f"expected {wanted}, found {_shown(self.token)}", self.token.offset)

    def expect_end(self) -> None:
        if self.token.kind != "end":
            raise TypeTextError(f"expected the end of the type, found {_shown(self.token)}", self.token.offset)


class _SparkReader(_Reader):
    """Reads Spark's grammar: without SeaTunnel's names, with Spark's longer forms."""

    def type(self, depth: int) -> SizedType:
        start = self.token
        if start.value == "{" or start.kind in ("text", "double") or start.value.lower() in SEATUNNEL_NAMES:
            raise TypeTextError(f"Spark has no type `{start.value}`", start.offset)
        return super().type(depth)

    def named(self, name: str, start: _Token, depth: int) -> SizedType:
        if name in FOREIGN_NAMES:
            help = f"Spark's name is `{FOREIGN_NAMES[name]}`"
            raise TypeTextError(f"Spark has no type `{start.value}`", start.offset, help)
        if name in DECIMAL_NAMES and self.takes_zero_digits():
            return SizedType(Decimal())
        found = super().named(name, start, depth)
        if name in ("timestamp", "time"):
            self.takes_word("without", "time", "zone")
        return found

    def takes_zero_digits(self) -> bool:
        """`decimal(0)` and `decimal(0, 0)`, which Spark accepts."""
        values = [token.value for token in self.tokens[self.at : self.at + 5]]
        length = next(
            (len(zero) for zero in (["(", "0", ")"], ["(", "0", ",", "0", ")"]) if values[: len(zero)] == zero), 0
        )
        self.at += length
        return length > 0


def _tokens(text: str) -> tuple[_Token, ...]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise TypeTextError(f"`{text[at]}` has no meaning in a type", at)
        kind = match.lastgroup or ""
        if kind != "space":
            found.append(_Token(kind, _unescaped(kind, match.group(kind)), at))
        at = match.end()
    return (*found, _Token("end", "", len(text)))


def _unescaped(kind: str, value: str) -> str:
    match kind:
        case "quoted":
            return value.replace("``", "`")
        case "text" | "double":
            return re.sub(r"\\(.)", r"\1", value)
        case _:
            return value


def _shown(token: _Token) -> str:
    return "the end of the type" if token.kind == "end" else f"`{token.value}`"
