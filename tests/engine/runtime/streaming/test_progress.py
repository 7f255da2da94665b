"""Lag, latency and metrics of a stream, from what Spark reports."""

from engine.runtime.counting.counts import ReadCount, WriteCount
from engine.runtime.results import JobResult, PipelineResult
from engine.runtime.streaming.metrics import prometheus_text
from engine.runtime.streaming.stream_progress import Progress, parse_progress
from engine.runtime.streaming.totals import StreamTotals
from engine.state.run_state import State

REPORTED = {
    "batchId": 4,
    "durationMs": {"addBatch": 900, "triggerExecution": 1250},
    "sources": [
        {
            "numInputRows": 7,
            "endOffset": {"t": {"0": 10, "1": 5}},
            "latestOffset": {"t": {"0": 12, "1": 5}, "u": {"0": 7}},
        }
    ],
}


def test_the_lag_is_what_has_arrived_and_was_not_read():
    assert parse_progress(REPORTED) == Progress(4, 1.25, 9, (7,))


def test_late_rows_are_those_that_operators_with_state_left_out():
    operators = [{"numRowsDroppedByWatermark": 2}, {"numRowsDroppedByWatermark": 3}, {}]
    totals = StreamTotals("k")
    for number in (4, 5, 5):
        totals.look([parse_progress({**REPORTED, "batchId": number, "stateOperators": operators})], ())
    assert (totals.late, totals.counts["late"]) == (10, 10)
    text = prometheus_text("j", "r", [totals], is_running=True)
    assert 'penstock_stream_late_rows_total{job="j",run="r",source="k"} 10' in text


def test_sources_without_offsets_that_count_have_no_lag():
    files = {**REPORTED, "sources": [{"endOffset": {"logOffset": 1}, "latestOffset": None}]}
    assert parse_progress(files).lag is None
    assert parse_progress({**REPORTED, "sources": [{"endOffset": 3, "latestOffset": 9}]}).lag is None


def test_metrics_as_prometheus_reads_them():
    write = WriteCount("out", 3, None)
    pipeline = PipelineResult("1", State.FINISHED, 1, 0.5, (ReadCount("k", 4, 10, 1),), (write,))
    totals = StreamTotals("k", progress=Progress(1, 0.25, 9))
    for number in range(2):
        totals.add(JobResult("j", f"r.{number}", State.FINISHED, 0.5, (pipeline,)))
    text = prometheus_text('a "job"', "r", [totals], is_running=True)
    lines = text.splitlines()
    assert 'penstock_stream_batches_total{job="a \\"job\\"",run="r",source="k"} 2' in lines
    assert 'penstock_stream_rows_read_total{job="a \\"job\\"",run="r",source="k"} 8' in lines
    assert next(line for line in lines if line.startswith("penstock_stream_rows_written_total{")).endswith(" 6")
    assert 'penstock_stream_lag_records{job="a \\"job\\"",run="r",source="k"} 9' in lines
    assert 'penstock_stream_latency_seconds{job="a \\"job\\"",run="r",source="k"} 0.25' in lines
    assert lines.count("# TYPE penstock_stream_running gauge") == 1
    assert all(line.startswith("#") or line.rpartition(" ")[2].replace(".", "").isdigit() for line in lines)
