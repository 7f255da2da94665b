"""The types that schemas and samples of JSON and CSV give."""

import pytest

from sql.functions.rules import RULES
from sql.functions.rules.call import Call
from sql.parsing.parse import parse
from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result, typed


@pytest.mark.parametrize(
    ("schema", "type"),
    [
        ("'a int, b array<string>'", "struct<a:int,b:array<string>>"),
        ("'map<string,int>'", "map<string,int>"),
        ("'variant'", "variant"),
    ],
)
def test_a_schema(schema, type):
    assert result("from_json", "string", schema) == type


@pytest.mark.parametrize("schema", ["'int'", "'a'", "''", "'a int,'"])
def test_a_schema_that_is_refused(schema):
    with pytest.raises(Mismatch, match="schema"):
        result("from_json", "string", schema)


@pytest.mark.parametrize(
    ("call", "type"),
    [
        ("""schema_of_json('{"b": 1.5, "a": [1, null]}')""", "struct<a:array<bigint>,b:double>"),
        ("""schema_of_json('[{"a": 1}, {"b": "x", "a": 1.5}]')""", "array<struct<a:double,b:string>>"),
        ("""schema_of_json('[null]')""", "array<string>"),
        ("""schema_of_json('{')""", "unknown"),
        ("""schema_of_csv('1,x,1.5,true')""", "struct<_c0:int,_c1:string,_c2:double,_c3:boolean>"),
        ("""schema_of_csv('9999999999')""", "struct<_c0:bigint>"),
        ("""schema_of_csv('2020-01-01')""", "struct<_c0:date>"),
        ("""upper('a')""", "unknown"),
    ],
)
def test_a_schema_that_a_sample_gives(call, type):
    nodes = parse(f"select text, {call}").tree.expressions
    args = [typed("string"), typed("string")]
    assert str(RULES["from_json"](Call("from_json", nodes, args, args, None, None))) == type


def test_a_variant_holds_no_map_with_other_keys_than_strings():
    assert result("to_variant_object", "map<string,array<int>>") == "variant"
    for type in ("map<int,int>", "array<void>", "struct<a:map<int,int>>"):
        with pytest.raises(Mismatch, match="can't become a variant"):
            result("to_variant_object", type)


def test_variant_get_without_a_type_gives_a_variant():
    assert result("variant_get", "variant", "'$.a'") == "variant"
    assert result("variant_get", "variant", "'$.a'", "'decimal(5,2)'") == "decimal(5,2)"
