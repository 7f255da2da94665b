"""Kinds of arguments: which types each takes, and what it casts them to."""

import pytest

from catalog.types.datatypes import VOID
from catalog.types.typenames import parse_type
from sql.functions.argument_kinds import KINDS, kind
from sql.functions.catalogue import function_names, signatures

OTHER_WORDS = {"lambda", "unit"}


@pytest.mark.parametrize(
    ("name", "type", "target"),
    [
        ("int", "string", "int"),
        ("int", "date", None),
        ("text", "binary", "binary"),
        ("text", "date", "string"),
        ("number", "decimal(5,2)", "decimal(5,2)"),
        ("number", "string", "double"),
        ("date", "timestamp", "date"),
        ("days", "bigint", None),
        ("orderable", "map<string,int>", None),
        ("orderable", "struct<a:variant>", None),
        ("not_map", "array<map<int,int>>", None),
        ("array|map", "array<int>", "array<int>"),
        ("array|map", "int", None),
    ],
)
def test_what_a_kind_takes(name, type, target):
    given = parse_type(type)
    assert kind(name).takes(given) is (target is not None)
    if target is not None:
        assert str(kind(name).cast(given)) == target


def test_marks_of_a_kind():
    assert kind("int!").is_constant
    assert not kind("int").is_constant
    assert kind("int").takes(VOID)
    assert not kind("int~").takes(VOID)


def test_null_becomes_the_type_of_its_kind():
    assert str(kind("int").cast(VOID)) == "int"
    assert str(kind("array").cast(VOID)) == "array<void>"


def test_each_kind_of_the_catalogue_is_known():
    used = {
        name.rstrip("!~=")
        for function in function_names()
        for signature in signatures(function)
        for name in (*signature.required, *signature.optional, *([signature.repeated] if signature.repeated else ()))
    }
    families = {word for taken, _, _ in KINDS.values() for word in taken.split()}
    unknown = [name for name in used if name not in KINDS and not set(name.replace("=", "").split("|")) <= families]
    assert set(unknown) <= OTHER_WORDS
