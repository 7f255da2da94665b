"""What a stream leaves between two runs: Spark's checkpoint, and beside it whose it is.

<folder>/<source's uid or name>/stream.json    the stream's id, and the source that it reads
<folder>/<source's uid or name>/checkpoint     Spark's: offsets and commits by micro-batch

A changed job goes on from its checkpoint, or is refused with the reason: `open_checkpoint`.
"""

import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from catalog.diagnostics import Diagnostic, RunError, Severity, run_error
from connectors.support.files.filesystem import Files, as_uri, files_at
from engine.plan.nodes import Plan, Scan, Write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """The stream that a checkpoint belongs to. `stream` is the id of the run that began it; `sinks` are where its last
    run wrote to (None: a version of Penstock that did not record them)."""

    stream: str
    job: str
    connector: str
    identity: str
    sinks: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Checkpoint:
    """One pipeline's checkpoint in `folder`; `is_new`: no run has begun it. `warnings`: what a changed job makes of it.
    `kept`: the last micro-batch and where it ended, of what the source still reads; None where it reads all of it."""

    files: Files
    folder: str
    record: StreamRecord
    is_new: bool
    warnings: tuple[Diagnostic, ...] = ()
    kept: tuple[int, str] | None = None

    @property
    def spark_location(self) -> str:
        return as_uri(f"{self.folder}/checkpoint")

    def begin(self) -> None:
        """Record whose checkpoint it is, and forget what is no longer read, before Spark goes on from it."""
        self.files.write(f"{self.folder}/stream.json", json.dumps(asdict(self.record)))
        if self.kept is not None and self.kept[0] == self.last_batch:  # else Spark has gone on already
            last, offsets = self.kept
            path = f"{self.folder}/checkpoint/offsets/{last}"
            lines = self.files.read(path).splitlines()
            self.files.delete(f"{self.folder}/checkpoint/offsets/.{last}.crc")  # of the text before
            self.files.write(path, "\n".join([*lines[:2], offsets, *lines[3:]]))

    def offsets(self, batch: int) -> str | None:
        """The offsets at which a micro-batch ends, as Spark has them; None where there is no such batch."""
        path = f"{self.folder}/checkpoint/offsets/{batch}"
        if not self.files.exists(path):
            return None
        lines = self.files.read(path).splitlines()
        return lines[2] if len(lines) > 2 else None

    @property
    def last_batch(self) -> int | None:
        """The last micro-batch that has begun."""
        return max(self._batches("offsets"), default=None)

    @property
    def is_complete(self) -> bool:
        """Whether Spark has recorded the end of the last micro-batch."""
        return self.last_batch is None or self.last_batch in self._batches("commits")

    @property
    def has_batches(self) -> bool:
        return self.last_batch is not None

    def _batches(self, log: str) -> list[int]:
        folder = f"{self.folder}/checkpoint/{log}"
        return [int(name) for name in self.files.children(folder) if name.isdigit()]


def open_checkpoint(
    spark: "SparkSession | None",
    state: str,
    plan: Plan,
    scan: Scan,
    run_id: str,
    *,
    others: Collection[str] = (),
) -> Checkpoint:
    """The checkpoint of a pipeline, new or to go on from. `others`: the folders of the job's other streams.

    Raises PEN5060 where the checkpoint is of another source, or of this one under another name, and where what the
    source no longer reads is not settled.
    """
    files, root = files_at(spark, checkpoints_of(plan, state))
    folder = f"{root}/{folder_of(scan)}"
    sinks = tuple(sorted(write.connector.target(write.options) or write.name for write in plan.writes))
    own = StreamRecord(run_id, plan.env.name, scan.connector.name, scan.connector.stream_identity(scan.options), sinks)
    found = _record(files, folder)
    if found is None:
        _refuse_renamed(files, root, scan, own, {*others, folder_of(scan)})
        return Checkpoint(files, folder, own, True)
    if not _is_same(scan, found, own):
        message = (
            f"`{scan.name}` reads {own.connector} `{own.identity}`, but its checkpoint `{folder}` is of "
            f"{found.connector} `{found.identity}`"
        )
        help = "name another checkpoint to start anew: `env { stream.checkpoint = … }`, or give the source a `uid`"
        raise run_error("PEN5060", message, scan.span, help)
    checkpoint = Checkpoint(
        files, folder, replace(found, identity=own.identity, sinks=sinks), False, tuple(_new_sinks(found, plan))
    )
    return _without_unread(checkpoint, scan)


