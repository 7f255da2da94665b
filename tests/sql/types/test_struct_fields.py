"""Fields by dotted name: of structs, of arrays of structs, and the values of maps."""

import pytest

from catalog.types.typenames import parse_type
from sql.types.expression_type import Typed
from sql.types.struct_fields import field_names, field_of, refusal


@pytest.mark.parametrize(
    ("type", "name", "found"),
    [
        ("struct<a:int>", "A", "int"),
        ("array<struct<a:int>>", "a", "array<int>"),
        ("map<string,date>", "any", "date"),
        ("struct<a:int>", "b", None),
        ("struct<a:int,A:int>", "a", None),
        ("map<int,date>", "a", "date"),
        ("map<array<int>,date>", "a", None),
        ("int", "a", None),
    ],
)
def test_what_a_name_means(type, name, found):
    field = field_of(Typed(parse_type(type)), name)
    assert (None if field is None else str(field.type)) == found


@pytest.mark.parametrize(
    ("type", "name", "code", "message"),
    [
        ("struct<a:int>", "b", "PEN3005", "`s` has no field `b`"),
        ("struct<a:int,A:int>", "a", "PEN3003", "`a` is ambiguous: `s` has 2 fields of that name"),
        ("int", "a", "PEN3005", "`s` is of type int, which has no fields"),
    ],
)
def test_why_a_name_is_refused(type, name, code, message):
    assert refusal("`s`", parse_type(type), name) == (code, message)


def test_a_field_is_nullable_where_its_struct_is():
    struct = parse_type("struct<a:int>")
    assert field_of(Typed(struct, True), "a") == Typed(parse_type("int"), True)
    assert field_names(parse_type("array<struct<a:int,b:int>>")) == ["a", "b"]
