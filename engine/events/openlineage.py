"""A listener that reports a run to OpenLineage: its start, its end, its datasets, and the lineage of every column."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from catalog.diagnostics.diagnostic import run_error
from catalog.distribution import pip_install
from engine.events.event import Event
from engine.job.model.job import ListenerConfig
from engine.plan.nodes import Plan
from engine.plan.rendering.openlineage_datasets import PRODUCER, to_openlineage

if TYPE_CHECKING:
    from openlineage.client.event_v2 import InputDataset, OutputDataset, RunEvent

_TYPES = {
    "RUNNING": "START",
    "FINISHED": "COMPLETE",
    "FAILED": "FAIL",
    "CANCELED": "ABORT",
}


class OpenLineageListener:
    """Sends events of the job, not of its pipelines, by openlineage-python."""

    def __init__(self, config: ListenerConfig, token: str | None, plan: Plan) -> None:
        if find_spec("openlineage") is None:
            raise run_error(
                "PEN9003", "the listener `openlineage` needs openlineage-python", None, pip_install("openlineage")
            )
        from openlineage.client import OpenLineageClient
        from openlineage.client.transport.http import HttpConfig, HttpTransport

        self.name = f"openlineage {config.url}"
        self.timeout = config.timeout
        self._namespace = config.namespace
        self._lineage: dict[str, Any] = to_openlineage(plan)
        self._sinks = [write.name for write in plan.writes]
        settings: dict[str, Any] = {"url": config.url, "timeout": config.timeout, "retry": {"total": config.retries}}
        if token:
            settings["auth"] = {"type": "api_key", "apiKey": token}
        self._client = OpenLineageClient(transport=HttpTransport(HttpConfig.from_dict(settings)))

    def notify(self, event: Event) -> None:
        if event.pipeline is None and event.state in _TYPES:
            self._client.emit(self.run_event(event))

    def run_event(self, event: Event) -> "RunEvent":
        from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
        from openlineage.client.facet_v2 import error_message_run

        facets: dict[str, Any] = {}
        if event.cause and event.state == "FAILED":
            facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(
                message=event.cause, programmingLanguage="SQL"
            )
        return RunEvent(
            eventType=RunState[_TYPES[event.state]],
            eventTime=event.time,
            producer=PRODUCER,
            run=Run(run_id(event), facets),
            job=Job(self._namespace, event.job),
            inputs=[self._input(dataset) for dataset in self._lineage["inputs"]],
            outputs=[
                self._output(dataset, event, sink)
                for dataset, sink in zip(self._lineage["outputs"], self._sinks, strict=True)
            ],
        )

    def _input(self, dataset: dict[str, Any]) -> "InputDataset":
        from openlineage.client.event_v2 import InputDataset

        return InputDataset(dataset["namespace"], dataset["name"], facets=_facets(dataset))

    def _output(self, dataset: dict[str, Any], event: Event, sink: str) -> "OutputDataset":
        from openlineage.client.event_v2 import OutputDataset
        from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

        counts: Any = event.counts.get("sinks") or {}
        own = counts.get(sink) or {}
        facets: dict[str, Any] = {}
        if own.get("rows") is not None:
            facets["outputStatistics"] = statistics.OutputStatisticsOutputDatasetFacet(own["rows"], own.get("bytes"))
        return OutputDataset(dataset["namespace"], dataset["name"], facets=_facets(dataset), outputFacets=facets)


def run_id(event: Event) -> str:
    """OpenLineage knows a run by a UUID: that of our run id, the same each time."""
    return str(uuid5(NAMESPACE_URL, f"{PRODUCER}/{event.job}/{event.run_id}"))


def _facets(dataset: dict[str, Any]) -> dict[str, Any]:
    from openlineage.client.facet_v2 import column_lineage_dataset as lineage
    from openlineage.client.facet_v2 import schema_dataset

    found = dataset["facets"]
    columns_of = found["schema"]["fields"]
    fields = [schema_dataset.SchemaDatasetFacetFields(column["name"], column["type"]) for column in columns_of]
    facets: dict[str, Any] = {"schema": schema_dataset.SchemaDatasetFacet(fields)}
    if "columnLineage" in found:
        columns = {
            name: lineage.Fields([_field(origin) for origin in column["inputFields"]])
            for name, column in found["columnLineage"]["fields"].items()
        }
        facets["columnLineage"] = lineage.ColumnLineageDatasetFacet(columns)
    return facets


def _field(origin: dict[str, Any]) -> Any:
    from openlineage.client.facet_v2 import column_lineage_dataset as lineage

    steps = [lineage.Transformation(**step) for step in origin["transformations"]]
    return lineage.InputField(origin["namespace"], origin["name"], origin["field"], steps)
