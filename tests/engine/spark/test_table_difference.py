"""The difference of two tables is what a comparison by hand finds."""

import os
import random
from collections import Counter

import pytest

pytest.importorskip("pyspark")

from engine.spark.table_difference import TableDifference, table_difference

pytestmark = pytest.mark.spark

PAIRS = int(os.environ.get("PENSTOCK_TEST_PAIRS", "2"))
SCHEMA = "id int, name string, amount double"


def table(chance: random.Random, *, unique: bool) -> list[tuple[int, str | None, float | None]]:
    ids = chance.sample(range(12), 8) if unique else [chance.randrange(6) for _ in range(8)]
    return [(id, chance.choice(["a", "b", None]), chance.choice([1.0, float("nan"), None])) for id in ids]


def same(value: object) -> object:
    return "nan" if value != value else value


def by_hand(first: list, second: list, *, unique: bool) -> tuple[int, int, int, dict[str, int]]:
    """The numbers of added, removed and changed rows, and of changes by column."""
    first, second = ([tuple(map(same, row)) for row in rows] for rows in (first, second))
    if not unique:
        left, right = Counter(first), Counter(second)
        return (left - right).total(), (right - left).total(), 0, {}
    left, right = ({row[0]: row for row in rows} for rows in (first, second))
    both = [(left[key], right[key]) for key in left.keys() & right.keys()]
    columns = {name: sum(a[at] != b[at] for a, b in both) for at, name in enumerate(("id", "name", "amount"))}
    changed = sum(a != b for a, b in both)
    by_column = {name: count for name, count in columns.items() if count}
    return len(left.keys() - right.keys()), len(right.keys() - left.keys()), changed, by_column


def compared(spark, first: list, second: list, keys: list[str]) -> TableDifference:
    frames = [spark.createDataFrame(rows, SCHEMA) for rows in (first, second)]
    return table_difference(frames[0], frames[1], keys, 2)


@pytest.mark.parametrize("seed", range(PAIRS))
@pytest.mark.parametrize("unique", [True, False])
def test_the_difference_is_that_of_a_comparison_by_hand(spark, seed, unique):
    chance = random.Random(seed)
    first, second = table(chance, unique=unique), table(chance, unique=unique)
    found = compared(spark, first, second, ["id"] if unique else [])
    numbers = (found.added, found.removed, found.changed, dict(found.by_column))
    assert numbers == by_hand(first, second, unique=unique)
    assert (found.first, found.second) == (len(first), len(second))
    assert len(found.added_rows) == min(2, found.added)
    assert len(found.changed_rows) == 2 * min(2, found.changed)


def test_columns_and_repeated_keys_are_named(spark):
    first = spark.createDataFrame([(1, "a", 1.0), (1, "b", 1.0)], SCHEMA)
    second = spark.createDataFrame([(1, "a", "1")], "ID int, name string, amount string").selectExpr("*", "1 as more")
    found = table_difference(first, second, ["id"], 2)
    assert found.schema.columns == ("id", "name")
    assert found.schema.only_second == ("more",)
    assert found.schema.other_types == ("amount: double and string",)
    assert (found.repeated, found.added, found.removed) == (1, 1, 0)
    assert not found.is_equal
