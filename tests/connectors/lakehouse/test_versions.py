"""write_mode = scd2: which versions rows become, in Delta and Iceberg alike."""

from datetime import datetime, timedelta

import pytest

import connectors
from connectors.lakehouse import merging
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, write

pytestmark = [pytest.mark.spark, pytest.mark.delta]
COLUMNS = ("id bigint", "name string", "at timestamp")
GIVEN = {"write_mode": "scd2", "primary_keys": ["id"], "delete_condition": "name = 'gone'"}
DATED = {**GIVEN, "sequence_field": "at"}


class Versions:
    """A table with versions; times are days of January 2026."""

    def __init__(self, spark, folder, kind):
        self.spark, self.folder, self.kind, self.runs = spark, folder, kind, 0
        self.address = {"path": str(folder / "t")} if kind == "Delta" else {"warehouse": str(folder), "table": "d.t"}

    def write(self, *listed, given=DATED):
        found = ", ".join(f"({id}L, '{name}', timestamp'2026-01-0{day} 00:00:00Z')" for id, name, day in listed)
        query = f"select * from values {found} as t(id, name, at)"
        columns = COLUMNS
        if given is GIVEN:
            query, columns = f"select id, name from ({query})", COLUMNS[:2]
        job = write(connectors.sink(self.kind), rows(query, *columns), **self.address, **given)
        self.runs += 1
        run_writes(self.spark, [job], str(self.folder / "state"), f"run{self.runs}")

    def rows(self, *columns):
        source = connectors.source(self.kind)
        df = source.read(self.spark.newSession(), task(source, self.address))
        return sorted(map(tuple, df.selectExpr(*columns).collect()))

    def shown(self):
        return self.rows("id", "day(valid_from)", "coalesce(day(valid_to), 0)", "name", "is_current")


def task(source, address):
    from catalog.diagnostics.diagnostic import Diagnostics
    from connectors.interface.source import ScanTask

    options = options_of(source.source_options, **address)
    return ScanTask(options, source.tables(options, Diagnostics())[0])


@pytest.fixture
def versions(spark, tmp_path, request):
    return Versions(spark, tmp_path, getattr(request, "param", "Delta"))


@pytest.mark.parametrize("versions", ["Delta", pytest.param("Iceberg", marks=pytest.mark.soak)], indirect=True)
def test_several_versions_of_a_key_in_one_run_become_several_versions(versions):
    first = [(1, "a", 1), (1, "a", 2), (1, "b", 3), (2, "x", 1), (2, "gone", 2), (2, "y", 4), (3, "gone", 1)]
    expected = [(1, 1, 3, "a", False), (1, 3, 0, "b", True), (2, 1, 2, "x", False), (2, 4, 0, "y", True)]
    versions.write(*first)
    assert versions.shown() == expected
    versions.write(*first)  # a stretch that is read again
    assert versions.shown() == expected
    versions.write((1, "b", 4), (1, "c", 5), (1, "gone", 6), (2, "late", 3), (2, "z", 7), (4, "new", 2), (4, "n", 3))
    changed = [
        (1, 1, 3, "a", False),
        (1, 3, 5, "b", False),
        (1, 5, 6, "c", False),
        (2, 1, 2, "x", False),
        (2, 4, 7, "y", False),
        (2, 7, 0, "z", True),
        (4, 2, 3, "new", False),
        (4, 3, 0, "n", True),
    ]
    assert versions.shown() == changed
    versions.write((1, "b", 4), (1, "c", 5), (1, "gone", 6), (2, "z", 7))  # of a key that is gone, too
    assert versions.shown() == changed


def test_a_corrected_row_with_the_same_sequence_value_corrects_its_version(versions):
    versions.write((1, "a", 1), (2, "b", 1), (3, "c", 1))
    versions.write((1, "A", 1), (2, "B", 1), (2, "later", 3), (3, "gone", 1))
    assert versions.shown() == [
        (1, 1, 0, "A", True),
        (2, 1, 3, "B", False),
        (2, 3, 0, "later", True),
        (3, 1, 1, "c", False),
    ]


def test_a_slow_clock_drops_no_change(versions, monkeypatch):
    """Without `sequence_field`, a version begins at the time of the run, which another host may see later."""

    class Slow(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - timedelta(hours=1)

    versions.write((1, "a", 1), (2, "b", 1), given=GIVEN)
    monkeypatch.setattr(merging, "datetime", Slow)
    versions.write((1, "A", 1), (2, "gone", 1), given=GIVEN)
    versions.write((1, "AA", 1), (2, "back", 1), given=GIVEN)
    found = versions.rows("id", "valid_from", "name", "is_current", "valid_to is null or valid_to > valid_from")
    assert [(id, *rest) for id, _, *rest in found] == [
        (1, "a", False, True),
        (1, "A", False, True),
        (1, "AA", True, True),
        (2, "b", False, True),
        (2, "back", True, True),
    ]


@pytest.mark.parametrize(
    ("versions", "given"),
    [pytest.param("Delta", DATED, marks=pytest.mark.soak), ("Iceberg", GIVEN)],
    indirect=["versions"],
)
def test_keys_that_a_full_load_lacks_are_ended(versions, given):
    full = {**given, "missing_keys": "end"}
    versions.write((1, "a", 1), (2, "b", 1), (3, "c", 1), given=full)
    versions.write((1, "a", 1), (2, "B", 2), given=full)
    known = ("id", "name", "is_current", "valid_to is null", "coalesce(valid_to > valid_from, true)")
    expected = [
        (1, "a", True, True, True),
        (2, "B", True, True, True),
        (2, "b", False, False, True),
        (3, "c", False, False, True),
    ]
    assert versions.rows(*known) == expected
    versions.write((1, "a", 1), (2, "B", 2), given=full)
    assert versions.rows(*known) == expected
    versions.write((1, "a", 1), (2, "B", 2), (3, "c", 1), given=full)  # it comes back, as it was
    assert versions.rows(*known) == [*expected, (3, "c", True, True, True)]
    versions.write((1, "a", 1), given=given)
    assert versions.rows("id", "name", "is_current")[2:] == [(2, "b", False), (3, "c", False), (3, "c", True)]
