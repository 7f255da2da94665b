"""Counts the rows that a run read, dropped and wrote, from Spark's metrics.

No row is read a second time: Spark counts the rows of each physical operator anyway, and stores the counts with the
query's graph. An operator belongs to the scan whose columns it yields (by Spark's expression ids), else to the one that
reads where it does.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from connectors.files.formats.whole_json import FIRST_VALUE_ONLY
from connectors.files.values.left_out_rows import LEFT_OUT
from connectors.interface.run_context import RowChanges
from engine.runtime.counting.native_share import NativeShare

ROWS: Final = "number of output rows"
READ_BYTES: Final = "size of files read"
WRITTEN_BYTES: Final = "written output"

_PASSES_ROWS_ON: Final = re.compile(
    r"Project|Sort|Exchange|AQEShuffleRead|ShuffleQueryStage|ColumnarToRow|RowToColumnar|AdaptiveSparkPlan|WriteFiles"
    r"|Execute |OverwriteByExpression|AppendData|ReusedExchange|Coalesce|InMemoryTableScan|DeserializeToObject"
    r"|SerializeFromObject|MapPartitions|CollectMetrics|TableCacheQueryStage|Subquery|Window$"
    r"|SparkColumnarToColumnar|SparkRowToColumnar"  # Comet's, in front of its own operators
)
_WRITES: Final = re.compile(r"Execute |AppendData|Overwrite|ReplaceData|CreateTable|ReplaceTable|WriteToDataSource")
_ATTRIBUTE: Final = re.compile(r"#(\d+)")
_JOIN_KIND: Final = re.compile(r", (Inner|LeftSemi|LeftAnti)\b(.*)", re.DOTALL)
_ONLY_NOT_NULL: Final = re.compile(r"(\(*isnotnull\([^()]*\)\)*( AND )?)+")
_CHANGES: Final = ("inserted", "updated", "deleted")
_UNITS: Final = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50}


@dataclass(frozen=True, slots=True)
class Operator:
    """A node of Spark's graph of a query: what it is, what it says of itself, its counters, and what it reads."""

    id: int
    name: str
    description: str
    counters: Mapping[str, str]

    def count(self, counter: str) -> int | None:
        text = self.counters.get(counter)
        return None if text is None else number(text)


@dataclass(frozen=True)
class Execution:
    """A query that Spark ran: its operators, under Spark's names, and the edges from each to those that it reads."""

    operators: tuple[Operator, ...]
    inputs: Mapping[int, tuple[int, ...]]
    native: NativeShare | None = None

    @cached_property
    def by_id(self) -> Mapping[int, Operator]:
        return {operator.id: operator for operator in self.operators}

    def rows_out(self, operator: Operator) -> int | None:
        """Rows that an operator yields, where it or the one below it that passes them on counts them."""
        if (rows := operator.count(ROWS)) is not None:
            return rows
        below = [self.by_id[input] for input in self.inputs.get(operator.id, ())]
        if operator.name == "Union":
            counted = [self.rows_out(input) for input in below]
            return None if None in counted else sum(column for column in counted if column is not None)
        if len(below) == 1 and _PASSES_ROWS_ON.match(operator.name):
            return self.rows_out(below[0])
        return None

    def leaf_below(self, operator: Operator) -> Operator:
        """The first operator that reads nothing else, of those that it reads."""
        while inputs := self.inputs.get(operator.id):
            operator = self.by_id[inputs[0]]
        return operator

    @property
    def leaves(self) -> Iterator[Operator]:
        """Operators that read nothing else, and count what they read."""
        return (
            operator for operator in self.operators if not self.inputs.get(operator.id) and ROWS in operator.counters
        )


@dataclass(frozen=True, slots=True)
class ScanIdentity:
    """Identifies a scan in Spark's graph: the ids of the columns it yields, and the paths it reads.

    `is_persisted`: it reads persisted rows, not a source.
    """

    scan: str
    attributes: frozenset[int]
    paths: tuple[str, ...] = ()
    is_persisted: bool = False


@dataclass(frozen=True, slots=True)
class ReadCount:
    """What was read of one source in one pass, and in how many passes; None: Spark does not count it. `left_out`: of
    these rows, those that did not fit and that the source was asked to leave out."""

    source: str
    rows: int | None
    bytes: int | None
    passes: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class WriteCount:
    """What one write wrote, and the rows that filters and rules dropped on the way to it; None: not counted.

    `staged`: the rows that it staged, where they were not committed; it has written none then. `changes`: what a merge
    has changed in the target, None where nothing was merged or the target does not report it; `unchanged`: the rows
    that changed nothing, such as older ones.
    """

    sink: str
    rows: int | None
    filtered: int | None
    bytes: int | None = None
    rejected: int | None = None
    target: str | None = None
    staged: int | None = None
    changes: RowChanges | None = None
    unchanged: int | None = None

    def without_commit(self) -> "WriteCount":
        """The count of the same write, which was not committed."""
        written = None if self.rows is None else 0
        return replace(
            self, rows=written, bytes=None if self.bytes is None else 0, staged=self.rows, changes=None, unchanged=None
        )


