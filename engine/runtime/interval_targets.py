"""Whether the targets of intervals are those to which the intervals before were written."""

from collections.abc import Mapping, Sequence

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from engine.spark.writing.sink_checks import SinkCheck
from engine.state.interval_ledger import DoneInterval, any_record
from engine.state.layout import StateLayout


def refuse_lost_intervals(
    layout: StateLayout, intervals: Mapping[str, tuple[DoneInterval, ...]], checks: Sequence[SinkCheck]
) -> None:
    """Report targets that are not there although runs have written intervals to them (PEN5424)."""
    diagnostics = Diagnostics()
    for check in checks:
        records = intervals.get(check.write.name, ())
        state = check.state
        if not records or not state.is_known or state.exists:
            continue
        done = any_record(layout, records[0].key)
        if done is None or not done.run_id:  # else the user has set it
            continue
        message = (
            f"intervals up to {done.interval.end:%Y-%m-%d %H:%M} were written to the target of `{check.write.name}`, "
            "and it is not there any more: it would lack their rows"
        )
        help = "`penstock state JOB --missing` counts all intervals as not done: the next run does them again"
        diagnostics.error("PEN5424", message, check.write.options.span("path"), help)
    if diagnostics.has_errors:
        raise RunError(diagnostics)
