"""The watermarks of a job's incremental sources, in the state directory.

    <state dir>/watermarks/<job>/<source>.json

A run reads past the recorded value, and the value moves only when its sinks have committed: the decision in the run's
journal holds the new one, so that whoever finishes the run moves it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from catalog.diagnostics.diagnostic import Diagnostics, RunError, run_error
from connectors.interface.incremental import Incremental, ReadProgress, Since, incremental_of
from connectors.interface.source_abilities import own_order_of
from connectors.storage.filesystem import Files
from connectors.storage.paths import target_folder
from engine.plan.nodes import Plan, Scan
from engine.state.layout import StateLayout


@dataclass(frozen=True, slots=True)
class HighWatermark:
    """How far runs have read a source. `node` is its `uid`, or its name in the job; `location` what it reads, as far
    as that is known; `previous` is where the run that moved it last had begun; `at` is UTC, ISO 8601."""

    job: str
    node: str
    column: str
    location: str | None
    value: ReadProgress
    previous: ReadProgress | None
    run_id: str
    at: str

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "HighWatermark":
        previous = record["previous"]
        own = {
            "value": ReadProgress(**record["value"]),
            "previous": None if previous is None else ReadProgress(**previous),
        }
        return cls(**{**record, **own})


@dataclass(frozen=True, eq=False, slots=True)
class Watermarks:
    """Those of one job in a state directory."""

    layout: StateLayout
    job: str

    @property
    def files(self) -> Files:
        return self.layout.files

    def read(self, node: str) -> HighWatermark | None:
        """Raises PEN5011 for a file that is none."""
        path = self._path(node)
        if not self.files.exists(path):
            return None
        try:
            return HighWatermark.from_json(json.loads(self.files.read(path)))
        except (ValueError, TypeError, KeyError) as error:
            help = f"`penstock state JOB --reset {node}` removes it"
            raise run_error("PEN5011", f"`{path}` is not a watermark: {error}", None, help) from error

    def write(self, watermark: HighWatermark) -> None:
        self.files.write(self._path(watermark.node), json.dumps(asdict(watermark), indent=1))

    def delete(self, node: str) -> None:
        self.files.delete(self._path(node))

    def _path(self, node: str) -> str:
        return self.layout.watermark(self.job, node)


def node_of(scan: Scan) -> str:
    """What the watermark of a scan is called."""
    return scan.uid or scan.name


def incremental_scans(plan: Plan) -> tuple[tuple[Scan, Incremental], ...]:
    """The scans that read only what is new, and what the job asks of them."""
    found = ((node, incremental_of(node.options)) for node in plan.nodes() if isinstance(node, Scan))
    return tuple((scan, asked) for scan, asked in found if asked is not None)


def order_of(scan: Scan, asked: Incremental) -> str:
    """The column by which a scan is read, or what its source has instead."""
    own = own_order_of(scan.connector, scan.options)
    return asked.column or (own.name if own is not None else "")


def starts(plan: Plan, watermarks: Watermarks, run_id: str | None = None) -> dict[str, Since]:
    """Where each incremental scan begins, by its name. A run that has moved a watermark reads the same rows again.

    Raises PEN5015 where a watermark was recorded for another column or location: it says nothing of what is read now.
    """
    diagnostics = Diagnostics()
    found = {}
    for scan, asked in incremental_scans(plan):
        recorded = watermarks.read(node_of(scan))
        if recorded is None:
            found[scan.name] = Since()
            continue
        for what, then, now in (
            ("column", recorded.column, order_of(scan, asked)),
            ("location", recorded.location, location_of(scan)),
        ):
            if then is not None and now is not None and then.lower() != now.lower():
                message = f"the watermark of `{scan.name}` was recorded for the {what} `{then}`, not `{now}`"
                help = (
                    f"`penstock state JOB --reset {node_of(scan)}` begins anew, `--to VALUE` beside it continues "
                    "after that value"
                )
                diagnostics.error("PEN5015", message, scan.options.span("incremental"), help)
        is_own = recorded.run_id == run_id
        found[scan.name] = Since(recorded.previous, recorded.value) if is_own else Since(recorded.value)
    if diagnostics.has_errors:
        raise RunError(diagnostics)
    return found


def moved(job: str, scan: Scan, since: Since, reached: ReadProgress | None, run_id: str) -> HighWatermark | None:
    """The watermark once a run has committed what it read; None where it stays."""
    asked = incremental_of(scan.options)
    if asked is None or reached is None or since.until is not None or reached == since.after:
        return None
    return HighWatermark(
        job, node_of(scan), order_of(scan, asked), location_of(scan), reached, since.after, run_id, _now()
    )


def reset(watermarks: Watermarks, scan: Scan, asked: Incremental, value: str | None) -> None:
    """Forget how far a source was read; with a value, continue after that."""
    if value is None:
        watermarks.delete(node_of(scan))
        return
    location = location_of(scan)
    own = (watermarks.job, node_of(scan), order_of(scan, asked), location, ReadProgress(value), None, "", _now())
    watermarks.write(HighWatermark(*own))


def refuse_moved(layout: StateLayout, moves: Iterable[HighWatermark]) -> None:
    """Raise PEN5305 where a watermark is no longer what this run began from: another run has read the same rows."""
    for watermark in moves:
        now = Watermarks(layout, watermark.job).read(watermark.node)
        if (None if now is None else now.value) != watermark.previous:
            message = f"the watermark of `{watermark.node}` has changed since this run read it"
            raise run_error("PEN5305", message, None, "run the job again")


def move(layout: StateLayout, moves: Iterable[HighWatermark]) -> None:
    """Record new watermarks; doing it again changes nothing."""
    for watermark in moves:
        Watermarks(layout, watermark.job).write(watermark)


def location_of(scan: Scan) -> str | None:
    """What a scan reads, as far as its options say."""
    path = scan.options.get("path")
    return scan.connector.origin(scan.options, scan.table) or (target_folder(path) if isinstance(path, str) else None)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
