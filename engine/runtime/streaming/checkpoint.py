"""What a stream leaves between two runs: Spark's checkpoint, and next to it whose it is.

<folder>/<uid or name>/stream.json    the stream's id, the sources that it reads, and what keeps state over them
<folder>/<uid or name>/checkpoint     Spark's: offsets and commits by micro-batch, and the state

The name is that of the source or, where state is kept, of the transform whose rows the micro-batches are. A changed job
goes on from its checkpoint, or is refused with the reason: `open_checkpoint`.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostic, RunError, Severity, run_error
from connectors.interface.source import StreamState
from connectors.storage.filesystem import Files, as_uri, files_at
from engine.plan.nodes import Native, Node, Plan, Query, Write, children, plugin_of
from engine.plan.shown_options import shown
from engine.plan.streams import StreamPlan, streaming_source
from engine.state.file_names import file_name
from engine.state.layout import StateLayout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LOG_OFFSET: Final = '{"logOffset":'

_NOTHING_YET: Final = "-"
"""The offsets of a source of which nothing has been read, where others have been."""


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """The stream that a checkpoint belongs to. `stream` is its id; `connector` and `identity`
    are of its first source, `others` of those after it; `order`: the sources by their numbers, as Spark lists them;
    `state`: what keeps state, one text each; `made`: what identifies the topics that it reads, each with the number of
    its source and its name; `sinks` are where its last run wrote to (None: a version of Penstock that did not record
    them)."""

    stream: str
    job: str
    connector: str
    identity: str
    sinks: tuple[str, ...] | None = None
    others: tuple[tuple[str, str], ...] = ()
    state: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    made: tuple[tuple[int, str, str], ...] = ()

    @property
    def sources(self) -> tuple[tuple[str, str], ...]:
        return ((self.connector, self.identity), *self.others)


@dataclass(frozen=True, eq=False, slots=True)
class Checkpoint:
    """One stream's checkpoint in `folder`; `is_new`: no run has begun it. `warnings`: what a changed job makes of it.
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

    def begin(self, order: Sequence[int] = ()) -> None:
        """Record whose checkpoint it is, and forget what is no longer read, before Spark goes on from it. `order`: the
        sources by their numbers, as Spark lists them."""
        record = replace(self.record, order=tuple(order))
        self.files.write(f"{self.folder}/stream.json", json.dumps(asdict(record)))
        if self.kept is not None and self.kept[0] == self.last_batch:  # else Spark has gone on already
            last, offsets = self.kept
            path = f"{self.folder}/checkpoint/offsets/{last}"
            lines = self.files.read(path).split("\n")
            self.files.delete(f"{self.folder}/checkpoint/offsets/.{last}.crc")  # of the text before
            self.files.write(path, "\n".join([*lines[:2], offsets, *lines[3:]]))

    def offsets(self, batch: int) -> tuple[str, ...]:
        """The offsets at which a micro-batch ends, as Spark has them for each source; none where there is no such
        batch."""
        return tuple(self._lines(batch)[2:])

    def contents(self, batch: int) -> str:
        """What identifies the rows of a micro-batch: the offsets between which they are, and the files that Spark's
        file source numbers instead, which begin again at 0 with a new checkpoint."""
        before, after = self.offsets(batch - 1), self.offsets(batch)
        files = [self._listed(number, offset) for number, offset in enumerate(after) if offset.startswith(_LOG_OFFSET)]
        return json.dumps([before, after, files])

    def _listed(self, source: int, offset: str) -> list[str]:
        """The entries of the last step of a file source's log, which Spark compacts from time to time."""
        number = json.loads(offset)["logOffset"]
        path = f"{self.folder}/checkpoint/sources/{source}/{number}"
        found = next((each for each in (path, f"{path}.compact") if self.files.exists(each)), None)
        lines = self.files.read(found).rstrip("\n").split("\n")[1:] if found is not None else []
        return sorted(line for line in lines if json.loads(line).get("batchId") == number)

    def source_state(self, *, ends: bool) -> StreamState:
        """What the only source of the stream may keep, and where it is."""
        last = self.last_batch
        reached = None if last is None else next(iter(self.offsets(last)), None)
        before = next(iter(self.offsets(last - 1)), None) if last else None
        return StreamState(f"{self.folder}/source", before, reached, ends)

    @property
    def shuffle_partitions(self) -> str | None:
        """The number of partitions that the state is in; None before the first micro-batch."""
        lines = self._lines(self.last_batch) if self.last_batch is not None else []
        conf = json.loads(lines[1]).get("conf", {}) if len(lines) > 1 else {}
        return conf.get("spark.sql.shuffle.partitions")

    def _lines(self, batch: int) -> list[str]:
        path = f"{self.folder}/checkpoint/offsets/{batch}"
        return self.files.read(path).rstrip("\n").split("\n") if self.files.exists(path) else []

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
    spark: "SparkSession | None", layout: StateLayout, stream: StreamPlan, *, others: Collection[str] = ()
) -> Checkpoint:
    """The checkpoint of a stream, new or to go on from. `others`: the folders of the job's other streams.

    Raises PEN5060 where the checkpoint is of another source, of this one under another name, or of other state, and
    where what the source no longer reads is not settled.
    """
    files, root = files_at(spark, checkpoints_of(stream.plan, layout))
    own = _own_record(stream)
    folder = _folder(files, root, stream, own, others)
    found = _record(files, folder)
    if found is None:
        _refuse_renamed(files, root, stream, own, {*others, folder_of(stream)})
        return Checkpoint(files, folder, own, True)
    span = stream.head.span
    if not _reads_same(stream, found, own):
        message = f"`{stream.name}` reads {_sources(own)}, but its checkpoint `{folder}` is of {_sources(found)}"
        help = "name another checkpoint to start anew: `env { stream.checkpoint = … }`, or give the source a `uid`"
        raise run_error("PEN5060", message, span, help)
    if found.state != own.state:
        message = (
            f"what keeps state for `{stream.name}` has changed, and its checkpoint `{folder}` has the state of before"
        )
        help = "name another checkpoint to start anew, without state: `env { stream.checkpoint = … }`"
        raise run_error("PEN5060", message, span, help)
    record = replace(found, identity=own.identity, others=own.others, sinks=own.sinks)
    checkpoint = Checkpoint(files, folder, record, False, tuple(_new_sinks(found, stream.plan)))
    return _with_kept_partitions(_without_unread(checkpoint, stream), stream)