def checkpoints_of(plan: Plan, state: str) -> str:
    """The directory of a job's checkpoints."""
    chosen = plan.env.options.get("stream.checkpoint") if plan.env.options else None
    return str(chosen) if chosen else f"{state.rstrip('/')}/streams/{_named(plan.env.name)}"


def folder_of(scan: Scan) -> str:
    return _named(scan.uid or scan.name)


def _record(files: Files, folder: str) -> StreamRecord | None:
    path = f"{folder}/stream.json"
    if not files.exists(path):
        return None
    values = json.loads(files.read(path))
    sinks = values.get("sinks")
    return StreamRecord(**{**values, "sinks": None if sinks is None else tuple(sinks)})


def _is_same(scan: Scan, found: StreamRecord, own: StreamRecord) -> bool:
    is_same = scan.connector.is_same_stream(found.identity, own.identity)
    return found.connector == own.connector and is_same


def _refuse_renamed(files: Files, root: str, scan: Scan, own: StreamRecord, in_use: Collection[str]) -> None:
    """Refuse to begin anew beside a checkpoint of the same source that no source of the job uses."""
    for name in files.children(root):
        record = None if name in in_use else _record(files, f"{root}/{name}")
        if record is None or not _is_same(scan, record, own):
            continue
        left = Checkpoint(files, f"{root}/{name}", record, False)
        offsets = left.offsets(left.last_batch) if left.last_batch is not None else None
        if offsets is not None and json.loads(scan.connector.kept_offsets(scan.options, offsets)) != {}:
            message = f"`{scan.name}` has no checkpoint, and that of `{name}`, which reads the same, has no source now"
            help = f"`uid = {name}` goes on from it; `env {{ stream.checkpoint = … }}` starts anew, elsewhere"
            raise run_error("PEN5060", message, scan.span, help)


def _without_unread(checkpoint: Checkpoint, scan: Scan) -> Checkpoint:
    """The checkpoint without the offsets of what the source no longer reads."""
    last = checkpoint.last_batch
    offsets = checkpoint.offsets(last) if last is not None else None
    kept = scan.connector.kept_offsets(scan.options, offsets) if offsets is not None else None
    if last is None or offsets is None or kept is None or json.loads(kept) == json.loads(offsets):
        return checkpoint
    dropped = ", ".join(f"`{name}`" for name in sorted(json.loads(offsets).keys() - json.loads(kept).keys()))
    if not checkpoint.is_complete:
        raise _unsettled(dropped, scan)
    message = f"`{scan.name}` no longer reads {dropped}: where reading ended there is forgotten"
    return replace(checkpoint, kept=(last, kept), warnings=(*checkpoint.warnings, _changed(message, scan)))


def _unsettled(dropped: str, scan: Scan) -> RunError:
    message = f"`{scan.name}` no longer reads {dropped}, and its last micro-batch, which did, has not ended"
    return run_error("PEN5060", message, scan.span, "run the job once as it was; then leave them out")


def _new_sinks(found: StreamRecord, plan: Plan) -> list[Diagnostic]:
    if found.sinks is None:
        return []
    return [
        _changed(f"`{write.name}` is new: it receives what arrives from now on", write)
        for write in plan.writes
        if (write.connector.target(write.options) or write.name) not in found.sinks
    ]


def _changed(message: str, node: Scan | Write) -> Diagnostic:
    return Diagnostic("PEN5061", message, node.span, None, Severity.WARNING)


def _named(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", text) or "_"
