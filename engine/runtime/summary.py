"""The table at the end of a run."""

import os
import sys
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console
from rich.table import Table

from engine.runtime.results import JobResult, PipelineResult
from engine.runtime.states import State

HEADINGS = ("", "rows read", "bytes read", "rows written", "filtered", "rejected", "seconds")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_UNSEEN_WIDTH = 140
"""Columns where the output is no terminal, which could tell its width."""


def print_summary(result: JobResult, stream: TextIO | None = None) -> None:
    """One table per job: a line for each source and sink, by pipelines, and a last line that says how the job ended."""
    out = console(stream)
    table = Table(title=f"{result.job} · run {result.run_id}", title_justify="left", box=None, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading else "left", no_wrap=bool(heading))
    for pipeline in result.pipelines:
        for row in _rows(pipeline):
            table.add_row(*row)
    out.print(table)
    out.print(_last_line(result))


def console(stream: TextIO | None = None) -> Console:
    """Where tables are printed; as wide as the terminal, and wide enough where there is none."""
    out = stream or sys.stdout
    width = None if out.isatty() or "COLUMNS" in os.environ else _UNSEEN_WIDTH
    return Console(file=out, width=width, highlight=False)


def _rows(pipeline: PipelineResult) -> Iterator[tuple[str, ...]]:
    tries = f", {pipeline.attempts} tries" if pipeline.attempts > 1 else ""
    state = "" if pipeline.state is State.FINISHED else f" {pipeline.state.value}"
    yield (f"pipeline {pipeline.name}{state}{tries}", "", "", "", "", "", f"{pipeline.seconds:.1f}")
    for read in pipeline.reads:
        passes = f" ({read.passes} passes)" if read.passes > 1 else ""
        yield (f"  {read.source}{passes}", _count(read.rows), size(read.bytes), "", "", "", "")
    for write in pipeline.writes:
        numbers = (_count(write.rows), _count(write.filtered), _count(write.rejected))
        yield (f"  {write.sink}{_arrow(write.target)}", "", "", *numbers, "")


def _arrow(target: str | None) -> str:
    return f" → {target}" if target else ""


def _last_line(result: JobResult) -> str:
    written = sum(write.rows or 0 for write in result.writes)
    return f"{result.state.value}: {written:,} rows written in {result.seconds:.1f} s"


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def size(value: int | None) -> str:
    """Bytes in the largest unit that leaves at least one whole: `7.8 MiB`."""
    if value is None:
        return ""
    amount, unit = float(value), _UNITS[0]
    for unit in _UNITS:
        if amount < 1024 or unit == _UNITS[-1]:
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
