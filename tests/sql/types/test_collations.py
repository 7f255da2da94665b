"""Collations of strings that meet: the strongest wins."""

import pytest

from catalog.types.collations import INDETERMINATE
from catalog.types.datatypes import BOOLEAN, INT, STRING, Array, Field, Map, Struct, with_collation
from sql.types.collations import (
    ExplicitCollationError,
    Strength,
    collated_as,
    is_indeterminate,
    ranked,
    same_collations,
    winner,
)

LOW, UNI = with_collation("UTF8_LCASE"), with_collation("UNICODE")


def strings(*pairs):
    return [ranked(type, strength) for type, strength in pairs]


@pytest.mark.parametrize(
    ("one", "other", "decided"),
    [
        ((LOW, Strength.IMPLICIT), (STRING, Strength.DEFAULT), "UTF8_LCASE"),
        ((STRING, Strength.DEFAULT), (LOW, Strength.IMPLICIT), "UTF8_LCASE"),
        ((LOW, Strength.IMPLICIT), (UNI, Strength.EXPLICIT), "UNICODE"),
        ((LOW, Strength.IMPLICIT), (STRING, Strength.EXPLICIT), None),
        ((LOW, Strength.IMPLICIT), (UNI, Strength.IMPLICIT), INDETERMINATE),
        ((LOW, Strength.IMPLICIT), (LOW, Strength.IMPLICIT), "UTF8_LCASE"),
        ((LOW, Strength.DEFAULT), (STRING, Strength.DEFAULT), INDETERMINATE),
        ((with_collation(INDETERMINATE), Strength.IMPLICIT), (UNI, Strength.IMPLICIT), INDETERMINATE),
        ((with_collation(INDETERMINATE), Strength.IMPLICIT), (UNI, Strength.EXPLICIT), "UNICODE"),
    ],
)
def test_the_strongest_collation_decides(one, other, decided):
    assert winner(strings(one, other)).collation == decided


def test_two_explicit_collations_are_an_error():
    with pytest.raises(ExplicitCollationError):
        winner(strings((LOW, Strength.EXPLICIT), (UNI, Strength.EXPLICIT)))


def test_an_array_and_a_string_meet_at_its_elements():
    decided = winner(strings((Array(LOW), Strength.IMPLICIT), (STRING, Strength.DEFAULT)))
    assert str(collated_as(STRING, decided)) == "string collate UTF8_LCASE"
    assert str(collated_as(Array(STRING), decided)) == "array<string collate UTF8_LCASE>"


def test_types_of_other_forms_keep_their_collations():
    assert winner([ranked(LOW, Strength.IMPLICIT), Map(STRING, INT)]) is None
    assert collated_as(INT, LOW) is INT
    assert (
        str(collated_as(Struct((Field("a", UNI),)), Struct((Field("b", LOW),))))
        == "struct<a:string collate UTF8_LCASE>"
    )


def test_types_with_collations_are_equal_to_those_without_but_told_apart():
    assert LOW == STRING
    assert Map(LOW, UNI) == Map(STRING, STRING)
    assert not same_collations(LOW, STRING)
    assert not same_collations(Map(LOW, UNI), Map(LOW, LOW))
    assert same_collations(BOOLEAN, LOW)
    assert is_indeterminate(Array(with_collation(INDETERMINATE)))
    assert not is_indeterminate(Array(LOW))