def with_incarnations(spark: "SparkSession", checkpoint: Checkpoint, stream: StreamPlan) -> Checkpoint:
    """The checkpoint, with what identifies the topics of its stream. Raises PEN5263 where one was deleted and made anew
    since: the offsets are of the old one."""
    made = {(number, name): id for number, name, id in checkpoint.record.made}
    for number, scan in enumerate(stream.scans):
        for name, id in streaming_source(scan).stream_incarnations(spark, scan.options).items():
            if checkpoint.has_batches and made.get((number, name), id) != id:
                message = (
                    f"`{name}`, which `{scan.name}` reads, was deleted and made anew: the checkpoint "
                    f"`{checkpoint.folder}` has offsets of the one before"
                )
                help = "name another checkpoint to start anew: `env { stream.checkpoint = … }`"
                raise run_error("PEN5263", message, scan.span, help)
            made[number, name] = id
    listed = tuple((number, name, id) for (number, name), id in sorted(made.items()))
    return replace(checkpoint, record=replace(checkpoint.record, made=listed))


def checkpoints_of(plan: Plan, layout: StateLayout) -> str:
    """The directory of a job's checkpoints."""
    chosen = plan.env.options.get("stream.checkpoint") if plan.env.options else None
    return str(chosen) if chosen else as_uri(layout.checkpoints(plan.env.name))


def folder_of(stream: StreamPlan) -> str:
    return file_name(stream.head.uid or stream.head.written_name)


