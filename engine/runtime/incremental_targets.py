"""Whether the targets of incremental sources are those that their watermarks were recorded for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.tables.savemode import WriteMode
from connectors.interface.incremental import Since
from engine.compile import Compiled, compile_job
from engine.job.root import root_of
from engine.plan.building.write_nodes import replaces
from engine.spark.writing.sink_checks import SinkCheck
from engine.state.incremental_reads import IncrementalRead, JobFile, state_name, unread
from engine.state.layout import StateLayout
from engine.state.watermarks import HighWatermark, WatermarkKey, has_fed


@dataclass(frozen=True, eq=False, slots=True)
class IncrementalReads:
    """The incremental sources of a run; `is_full`: they are read from the start, whatever is recorded."""

    reads: tuple[IncrementalRead, ...] = ()
    is_full: bool = False

    @property
    def keys(self) -> frozenset[WatermarkKey]:
        return frozenset(key for read in self.reads for key in read.keys.values())

    @property
    def starts(self) -> Mapping[str, Since]:
        """Where each begins, by the name of its scan."""
        return {read.scan.name: read.since for read in self.reads}

    def of(self, scan: str) -> IncrementalRead:
        return next(read for read in self.reads if read.scan.name == scan)


def incarnations(checks: Sequence[SinkCheck]) -> Mapping[str, str | None]:
    """What identifies the targets of writes, by their names; of one that the write replaces, it changes."""
    return {check.write.name: None if replaces(check.write) else check.state.incarnation for check in checks}


def refuse_lost_targets(layout: StateLayout, incremental: IncrementalReads, checks: Sequence[SinkCheck]) -> None:
    """Report targets that lack what was written to them (PEN5204), those to which everything would be added again
    (PEN5205), and those that have rows though no run of the state directory has read a source for them (PEN5464)."""
    diagnostics = Diagnostics()
    for check in checks:
        for read in (read for read in incremental.reads if check.write.name in read.keys):
            key = read.keys[check.write.name]
            recorded = read.recorded.get(key)
            if incremental.is_full:
                _refuse_repeated(check, read, diagnostics)
            elif read.earlier is not None or (recorded is not None and recorded.run_id):  # else the user has set it
                _refuse_lost(check, read, recorded, diagnostics)
            elif recorded is None and read.asked.initial is None and not has_fed(layout, key):
                _refuse_unknown_rows(check, read, diagnostics)
    if diagnostics.has_errors:
        raise RunError(diagnostics)


def _refuse_lost(
    check: SinkCheck, read: IncrementalRead, recorded: HighWatermark | None, diagnostics: Diagnostics
) -> None:
    state, write = check.state, check.write
    if not state.is_known or replaces(write):
        return
    then = recorded.incarnation if recorded is not None else None
    was_replaced = state.exists and None not in (then, state.incarnation) and then != state.incarnation
    if state.exists and not was_replaced:
        return
    value = "" if read.since.after is None else f" up to {read.since.after.value}"
    message = (
        f"`{read.scan.written_name}` was read for the target of `{write.name}`{value}, and that target "
        f"{'was replaced by another since' if was_replaced else 'is not there any more'}: it would lack those rows"
    )
    help = (
        f"`penstock run JOB --full-refresh` reads everything again; `penstock state JOB --reset "
        f"{state_name(read.scan)} --to VALUE` continues after that value"
    )
    diagnostics.error("PEN5204", message, write.options.span("path"), help)


def is_first(incremental: IncrementalReads) -> bool:
    """Whether a source is read from the start, so that a target must be looked at for rows."""
    return any(not read.recorded and read.earlier is None for read in incremental.reads)


def _refuse_unknown_rows(check: SinkCheck, read: IncrementalRead, diagnostics: Diagnostics) -> None:
    """All rows of the source would be added: a second time, if the state directory is lost or another one."""
    if not _adds_to_rows(check):
        return
    message = (
        f"no run of this state directory has read `{read.scan.written_name}`, and the target of `{check.write.name}` "
        "has rows: if they were read with another one, they would be added again"
    )
    help = (
        f"`penstock state JOB --reset {state_name(read.scan)} --to VALUE` continues after a value; `incremental {{ "
        "initial = VALUE }` begins at one; `write_mode = upsert` replaces rows with the same key"
    )
    diagnostics.error("PEN5464", message, read.scan.options.span("incremental"), help)


def _adds_to_rows(check: SinkCheck) -> bool:
    is_added = check.write.write_mode is WriteMode.APPEND and not replaces(check.write)
    return is_added and check.state.is_known and check.state.exists and check.state.has_rows


def _refuse_repeated(check: SinkCheck, read: IncrementalRead, diagnostics: Diagnostics) -> None:
    write = check.write
    if not _adds_to_rows(check):
        return
    message = (
        f"a full refresh reads all rows of `{read.scan.written_name}`, and `{write.name}` would add them to those that "
        "its target has"
    )
    help = (
        "`write_mode = upsert` replaces rows with the same key; or write to another target. `data_save_mode = "
        "DROP_DATA` writes all rows anew, and the target's rows are lost"
    )
    diagnostics.error("PEN5205", message, write.options.span("data_save_mode"), help)


def refuse_shared_watermarks(compiled: Compiled, incremental: IncrementalReads) -> None:
    """Report PEN5206 where another job, which is still there, has a source of the same name that reads and writes the
    same: each would skip what the other has read."""
    diagnostics = Diagnostics()
    for read in incremental.reads:
        for watermark in read.recorded.values():
            if watermark.file != read.job.file and _has_key(compiled, watermark):
                message = (
                    f"`{read.scan.written_name}` of `{read.job.file}` and of `{watermark.file}` read and write the "
                    "same, and would share one watermark: each would skip what the other has read"
                )
                help = "give one of them a `uid` of its own; or move away the file that is no job any more"
                diagnostics.error("PEN5206", message, read.scan.options.span("incremental"), help)
                break
    if diagnostics.has_errors:
        raise RunError(diagnostics)


def _has_key(compiled: Compiled, watermark: HighWatermark) -> bool:
    """Whether the job that recorded a watermark is there, and would move it again."""
    path = root_of(compiled.path) / watermark.file
    if not path.is_file():
        return False  # it was renamed
    other = compile_job(path, compiled.settings, Diagnostics())
    return other is not None and watermark.key in set(_keys(unread(other.plan, JobFile.of(other.plan.env.name, path))))


def _keys(reads: Iterable[IncrementalRead]) -> Iterator[WatermarkKey]:
    for read in reads:
        yield from read.keys.values()
