"""The columns of generators and table functions."""

from typing import Any

import pytest
from sqlglot import exp

from sql.functions.generators import generated
from sql.functions.rules.call import Call
from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import typed


def columns(name: str, *arguments: str) -> list[str] | None:
    args = [typed(argument) for argument in arguments]
    nodes = [exp.null() if argument == "void" else exp.column("x") for argument in arguments]
    no_scope: Any = None
    found = generated(Call(name, nodes, args, args, no_scope, no_scope))
    return None if found is None else [f"{c.name} {c.typed.type}{'' if c.typed.nullable else '!'}" for c in found]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (["explode", "array<int>"], ["col int"]),
        (["explode", "map<string,int>"], ["key string!", "value int"]),
        (["explode_outer", "map<string,int>"], ["key string", "value int"]),
        (["posexplode", "array<int>"], ["pos int!", "col int"]),
        (["posexplode_outer", "array<int>"], ["pos int", "col int"]),
        (["inline", "array<struct<a:int,b:date>>"], ["a int", "b date"]),
        (["stack", "2", "int", "'a'", "int", "'b'"], ["col0 int", "col1 string"]),
        (["stack", "2", "int", "int", "int"], ["col0 int", "col1 int"]),
        (["stack", "1", "void"], ["col0 void"]),
        (["stack", "2", "void", "int"], ["col0 int"]),
        (["json_tuple", "string", "'a'", "'b'"], ["c0 string", "c1 string"]),
        (["range", "3"], ["id bigint!"]),
    ],
)
def test_the_columns(call, expected):
    assert columns(*call) == expected


def test_the_columns_are_not_known_where_an_argument_is_not():
    assert columns("explode", "void") is None
    assert columns("stack", "int", "int") is None
    assert columns("no_such_generator") is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["inline", "array<int>"], "`inline` takes an array of structs, this is array<int>"),
        (["stack", "2", "1", "'a'"], "column 1 of `stack` holds values of different types"),
        (["range", "1", "2", "0"], "the step of `range` is not 0"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(Mismatch) as error:
        columns(*call)
    assert error.value.message == message