def _folder(files: Files, root: str, stream: StreamPlan, own: StreamRecord, others: Collection[str]) -> str:
    """The folder of a stream's checkpoint, or the one that earlier versions gave it, if that is there and its own."""
    named = folder_of(stream)
    folder, readable = f"{root}/{named}", _earlier_name(stream.head.uid or stream.head.written_name)
    if _record(files, folder) is not None or any(other.startswith(f"{readable}-") for other in {*others} - {named}):
        return folder
    parent = root.rpartition("/")[0]
    names = (readable, *(() if stream.head.uid else (f"{readable}_unchecked",)))  # of a source with expectations
    old_root = f"{parent}/{_earlier_name(own.job)}"
    for earlier in (*(f"{root}/{name}" for name in names), *(f"{old_root}/{name}" for name in (named, *names))):
        found = _record(files, earlier)
        if found is not None and found.job == own.job and _reads_same(stream, found, own):
            return earlier
    return folder


def _earlier_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", text) or "_"


def _own_record(stream: StreamPlan) -> StreamRecord:
    plan = stream.plan
    (connector, identity), *others = [
        (scan.connector.name, streaming_source(scan).stream_identity(scan.options)) for scan in stream.scans
    ]
    sinks = tuple(sorted(write.target for write in plan.writes))
    state = (*(_state_of(node) for node in stream.stateful), *(f"late rows of {node.node}" for node in stream.late))
    return StreamRecord(
        _stream_id(stream, connector, identity), plan.env.name, connector, identity, sinks, tuple(others), state
    )


def _stream_id(stream: StreamPlan, connector: str, identity: str) -> str:
    """What marks in targets call the stream: the same where its checkpoint is lost, so that a stream that begins again
    finds what it has written; another one for a checkpoint that the job names."""
    plan, head = stream.plan, stream.head.uid or stream.head.written_name
    chosen = plan.env.options.get("stream.checkpoint") if plan.env.options else None
    digest = sha256(json.dumps([plan.env.name, head, connector, identity, chosen], default=str).encode()).hexdigest()
    return f"{file_name(head)[:40]}-{digest[:12]}"


def _state_of(node: Node) -> str:
    """What the state of a node depends on: what it does, and the types of the columns that it names."""
    if isinstance(node, Query):
        does = node.analysis.fingerprint
    else:
        options = shown(node.options) if isinstance(node, Native) else {}
        does = f"{plugin_of(node)} {json.dumps(options, sort_keys=True, default=str)}"
    words = {word.lower() for word in re.findall(r"\w+", does)}
    is_all = _ALL_COLUMNS.search(does) is not None
    types = (
        f"{column.name} {column.type}"
        for child in children(node)
        for column in child.table.columns
        if is_all or column.name.lower() in words
    )
    return f"{does} of {', '.join(types)}"


_ALL_COLUMNS: Final = re.compile(r"(?i)(select|distinct|all|,|[.]) [*]")
"""In a fingerprint, with a space between its words: `count ( * )` and products are others."""


def _record(files: Files, folder: str) -> StreamRecord | None:
    path = f"{folder}/stream.json"
    if not files.exists(path):
        return None
    values = json.loads(files.read(path))
    sinks = values.get("sinks")
    others = tuple((connector, identity) for connector, identity in values.get("others", ()))
    lists = {
        "sinks": None if sinks is None else tuple(sinks),
        "others": others,
        "state": tuple(values.get("state", ())),
        "made": tuple((number, name, made) for number, name, made in values.get("made", ())),
    }
    return StreamRecord(**{**values, **lists})


def _reads_same(stream: StreamPlan, found: StreamRecord, own: StreamRecord) -> bool:
    return len(found.sources) == len(own.sources) and all(
        before[0] == now[0] and streaming_source(scan).is_same_stream(before[1], now[1])
        for scan, before, now in zip(stream.scans, found.sources, own.sources, strict=True)
    )


def _sources(record: StreamRecord) -> str:
    return " and ".join(f"{connector} `{identity}`" for connector, identity in record.sources)


