"""The table at the end of a run."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TextIO

from rich.console import Console
from rich.table import Table

from catalog.diagnostics.shown_names import shown_name, shown_text
from connectors.interface.run_context import RowChanges
from engine.runtime.counting.counts import total
from engine.runtime.results import JobResult, PipelineResult
from engine.state.run_state import State
from engine.terminal.progress_display import MANY

HEADINGS = ("", "rows read", "bytes read", "rows written", "filtered", "rejected", "seconds")
_FALLBACKS = 5
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_UNSEEN_WIDTH = 140
"""The width in characters if the output is not a terminal."""


def print_summary(result: JobResult, stream: TextIO | None = None, *, lists_all: bool = False) -> None:
    """One table per job: a line for each source and sink, by pipelines, and a last line that says how the job ended.

    The pipelines of a set of tables, and many others, are one line with totals, and one that names the failed ones;
    `lists_all` shows each.
    """
    out = console(stream)
    if (result.done and not result.pipelines) or result.intervals == 0:
        out.print(_last_line(result))
        return
    table = Table(title=f"{result.job} · run {result.run_id}", title_justify="left", box=None, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading else "left", no_wrap=bool(heading))
    for pipelines in result.pipelines if lists_all else _by_set(result.pipelines):
        for row in _rows(pipelines) if isinstance(pipelines, PipelineResult) else _set_rows(pipelines):
            table.add_row(*row)
    out.print(table)
    if not lists_all and any(isinstance(pipelines, list) for pipelines in _by_set(result.pipelines)):
        out.print("`--verbose` lists each pipeline", style="dim")
    for line in _native_lines(result, lists_all=lists_all):
        out.print(line, style="dim")
    out.print(_last_line(result))


def print_statistics(result: JobResult, ended: datetime, stream: TextIO | None = None) -> None:
    """The closing statistics of Apache SeaTunnel, for programs that read them; times are local."""
    started = ended - timedelta(seconds=result.seconds)
    rows = {
        "Start Time": f"{started:%Y-%m-%d %H:%M:%S}",
        "End Time": f"{ended:%Y-%m-%d %H:%M:%S}",
        "Total Time(s)": round(result.seconds),
        "Total Read Count": sum(read.rows or 0 for read in result.reads),
        "Total Write Count": sum(write.rows or 0 for write in result.writes),
        "Total Failed Count": sum(write.rejected or 0 for write in result.writes),
    }
    line = "*" * 47
    lines = (line, f"{'Job Statistic Information':>36}", line, *(f"{k:<26}: {v:>19}" for k, v in rows.items()), line)
    print(*lines, sep="\n", file=stream or sys.stdout)


def row_table(names: Iterable[str], rows: Iterable[Iterable[object]]) -> Table:
    """Rows as a table; NULL is shown as `NULL`."""
    table = Table(*map(shown_name, names), box=None, pad_edge=False)
    for row in rows:
        table.add_row(*("NULL" if value is None else shown_text(str(value)) for value in row))
    return table


def console(stream: TextIO | None = None) -> Console:
    """The console for tables; as wide as the terminal, or wide enough without one.

    It prints text as it is: rows and messages may hold `[red]` or `:smile:`, which rich would interpret.
    """
    out = stream or sys.stdout
    width = None if out.isatty() or "COLUMNS" in os.environ else _UNSEEN_WIDTH
    return Console(file=out, width=width, highlight=False, markup=False, emoji=False, color_system=None)


def _by_set(pipelines: Sequence[PipelineResult]) -> Iterator[PipelineResult | list[PipelineResult]]:
    """Pipelines in their order, several of one set as a list at the place of the first."""
    sets: dict[str | None, list[PipelineResult]] = {}
    for pipeline in pipelines:
        sets.setdefault(pipeline.table_set, []).append(pipeline)
    for pipeline in pipelines:
        of_set = sets[pipeline.table_set]
        if len(of_set) < 2 or (pipeline.table_set is None and len(of_set) <= MANY):
            yield pipeline
        elif of_set[0] is pipeline:
            yield of_set


def _set_rows(pipelines: list[PipelineResult]) -> Iterator[tuple[str, ...]]:
    name = pipelines[0].table_set
    tables = sum(len(pipeline.tables) for pipeline in pipelines)
    reads = [read for pipeline in pipelines for read in pipeline.reads]
    writes = [write for pipeline in pipelines for write in pipeline.writes]
    yield (
        f"{len(pipelines)} pipelines" if name is None else f"{name}: {tables} tables",
        _count(total(read.rows for read in reads)),
        size(total(read.bytes for read in reads)),
        _count(total(write.rows for write in writes)),
        _count(total(write.filtered for write in writes)),
        _count(total(write.rejected for write in writes)),
        f"{sum(pipeline.seconds for pipeline in pipelines):.1f}",
    )
    for state in State:
        ended = [shown for pipeline in pipelines if pipeline.state is state for shown in _named(pipeline)]
        if ended and state is not State.FINISHED:
            yield (f"  {len(ended)} {state.value}: {', '.join(ended)}", "", "", "", "", "", "")


def _named(pipeline: PipelineResult) -> tuple[str, ...]:
    return tuple(pipeline.tables) if pipeline.table_set is not None else (pipeline.name,)


def _rows(pipeline: PipelineResult) -> Iterator[tuple[str, ...]]:
    tries = f", {pipeline.attempts} tries" if pipeline.attempts > 1 else ""
    state = "" if pipeline.state is State.FINISHED else f" {pipeline.state.value}"
    yield (f"pipeline {pipeline.name}{state}{tries}", "", "", "", "", "", f"{pipeline.seconds:.1f}")
    for read in pipeline.reads:
        passes = f" ({read.passes} passes)" if read.passes > 1 else ""
        yield (f"  {read.source}{passes}", _count(read.rows), size(read.bytes), "", "", "", "")
    for write in pipeline.writes:
        filtered = "–" if write.filtered is None and write.rows is not None else _count(write.filtered)
        numbers = (_count(write.rows), filtered, _count(write.rejected))
        yield (f"  {write.sink}{_arrow(write.target)}", "", "", *numbers, "")
        if write.changes is not None:
            yield (f"    {_changes(write.changes, write.unchanged)}", "", "", "", "", "", "")


def _changes(changes: RowChanges, unchanged: int | None) -> str:
    shown = f"{changes.inserted:,} inserted, {changes.updated:,} updated, {changes.deleted:,} deleted"
    return shown if unchanged is None else f"{shown}, {unchanged:,} unchanged"


def _native_lines(result: JobResult, *, lists_all: bool) -> Iterator[str]:
    """What an accelerator executed, and why it did not the rest."""
    native = result.native
    if native is None:
        return
    shown = native.fallbacks if lists_all else native.fallbacks[:_FALLBACKS]
    yield from shown_text(replace(native, fallbacks=shown).as_text).splitlines()
    if more := len(native.fallbacks) - len(shown):
        yield f"  and {more} more; `--verbose` lists each"


def _arrow(target: str | None) -> str:
    return f" → {target}" if target else ""


def _last_line(result: JobResult) -> str:
    if result.intervals == 0:
        return f"{result.job}: no interval is due, nothing was written"
    if result.done and not result.pipelines:
        return f"run {result.run_id} is committed already: nothing was written; give a new `--run-id` to run it again"
    before = f"; {result.done} writes of this run were committed before" if result.done else ""
    kept = f"; {result.kept} writes were staged by the killed attempt, and not read again" if result.kept else ""
    return f"{result.state.value}: {_written(result)} in {result.seconds:.1f} s{before}{kept}"


def _written(result: JobResult) -> str:
    writes = list(result.writes)
    written, staged = sum(write.rows or 0 for write in writes), total(write.staged for write in writes)
    if result.state is not State.FAILED or written or (writes and staged is None):
        return f"{written:,} rows written"
    if not staged:
        return "nothing was written"
    is_left = any(warning.code == "PEN5011" for warning in result.warnings)
    return f"nothing was written ({staged:,} rows were staged{'' if is_left else ' and removed'})"


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def size(value: int | None) -> str:
    """Bytes in the largest unit with a value of at least one: `7.8 MiB`."""
    if value is None:
        return ""
    amount, unit = float(value), _UNITS[0]
    for unit in _UNITS:
        if amount < 1024 or unit == _UNITS[-1]:
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
