"""Structs that calls make, and the names of their fields."""

from types import SimpleNamespace

import pytest

from sql.functions.rules import RULES
from sql.functions.rules.call import Call
from sql.parsing.parse import parse
from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result, typed


def test_named_fields():
    assert result("named_struct", "'a'", "int!", "'b'", "date") == "struct<a:int,b:date>"


@pytest.mark.parametrize(
    ("arguments", "argument"), [(["'a'"], None), (["int", "int"], 0), (["'a'", "int", "1", "int"], 2)]
)
def test_names_that_are_refused(arguments, argument):
    with pytest.raises(Mismatch) as error:
        result("named_struct", *arguments)
    assert error.value.argument == argument


def test_a_name_that_is_not_constant_is_refused():
    with pytest.raises(Mismatch, match="constant string") as error:
        result("named_struct", "string", "int")
    assert error.value.argument == 0


def test_fields_are_named_after_aliases_columns_paths_and_positions():
    query = "select a as x, (t.b), s.c, m['k'], 1 + 1, current_date from t"
    nodes = parse(query).tree.expressions
    args = [typed("int")] * len(nodes)
    found = RULES["struct"](Call("struct", nodes, args, args, SimpleNamespace(text=query), None))
    assert [field.name for field in found.fields] == ["x", "b", "c", "k", "col5", "current_date"]
