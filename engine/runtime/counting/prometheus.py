"""Metrics in Prometheus' text format, as its textfile collector and its scrapers read it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import time
from typing import Any, Final, TypeAlias

Sample: TypeAlias = tuple[Mapping[str, str], float]
"""Labels, and the value."""
Metric: TypeAlias = tuple[str, str, str, Sequence[Sample]]
"""Name, type, meaning and samples."""


def as_text(metrics: Iterable[Metric], labels: Mapping[str, str]) -> str:
    """The metrics, each sample with `labels` too."""
    lines: list[str] = []
    for name, kind, meaning, samples in metrics:
        lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
        for own, value in samples:
            text = ",".join(f'{label}="{_escaped(of)}"' for label, of in {**labels, **own}.items())
            lines.append(f"{name}{{{text}}} {value:.15g}")
    return "\n".join(lines) + "\n"


def batch_metrics(labels: Mapping[str, str], counts: Mapping[str, Any], *, finished: bool, seconds: float) -> str:
    """The metrics of a batch run that has ended now; `counts`: as they are recorded of the run."""
    return as_text(_of_batch(counts, finished=finished, seconds=seconds), labels)


def _of_batch(counts: Mapping[str, Any], *, finished: bool, seconds: float) -> Iterator[Metric]:
    yield "penstock_run_finished", "gauge", "Whether the last run finished, and did not fail.", [({}, float(finished))]
    yield "penstock_run_ended_timestamp_seconds", "gauge", "When it ended, in Unix time.", [({}, time())]
    yield "penstock_run_duration_seconds", "gauge", "How long it took.", [({}, seconds)]
    for unit in ("rows", "bytes"):
        read, written = _samples("source", counts["sources"], unit), _samples("sink", counts["sinks"], unit)
        yield f"penstock_run_{unit}_read", "gauge", f"{unit.title()} that were read.", read
        yield f"penstock_run_{unit}_written", "gauge", f"{unit.title()} that were written.", written
        rates = [(labels, value / seconds) for labels, value in written if seconds > 0]
        yield f"penstock_run_{unit}_written_per_second", "gauge", f"{unit.title()} in a second of the run.", rates
    for cost, meaning in _COSTS.items():
        yield f"penstock_run_{cost}", "gauge", meaning, _samples("pipeline", counts["pipelines"], cost)


def _samples(label: str, counted: Mapping[str, Mapping[str, Any]], of: str) -> list[Sample]:
    """Those whose count is known."""
    return [({label: name}, float(counts[of])) for name, counts in counted.items() if counts.get(of) is not None]


_COSTS: Final = {
    "cpu_seconds": "CPU time of the tasks.",
    "shuffle_bytes": "Bytes that tasks wrote for others.",
    "spilled_bytes": "Bytes that did not fit into memory.",
}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
