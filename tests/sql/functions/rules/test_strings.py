"""The types of functions over strings and binaries, and the formats of numbers."""

import pytest

from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result


@pytest.mark.parametrize(
    ("rule", "arguments", "type"),
    [
        ("matched", ["string!", "string!"], "boolean!"),
        ("matched", ["binary!", "binary!"], "boolean"),
        ("hex", ["int!"], "string!"),
        ("hex", ["double!"], "string"),
        ("pad", ["binary", "int"], "binary"),
        ("pad", ["binary", "int", "string"], "string"),
        ("overlay", ["binary", "binary", "int"], "binary"),
        ("elt", ["int", "binary", "string"], "string"),
        ("to_char", ["date!", "'yyyy'"], "string!"),
    ],
)
def test_the_type(rule, arguments, type):
    assert result(rule, *arguments) == type


@pytest.mark.parametrize(
    ("format", "type"),
    [("9", "decimal(1,0)"), ("$9,999.99", "decimal(6,2)"), ("S09D9", "decimal(3,1)"), ("9PR", "decimal(1,0)")],
)
def test_the_digits_of_a_format(format, type):
    assert result("to_number", "string", f"'{format}'") == type


@pytest.mark.parametrize("format", ["", "x", "9.9.9", "9.9,9", "S9S", "$S9", "9" * 39])
def test_a_format_that_is_refused(format):
    with pytest.raises(Mismatch) as error:
        result("to_number", "string", f"'{format}'")
    assert error.value.code == "PEN3013"


def test_to_char_takes_no_containers_and_overlay_no_mixture():
    with pytest.raises(Mismatch, match="takes a number, a point in time or binary, this is array<int>"):
        result("to_char", "array<int>", "'9'")
    with pytest.raises(Mismatch, match="takes a constant format for numbers"):
        result("to_char", "int", "string")
    with pytest.raises(Mismatch, match="`overlay` takes binary twice, this is string"):
        result("overlay", "binary", "string", "int")