def _refuse_renamed(files: Files, root: str, stream: StreamPlan, own: StreamRecord, in_use: Collection[str]) -> None:
    """Refuse to begin anew where there is a checkpoint of the same source that no stream of the job uses."""
    for name in files.children(root):
        record = None if name in in_use else _record(files, f"{root}/{name}")
        if record is None or not _reads_same(stream, record, own):
            continue
        left = Checkpoint(files, f"{root}/{name}", record, False)
        offsets = left.offsets(left.last_batch) if left.last_batch is not None else ()
        if any(_parsed(kept) != {} for kept in _kept(stream, record, offsets)):
            message = (
                f"`{stream.name}` has no checkpoint, and that of `{name}`, which reads the same, has no source now"
            )
            help = f"`uid = {name}` goes on from it; `env {{ stream.checkpoint = … }}` starts anew, elsewhere"
            raise run_error("PEN5060", message, stream.head.span, help)


def _kept(stream: StreamPlan, record: StreamRecord, offsets: Sequence[str]) -> list[str]:
    """The offsets of each source, of what it still reads; none before the first micro-batch."""
    if not offsets:
        return []
    order = record.order or (0,) * len(offsets)
    return [
        streaming_source(stream.scans[source]).offsets_still_read(stream.scans[source].options, line)
        if isinstance(_parsed(line), dict)
        else line
        for source, line in zip(order, offsets, strict=True)
    ]


def _parsed(offsets: str) -> object:
    return {} if offsets == _NOTHING_YET else json.loads(offsets)


def _without_unread(checkpoint: Checkpoint, stream: StreamPlan) -> Checkpoint:
    """The checkpoint without the offsets of what the source no longer reads."""
    last = checkpoint.last_batch
    offsets = checkpoint.offsets(last) if last is not None else ()
    dropped = ", ".join(
        f"`{name}`"
        for before, after in zip(offsets, _kept(stream, checkpoint.record, offsets), strict=True)
        if isinstance(known := _parsed(before), dict) and isinstance(left := _parsed(after), dict)
        for name in sorted(known.keys() - left.keys())
    )
    if last is None or not dropped:
        return checkpoint
    if len(offsets) > 1:
        message = f"`{stream.name}` no longer reads {dropped}, and joins or unites several streams"
        raise run_error(
            "PEN5060", message, stream.head.span, "name another checkpoint to start anew, or read them still"
        )
    if not checkpoint.is_complete:
        raise _unsettled(dropped, stream)
    message = f"`{stream.name}` no longer reads {dropped}: where reading ended there is forgotten"
    warnings = (*checkpoint.warnings, _changed(message, stream.head))
    return replace(checkpoint, kept=(last, _kept(stream, checkpoint.record, offsets)[0]), warnings=warnings)


def _with_kept_partitions(checkpoint: Checkpoint, stream: StreamPlan) -> Checkpoint:
    """The checkpoint, with a warning where the job asks for another number of partitions than its state is in."""
    name = "spark.sql.shuffle.partitions"
    asked, kept = stream.plan.env.spark.get(name), checkpoint.shuffle_partitions
    if not stream.stateful or asked is None or kept is None or asked == kept:
        return checkpoint
    message = f"the state of `{stream.name}` is in {kept} partitions, and stays so: `{name} = {asked}` has no effect"
    return replace(checkpoint, warnings=(*checkpoint.warnings, _changed(message, stream.head)))


def _unsettled(dropped: str, stream: StreamPlan) -> RunError:
    message = f"`{stream.name}` no longer reads {dropped}, and its last micro-batch, which did, has not ended"
    return run_error("PEN5060", message, stream.head.span, "run the job once as it was; then leave them out")


def _new_sinks(found: StreamRecord, plan: Plan) -> list[Diagnostic]:
    if found.sinks is None:
        return []
    return [
        _changed(f"`{write.name}` is new: it receives what arrives from now on", write)
        for write in plan.writes
        if write.target not in found.sinks
    ]


def _changed(message: str, node: Node | Write) -> Diagnostic:
    return Diagnostic("PEN5061", message, node.span, None, Severity.WARNING)
