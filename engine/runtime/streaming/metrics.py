"""The metrics of a streaming run in Prometheus' text format, as its textfile collector and its scrapers read it."""

from collections.abc import Iterator, Sequence

from engine.runtime.counting.prometheus import Metric, as_text
from engine.runtime.streaming.totals import StreamTotals


def prometheus_text(job: str, run_id: str, streams: Sequence[StreamTotals], *, is_running: bool) -> str:
    """The metrics of a run, each with its labels `job`, `run` and `source`."""
    return as_text(_metrics(streams, is_running=is_running), {"job": job, "run": run_id})


def _metrics(streams: Sequence[StreamTotals], *, is_running: bool) -> Iterator[Metric]:
    yield "penstock_stream_running", "gauge", "Whether the run goes on.", [({}, float(is_running))]
    yield (
        "penstock_stream_batches_total", "counter", "Micro-batches that were committed.",
        [({"source": stream.source}, stream.batches) for stream in streams],
    )  # fmt: skip
    yield (
        "penstock_stream_rows_read_total", "counter", "Rows that were read.",
        [({"source": read.source}, read.rows or 0) for stream in streams for read in tuple(stream.reads.values())],
    )  # fmt: skip
    left_out = [
        ({"source": read.source}, read.left_out)
        for stream in streams for read in tuple(stream.reads.values()) if read.left_out
    ]  # fmt: skip
    if left_out:
        meaning = "Records that were left out because they do not fit."
        yield "penstock_stream_records_left_out_total", "counter", meaning, left_out
    yield (
        "penstock_stream_rows_written_total", "counter", "Rows that were written.",
        [({"source": stream.source, "sink": write.sink}, write.rows or 0)
         for stream in streams for write in tuple(stream.writes.values())],
    )  # fmt: skip
    yield (
        "penstock_stream_late_rows_total", "counter", "Rows that came later than the watermark, and were left out.",
        [({"source": stream.source}, stream.late + stream.left_out) for stream in streams],
    )  # fmt: skip
    known = [(stream.source, stream.progress) for stream in streams if stream.progress is not None]
    yield (
        "penstock_stream_latency_seconds", "gauge", "Seconds from the start of the last micro-batch to its commit.",
        [({"source": source}, progress.seconds) for source, progress in known],
    )  # fmt: skip
    yield (
        "penstock_stream_lag_records", "gauge", "Records that had arrived and were not in the last micro-batch.",
        [({"source": source}, progress.lag) for source, progress in known if progress.lag is not None],
    )  # fmt: skip
