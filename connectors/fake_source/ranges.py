"""The options of FakeSource for generated values."""

from collections.abc import Iterator, Mapping
from typing import Final

from catalog.options import Option, OptionType

RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "tinyint": (0, 127),
    "smallint": (0, 32767),
    "int": (0, 2147483647),
    "bigint": (0, 9223372036854775807),
    "float": (0, 3.4028234e38),
    "double": (0, 1.7976931348623157e308),
}
"""The default range of generated values of a numeric type."""

TEMPLATED: Final = ("string", *RANGES)
DATE_PARTS: Final = ("year", "month", "day")
TIME_PARTS: Final = ("hour", "minute", "second")


def value_options() -> Iterator[Option]:
    """Sizes, ranges and templates."""
    yield Option(
        "string.length",
        OptionType.INTEGER,
        "Characters of a string, where its column has no length.",
        default=5,
        minimum=0,
    )
    yield Option("bytes.length", OptionType.INTEGER, "Bytes of a binary value.", default=5, minimum=0)
    yield Option("array.size", OptionType.INTEGER, "Elements of an array.", default=5, minimum=0)
    yield Option("map.size", OptionType.INTEGER, "Entries of a map.", default=5, minimum=0)
    yield Option("vector.dimension", OptionType.INTEGER, "Elements of a vector.", default=4, minimum=1)
    yield Option("binary.vector.dimension", OptionType.INTEGER, "Bits of a binary vector.", default=8, minimum=8)
    yield Option("vector.float.min", OptionType.NUMBER, "Least element of a vector.")
    yield Option("vector.float.max", OptionType.NUMBER, "Greatest element of a vector.")
    for name in TEMPLATED:
        yield Option(
            f"{name}.fake.mode",
            OptionType.STRING,
            f"`template` requires `{name}.template`. A template that is given is used in either mode, as in SeaTunnel.",
            default="range",
            choices=("range", "template"),
        )
        yield Option(f"{name}.template", OptionType.LIST, f"The {name} values to choose from.")
    for name in RANGES:
        yield Option(f"{name}.min", OptionType.NUMBER, f"Least {name}.")
        yield Option(f"{name}.max", OptionType.NUMBER, f"Greatest {name}.")
    for part in DATE_PARTS:
        yield Option(f"date.{part}.template", OptionType.LIST, f"The {part}s of dates and timestamps to choose from.")
    for part in TIME_PARTS:
        yield Option(f"time.{part}.template", OptionType.LIST, f"The {part}s of times and timestamps to choose from.")
