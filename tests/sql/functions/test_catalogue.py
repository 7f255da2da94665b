"""The table of Spark's functions: every line is well-formed, and its facts do not contradict each other."""

import pytest

from sql.functions.catalogue import flags, function_names, signatures

FLAGS = {"random", "clock", "pure", "deferred", "ignore_nulls", "within_group", "named_by_type", "types_nulls"}
KINDS = {"scalar", "aggregate", "window", "generator", "table"}
ALL = [signature for name in function_names() for signature in signatures(name)]


def test_every_line_is_well_formed():
    assert {signature.kind for signature in ALL} <= KINDS
    assert {flag for signature in ALL for flag in signature.flags} <= FLAGS
    assert [name for name in function_names() if name != name.lower()] == []


def test_every_signature_of_a_function_has_its_flags():
    assert [s.name for s in ALL if s.flags != flags(s.name)] == []


def test_what_is_pure_is_a_scalar_that_gives_the_same_value_each_time():
    pure = [signature for signature in ALL if "pure" in signature.flags]
    assert {signature.kind for signature in pure} == {"scalar"}
    assert [signature.name for signature in pure if signature.flags & {"random", "clock"}] == []


@pytest.mark.parametrize(
    ("name", "flag"),
    [("rand", "random"), ("uuid", "random"), ("now", "clock"), ("upper", "pure"), ("lag", "ignore_nulls"),
     ("percentile_cont", "within_group"), ("transform", "deferred"), ("mask", "types_nulls")],
)  # fmt: skip
def test_flags(name, flag):
    assert flag in flags(name)


def test_an_unknown_function_has_none():
    assert signatures("no_such_function") == ()
    assert flags("no_such_function") == frozenset()


def test_the_number_of_arguments_decides():
    (substring,) = signatures("substring")
    assert [count for count in range(5) if substring.fits(count)] == [2, 3]
    (concat,) = signatures("concat_ws")
    assert concat.fits(9)
