"""The options of a block that may be shown, and those that differ from their defaults."""

from collections.abc import Mapping
from typing import Final, cast

from catalog.options import Option, Options, Value
from catalog.secret_names import redacted_mapping

ELSEWHERE: Final = frozenset({"schema", "schema_save_mode", "data_save_mode", "write_mode"})
"""Options that a plan shows in a form of their own: columns and modes."""


def shown(options: Options) -> dict[str, Value]:
    """Options that are set, without sensitive ones; passwords within others are stars.

    Expectations are nodes of their own.
    """
    given = {
        name: value
        for name, value in options.values.items()
        if value is not None and name not in options.sensitive and name != "expectations"
    }
    return cast(dict[str, Value], redacted_mapping(given))


def given(spec: tuple[Option, ...], options: Options) -> Mapping[str, Value]:
    """The options to show that differ from their defaults."""
    defaults = {option.name: option.default for option in spec}
    return {
        name: value for name, value in shown(options).items() if name not in ELSEWHERE and value != defaults.get(name)
    }