def count_reads(executions: Iterable[Execution], scans: Sequence[ScanIdentity]) -> tuple[ReadCount, ...]:
    """What each scan read, over all executions; a scan that Spark never ran (an empty relation) has no passes."""
    seen: dict[str, list[Operator]] = {identity.scan: [] for identity in scans}
    strange: list[Operator] = []
    left_out: Counter[str] = Counter()
    for execution in executions:
        left_out |= _left_out(execution, scans)  # the most of all passes
        for operator in execution.leaves:
            scan = _scan_of(operator, scans)
            (seen[scan] if scan else strange).append(operator)
    for identity in scans:
        if identity.is_persisted:
            del seen[identity.scan]
    missing = [scan for scan, found in seen.items() if not found]
    if len(missing) == 1:  # generated rows: Spark's `Range` does not list its columns
        seen[missing[0]] = strange
    return tuple(
        ReadCount(scan, _most(leaf.count(ROWS) for leaf in found), _most(_bytes(found)), len(found), left_out[scan])
        for scan, found in seen.items()
    )


def _left_out(execution: Execution, scans: Sequence[ScanIdentity]) -> Counter[str]:
    """The rows of each scan that its own filters left out because they did not fit."""
    found: Counter[str] = Counter()
    for operator in execution.operators:
        if operator.name != "Filter" or LEFT_OUT not in operator.description:
            continue
        inputs = execution.inputs.get(operator.id, ())
        before, after = total(execution.rows_out(execution.by_id[each]) for each in inputs), operator.count(ROWS)
        leaf = execution.leaf_below(operator)
        scan = _scan_of(leaf, scans) or (scans[0].scan if len(scans) == 1 else None)
        if scan is not None and before is not None and after is not None:
            found[scan] += before - after
    return found


def count_write(sink: str, executions: Sequence[Execution]) -> WriteCount:
    """The counts of a write in its last execution that wrote rows; queries that only inspect rows write none."""
    for execution in reversed(executions):
        for operator in execution.operators:
            rows = execution.rows_out(operator) if _WRITES.match(operator.name) else None
            if rows is not None:
                return WriteCount(sink, rows, filtered_rows(execution), operator.count(WRITTEN_BYTES))
    return WriteCount(sink, None, None)


def merged(executions: Sequence[Execution]) -> RowChanges | None:
    """What the last MERGE that Spark itself ran has changed."""
    for execution in reversed(executions):
        for operator in execution.operators:
            if operator.name == "MergeRows":
                counts = [operator.count(f"number of target rows {kind}") for kind in _CHANGES]
                known = [count for count in counts if count is not None]
                return RowChanges(*known) if len(known) == len(counts) else None
    return None


def last_that_read(executions: Sequence[Execution]) -> Execution | None:
    """The last execution that read anything, as a new try does."""
    return next((execution for execution in reversed(executions) if any(execution.leaves)), None)


def filtered_rows(execution: Execution) -> int | None:
    """Rows that filters and window limits dropped; not those that Spark adds to joins (`isnotnull` alone), nor
    one that refuses JSON files.

    None if a join drops rows by a condition: its counters do not show how many.
    """
    total = 0
    for operator in execution.operators:
        if _drops_by_join(operator):
            return None
        is_limit = operator.name == "WindowGroupLimit"
        if not is_limit and operator.name != "Filter":
            continue
        if not is_limit and (
            FIRST_VALUE_ONLY in operator.description
            or _ONLY_NOT_NULL.fullmatch(operator.description.removeprefix("Filter "))
        ):
            continue
        before = [execution.rows_out(execution.by_id[input]) for input in execution.inputs.get(operator.id, ())]
        after = operator.count(ROWS)
        if after is None or len(before) != 1 or before[0] is None:
            return None
        total += before[0] - after
    return total


def _drops_by_join(operator: Operator) -> bool:
    """Whether the join is a filter: semi, anti, or inner with a condition other than its keys."""
    found = _JOIN_KIND.search(operator.description) if "Join" in operator.name else None
    return found is not None and (found[1] != "Inner" or "(" in found[2])


def number(text: str) -> int | None:
    """A counter as Spark prints it: `336,776`, `7.8 MiB`, or a total with its spread over the tasks behind it."""
    words = text.strip().splitlines()[-1].split() if text.strip() else []
    try:
        value = float(words[0].replace(",", ""))
    except (IndexError, ValueError):
        return None
    unit = words[1] if len(words) > 1 else ""
    return round(value * _UNITS.get(unit, 1))


def _scan_of(operator: Operator, scans: Sequence[ScanIdentity]) -> str | None:
    attributes = {int(match) for match in _ATTRIBUTE.findall(operator.description)}
    for identity in scans:
        if attributes & identity.attributes:
            return identity.scan
    reading = [identity.scan for identity in scans if any(path in operator.description for path in identity.paths)]
    return reading[0] if reading else None


def _bytes(operators: Iterable[Operator]) -> Iterator[int | None]:
    return (operator.count(READ_BYTES) for operator in operators)


def _most(counts: Iterable[int | None]) -> int | None:
    return max((count for count in counts if count is not None), default=None)


def total(counts: Iterable[int | None]) -> int | None:
    """The sum of the counts that are known; None if none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
