"""What a plan means, as the journal of a run records it: a later run of the same id must mean the same.

Unlike `fingerprint`, it leaves out how fast the job is to be: settings of Spark that change no row.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

from catalog.options import Value
from engine.plan.meaning.fingerprint import content, given_options, hashed, node_hashes, sql_settings
from engine.plan.meaning.used_columns import used_columns
from engine.plan.nodes import AnyNode, Plan, Query, Scan, Write, children, plugin_of
from engine.plan.shown_options import ELSEWHERE

_CHANGES_ROWS: Final = (
    "spark.sql.ansi.",
    "spark.sql.caseSensitive",
    "spark.sql.catalog",
    "spark.sql.default",
    "spark.sql.legacy.",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.session.",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.timestampType",
)
"""The settings of Spark that change rows, by how their names begin."""

_SETTINGS: Final = "settings of Spark SQL"
_LISTED: Final = 3

Parts: TypeAlias = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """One write: its fingerprint, and its name and target, by which it is known after an edit."""

    fingerprint: str
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """The writes of a plan, by their ids, and hashes of the `parts` of each node, by its name and what a user
    calls them.

    `is_part`: the user has chosen some of the job's writes.
    """

    writes: Mapping[str, WriteRecord]
    parts: Parts
    is_part: bool = False

    @classmethod
    def of(cls, plan: Plan, *, is_part: bool = False) -> "PlanRecord":
        """That of a plan before the optimizer's rules."""
        hashes, parts = node_hashes(plan), _parts(plan)
        settings: Value = [str(plan.env.dialect.value), parts[_SETTINGS][_SETTINGS]]
        writes = {
            write.id: WriteRecord(hashed([hashes[write], settings]), write.name, write.target) for write in plan.writes
        }
        return cls(writes, parts, is_part)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "PlanRecord":
        writes = {write_id: WriteRecord(**write) for write_id, write in record["writes"].items()}
        return cls(writes, dict(record["parts"]), bool(record["is_part"]))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def with_earlier(self, earlier: "PlanRecord | None", done: Collection[str]) -> "PlanRecord":
        """With the writes that earlier attempts of the run committed."""
        known = {} if earlier is None else {key: write for key, write in earlier.writes.items() if key in done}
        return PlanRecord({**self.writes, **known}, self.parts, self.is_part)

    def written(self, then: "PlanRecord", done: Collection[str]) -> dict[str, str]:
        """The writes that are among those that an earlier run of this id committed, `done`: their ids of then, by
        those of now."""
        left: dict[str, list[str]] = {}
        for key in sorted(done, reverse=True):
            if key in then.writes:
                left.setdefault(then.writes[key].fingerprint, []).append(key)
        return {key: left[write.fingerprint].pop() for key, write in self.writes.items() if left.get(write.fingerprint)}

    def conflicts(self, then: "PlanRecord", done: Collection[str]) -> tuple[str, ...]:
        """What differs, as a user calls it, where this plan is another piece of work than one whose writes `done` were
        committed; empty where it is the same.

        What was committed must be in this plan as it was. If only a part was, the rest may have changed.
        """
        here = self.written(then, done)
        kept = Counter(self.writes[key].fingerprint for key in here)
        gone = [write for key, write in then.writes.items() if key in done and not _take(kept, write.fingerprint)]
        names = {name for write in self.writes.values() for name in (write.name, write.target)}
        is_whole = then.writes.keys() <= set(done) and not (self.is_part or then.is_part)
        is_changed = any(is_whole or {write.name, write.target} & names for write in gone)
        is_new = is_whole and self.writes.keys() - here
        return tuple(_differences(then.parts, self.parts)) or ("the plan",) if is_changed or is_new else ()


def listed(differences: Sequence[str]) -> str:
    """The first of them as text."""
    more = f" and {len(differences) - _LISTED} more" if len(differences) > _LISTED else ""
    return f"{', '.join(differences[:_LISTED])}{more}"


def _take(left: Counter[str], fingerprint: str) -> bool:
    left[fingerprint] -= 1
    return left[fingerprint] >= 0


def _differences(then: Parts, now: Parts) -> Iterator[str]:
    for node in now:
        if node not in then:
            yield f"`{node}` (added)"
            continue
        for part in dict.fromkeys((*now[node], *then[node])):
            if then[node].get(part) != now[node].get(part):
                yield part
    for node in then:
        if node not in now:
            yield f"`{node}` (removed)"


def _parts(plan: Plan) -> Parts:
    used = used_columns(plan)
    settings = {name: value for name, value in sql_settings(plan).items() if name.startswith(_CHANGES_ROWS)}
    found: dict[str, Mapping[str, str]] = {_SETTINGS: {_SETTINGS: hashed(settings)}}
    return found | {node.name: dict(_parts_of(node, used)) for node in plan.nodes()}


def _parts_of(node: AnyNode, used: Mapping[AnyNode, frozenset[str]]) -> Iterator[tuple[str, str]]:
    if isinstance(node, Query):
        yield f"the query of `{node.name}`", hashed(content(node, used))
    elif isinstance(node, Scan | Write):
        spec = node.connector.source_options if isinstance(node, Scan) else node.connector.sink_options
        for name, value in given_options(spec, node.options).items():
            if name not in ELSEWHERE:
                yield f"`{name}` of `{node.name}`", hashed(value)
        own = content(node, used)
        assert isinstance(own, list)
        what = "columns" if isinstance(node, Scan) else "modes"
        yield f"the {what} of `{node.name}`", hashed([own[0], own[1], own[3:]])
    else:
        yield f"{plugin_of(node)} `{node.name}`", hashed(content(node, used))
    yield f"the inputs of `{node.name}`", hashed([child.name for child in children(node)])
