"""The tables of printed names: each line is of a function that Spark has, and prints as many arguments as it takes."""

import pytest

from sql.functions.catalogue import function_names, signatures
from sql.naming.function_names import DEFAULTS, RENAMED, SHOWN, TRIMS, UNITS, UPPER

KNOWN = set(function_names())
SYNTAX = {"trim", "position", "overlay", "substring", "substr"}


@pytest.mark.parametrize(
    "table",
    [UPPER, RENAMED, DEFAULTS, SHOWN, TRIMS, UNITS],
    ids=["UPPER", "RENAMED", "DEFAULTS", "SHOWN", "TRIMS", "UNITS"],
)
def test_each_function_is_one_of_spark(table):
    assert sorted(set(table) - KNOWN - SYNTAX) == []


def test_what_is_renamed_becomes_a_function_of_spark():
    assert sorted({*RENAMED.values(), *UNITS.values()} - KNOWN) == []


def test_defaults_fill_up_to_a_number_of_arguments_that_the_function_takes():
    wrong = [
        name
        for name, (count, _) in DEFAULTS.items()
        if name in KNOWN and not any(s.fits(count) for s in signatures(name))
    ]
    assert wrong == []
