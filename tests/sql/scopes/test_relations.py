"""Relations of a FROM clause: what a dotted name means, what `*` shows, and what an outer join makes nullable."""

import pytest

from catalog.types.datatypes import INT
from sql.scopes.relations import (
    Attribute,
    Output,
    RangeVariable,
    Relation,
    hiding,
    made_optional,
    merge,
    side_by_side,
)
from sql.types.expression_type import Typed


def source(qualifier: str, *names: str, is_open: bool = False) -> RangeVariable:
    attributes = tuple(Attribute(name, Typed(INT, False)) for name in names)
    return RangeVariable(tuple(qualifier.split(".")), Output(attributes, is_open=is_open))


def shown(slots) -> list[str]:
    return [f"{slot.source.label}.{slot.attribute.name}" for slot in slots]


T, U = source("db.t", "id", "a", "A"), source("u", "id", "t")
BOTH = Relation((T, U))


@pytest.mark.parametrize(
    ("name", "found", "taken"),
    [
        ("a", ["db.t.a", "db.t.A"], 1),
        ("id", ["db.t.id", "u.id"], 1),
        ("u.ID", ["u.id"], 2),
        ("t.id", ["db.t.id"], 2),
        ("db.t.id", ["db.t.id"], 3),
        ("u.t.x", ["u.t"], 2),
        ("t.x", ["u.t"], 1),
        ("x", [], 1),
    ],
)
def test_a_name_takes_its_longest_qualifier(name, found, taken):
    slots, count = BOTH.find(name.split("."))
    assert (shown(slots), count) == (found, taken)


def test_one_column_under_one_name_is_not_ambiguous():
    same = Attribute("a", Typed(INT), identity=(1,))
    relation = Relation((RangeVariable(("q",), Output((same, same))),))
    assert shown(relation.find(["a"])[0]) == ["q.a"]


def test_stars():
    assert shown(BOTH.star()) == ["db.t.id", "db.t.a", "db.t.A", "u.id", "u.t"]
    assert shown(BOTH.qualified_star(["u"])) == ["u.id", "u.t"]
    assert shown(BOTH.keys_of_using("ID")) == ["db.t.id"]


def test_a_hidden_column_is_found_by_its_table_only():
    relation, moved = hiding(BOTH, BOTH.qualified_star(["u"])[:1])
    assert shown(relation.star()) == ["db.t.id", "db.t.a", "db.t.A", "u.t"]
    assert shown(relation.find(["id"])[0]) == ["db.t.id"]
    relation.concealed = (next(iter(BOTH.qualified_star(["u"]))),)
    assert shown(relation.find(["u", "id"])[0]) == ["u.id"]
    assert moved[id(U)].hidden == {0}


def test_an_outer_join_makes_columns_nullable_and_no_constant_passes():
    constant = RangeVariable(("c",), Output((Attribute("x", Typed(INT, False, True, 1)),)))
    assert constant.typed(0) == Typed(INT, False)
    (optional,) = made_optional(Relation((constant,))).sources
    assert optional.typed(0) == Typed(INT, True)


def test_two_relations_side_by_side():
    joined = side_by_side(Relation((T,), (1, 2)), Relation((U,), (2, 3)))
    assert shown(joined.star()) == shown(BOTH.star())
    assert joined.row_origins == (1, 2, 3)
    assert merge("ab", "bc") == ("a", "b", "c")


def test_an_open_relation_may_hold_any_column():
    relation = Relation((T, source("o", "x", is_open=True)))
    assert relation.is_open
    found = relation.open_source(["o", "y"])
    assert found is not None
    assert (found[0].label, found[1]) == ("o", "y")
    assert relation.open_source(["t", "y"]) is None


def test_renamed_columns():
    assert [a.name for a in T.output.renamed(["p", "q"]).attributes] == ["p", "q"]
