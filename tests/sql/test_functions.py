"""The catalogue of functions: that it can be read, and that it says what Spark says."""

import itertools

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.types.datatypes import UNKNOWN
from sql.analyze import analyze
from sql.functions.argument_kinds import KINDS, kind
from sql.functions.catalogue import function_names, signatures
from sql.functions.resolve import SYNTACTIC
from sql.functions.rules import RULES
from sql.types.type_names import parse_schema
from tests.oracle import catalogue, functions
from tests.oracle.agreement import oracle as open_oracle

FAMILIES = frozenset(family for taken, _, _ in KINDS.values() for family in taken.split())
ALL = [signature for name in function_names() for signature in signatures(name)]


@pytest.mark.parametrize("signature", ALL, ids=lambda each: f"{each.name}/{len(each.required)}")
def test_each_line_can_be_read(signature):
    kinds = [*signature.required, *signature.optional, *([signature.repeated] if signature.repeated else [])]
    for each in kinds:
        assert each in SYNTACTIC or kind(each).taken <= FAMILIES
    if signature.result.startswith("@"):
        assert signature.result[1:] in RULES
    elif signature.result.startswith("$"):
        assert 1 <= int(signature.result[1:]) <= max(len(kinds), 1)
    else:
        assert parse_schema(signature.result) not in (None, UNKNOWN)
    assert signature.nullable in ("yes", "no", "any", "@") or all(
        each.isdigit() for each in signature.nullable.split(",")
    )


def test_a_function_that_a_patch_release_added_is_known():
    found = analyze(PlacedText.bare("select kll_merge_agg_bigint(x'00') as k"), {})
    assert not found.diagnostics
    assert [str(column.type) for column in found.columns] == ["binary"]


def test_kinds_of_functions():
    assert {signature.kind for signature in ALL} == {"scalar", "aggregate", "window", "generator", "table"}


@pytest.fixture(scope="module")
def oracle(spark):
    return open_oracle(spark)


@pytest.mark.spark
def test_the_catalogue_has_the_functions_that_spark_has(spark):
    assert functions.missing(spark) == set()


@pytest.mark.spark
def test_the_catalogue_says_what_spark_says_of_its_functions(spark):
    assert list(catalogue.differences(spark)) == []


@pytest.mark.spark
def test_a_catalogue_that_is_written_anew_is_the_same(spark):
    known = [line for line in catalogue.path_of("4.1").read_text().splitlines() if not line.startswith("#")]
    assert set(catalogue.lines(spark)) <= set(known)
    assert catalogue.new_functions(spark) == []


@pytest.mark.spark
def test_documented_examples(spark, oracle):
    found = functions.compare(oracle, functions.examples(spark))
    assert not found.wrong, "\n".join([str(found), *found.wrong])
    assert found.accepted > 1000
    assert found.equal >= 0.97 * found.accepted, found
    assert len(found.names) <= 0.05 * found.equal, "\n".join([str(found), *found.names])


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("every", [1571, pytest.param(131, marks=pytest.mark.soak)])
def test_calls_with_arguments_of_every_type(oracle, every):
    """One of so many calls; `python -m tests.oracle.functions calls` asks all of them."""
    found = functions.compare(oracle, itertools.islice(functions.calls(), 0, None, every))
    assert not found.wrong, "\n".join([str(found), *found.wrong])
    assert found.unknown <= 0.03 * found.accepted, found
    assert len(found.missed) <= 0.05 * found.refused, "\n".join([str(found), *found.missed])
