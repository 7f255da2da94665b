"""The types of functions over maps."""

import pytest

from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result


@pytest.mark.parametrize(
    ("rule", "arguments", "type"),
    [
        ("map", ["string!", "int!", "string!", "bigint!"], "map<string,bigint>"),
        ("map_from_arrays", ["array<int>", "array<date>"], "map<int,date>"),
        ("map_from_entries", ["array<struct<k:int,v:date>>"], "map<int,date>"),
        ("map_concat", [], "map<string,string>"),
        ("map_concat", ["map<int,int>", "map<int,bigint>"], "map<int,bigint>"),
        ("map_entries", ["map<int,date>"], "array<struct<key:int,value:date>>"),
        ("map_keys", ["map<int,date>"], "array<int>"),
        ("map_values", ["map<int,date>"], "array<date>"),
        ("map_contains_key", ["map<int,date>", "bigint"], "boolean"),
    ],
)
def test_the_type(rule, arguments, type):
    assert result(rule, *arguments) == type


@pytest.mark.parametrize(
    ("rule", "arguments", "message"),
    [
        ("map", ["int"], "`map` takes alternating keys and values"),
        ("map", ["map<int,int>", "int"], "map<int,int> can't be the key of a map"),
        ("map_from_arrays", ["array<variant>", "array<int>"], "variant can't be the key of a map"),
        ("map_from_entries", ["array<int>"], "`map_from_entries` takes an array of pairs, this is array<int>"),
        ("map_concat", ["map<int,int>", "int"], "maps must be of one type, these are map<int,int>, int"),
    ],
)
def test_what_is_refused(rule, arguments, message):
    with pytest.raises(Mismatch) as error:
        result(rule, *arguments)
    assert error.value.message == message
