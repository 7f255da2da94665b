"""The terminal of a command that runs jobs: what it was asked to show, and how it shows it."""

import sys
import traceback
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.masks import Masks
from engine.runtime.attendant import NoProgress, RunProgress
from engine.runtime.interrupts import Interrupts
from engine.runtime.results import JobResult
from engine.terminal.progress_display import shown_progress
from engine.terminal.report import report
from engine.terminal.signals import interrupts_of_run
from engine.terminal.summary import print_statistics, print_summary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class RunTerminal:
    """Attends the runs of a command. `format`: that of errors and warnings, which are shown also if it `is_quiet`.
    `has_statistics`: SeaTunnel's closing lines are printed, too."""

    masks: Masks
    format: str = "text"
    is_quiet: bool = False
    is_verbose: bool = False
    has_statistics: bool = False

    @classmethod
    def of(cls, arguments: Namespace) -> "RunTerminal":
        is_compat = arguments.compat is not None
        return cls(arguments.masks, arguments.format, arguments.quiet, arguments.verbose, is_compat)

    def progress(self, spark: "SparkSession", job: str, pipelines: int) -> AbstractContextManager[RunProgress]:
        if self.is_quiet:
            return nullcontext(NoProgress())
        return shown_progress(spark, job, pipelines, lists_all=self.is_verbose)

    def interrupts(self) -> AbstractContextManager[Interrupts]:
        return interrupts_of_run()

    def starting_spark(self, jars: Sequence[str]) -> None:
        if not self.is_quiet:
            fetching = f"; it fetches {', '.join(jars)} if they are not here yet" if jars else ""
            print(f"starting Spark{fetching}", file=sys.stderr, flush=True)

    def report(self, diagnostics: Iterable[Diagnostic]) -> None:
        if found := list(diagnostics):
            report(found, self.masks, self.format)

    def show_result(self, result: JobResult) -> None:
        if not self.is_quiet:
            print_summary(result, lists_all=self.is_verbose)
            if self.has_statistics:
                print_statistics(result, datetime.now())
        if self.is_verbose:
            for error in result.errors:
                print(self.masks.text("".join(traceback.format_exception(error))), end="", file=sys.stderr)
        self.report([*result.warnings, *result.diagnostics])

    def show_interval(self, label: str, result: JobResult) -> None:
        """One line for a run of a job with intervals."""
        if not self.is_quiet:
            rows = sum(write.rows or 0 for write in result.writes)
            end = f"{result.state.value.lower()}: {rows:,} rows written in {result.seconds:.1f} s"
            print(f"{result.job} {label}: {end}", file=sys.stderr, flush=True)

    def show_jobs(self, paths: Sequence[str], ended: Mapping[str, bool]) -> None:
        """How many of several jobs succeeded, and the names of those not run, also if it is quiet."""
        not_run = [path for path in paths if path not in ended]
        if len(paths) > 1 and not self.is_quiet:
            finished = sum(ended.values())
            print(f"{len(paths)} jobs: {finished} finished, {len(ended) - finished} failed, {len(not_run)} not run")
        if not_run and ended:
            print(f"not run: {', '.join(not_run)}", file=sys.stderr)
