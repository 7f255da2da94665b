"""Watermarks of earlier versions of Penstock, which belonged to the name of a job and did not say what was written."""

import re
from collections.abc import Iterable
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from connectors.storage.paths import target_folder
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.nodes import Scan
from engine.state.journal import journal_in
from engine.state.layout import StateLayout
from engine.state.watermarks import EarlierWatermark, WatermarkKey, earlier_name, read_earlier

_PORT: Final = re.compile(r":\d+(?=[/,#])")
"""Earlier versions left out the default port of a database."""


def earlier_watermark(
    layout: StateLayout, scan: Scan, job: str, keys: Iterable[WatermarkKey], diagnostics: Diagnostics
) -> EarlierWatermark | None:
    """The watermark that an earlier version recorded for these targets.

    Reports PEN5203 where its run wrote others, or did not say which: the targets of now may lack what it counts as
    read. Reports PEN5015 where the source read something else then.
    """
    found = next((read for name in _names(scan) if (read := read_earlier(layout, job, name)) is not None), None)
    if found is None:
        return None
    if not _is_of(found, scan):
        message = f"the watermark of `{scan.written_name}` was recorded for `{found.location}`, which it does not read"
        diagnostics.error("PEN5015", message, scan.options.span("incremental"), _ways_on(scan))
        return None
    if {_plain(key.written) for key in keys} <= _targets(layout, found):
        return found
    message = (
        f"an earlier version of Penstock has read `{scan.written_name}` up to {found.value.value}, and did not record "
        "that for these targets"
    )
    diagnostics.error("PEN5203", message, scan.options.span("incremental"), _ways_on(scan))
    return None


def delete_earlier(layout: StateLayout, scan: Scan, job: str) -> None:
    """Forget what earlier versions recorded of a source."""
    for name in _names(scan):
        layout.files.delete(layout.earlier_watermark(earlier_name(job), earlier_name(name)))


def _names(scan: Scan) -> tuple[str, ...]:
    """What earlier versions called a source."""
    return (scan.uid,) if scan.uid else (scan.written_name, f"{scan.written_name}_unchecked", scan.name)


def _ways_on(scan: Scan) -> str:
    return (
        f"where the targets have its rows, `penstock state JOB --reset {scan.uid or scan.written_name} --to VALUE` "
        "continues after that value; `penstock run JOB --full-refresh` reads everything"
    )


def _is_of(watermark: EarlierWatermark, scan: Scan) -> bool:
    """Whether it was recorded for what the scan reads, as far as earlier versions said it."""
    if watermark.location is None:
        return True
    path, dataset = scan.options.get("path"), dataset_of(scan)
    now = {str(dataset)} if dataset is not None else set()
    now |= {target_folder(path)} if isinstance(path, str) else set()
    return _plain(watermark.location) in {_plain(text) for text in now}


def _targets(layout: StateLayout, watermark: EarlierWatermark) -> set[str]:
    """What the run wrote that moved it, as far as its journal is there."""
    try:
        recorded = journal_in(layout, watermark.run_id).read() if watermark.run_id else None
    except RunError:
        recorded = None
    return set() if recorded is None else {_plain(str(Dataset.of(target))) for target in recorded.targets.values()}


def _plain(location: str) -> str:
    return _PORT.sub("", location).lower()
