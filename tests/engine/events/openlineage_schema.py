"""What OpenLineage 2 asks of a run event and of the facets that Penstock sends, as a JSON Schema.

Written after the specification (`OpenLineage.json` 2-0-2, `ColumnLineageDatasetFacet` 1-2-0, `SchemaDatasetFacet`
1-1-1, `OutputStatisticsOutputDatasetFacet` 1-0-2, `ErrorMessageRunFacet` 1-0-1), which no package contains.
"""

import re
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from jsonschema import Draft202012Validator, FormatChecker

STRING = {"type": "string"}
FORMATS = FormatChecker(())


@FORMATS.checks("date-time", raises=ValueError)
def _is_time_with_zone(text: object) -> bool:
    return datetime.fromisoformat(re.sub("Z$", "+00:00", str(text))).tzinfo is not None


@FORMATS.checks("uuid", raises=ValueError)
def _is_uuid(text: object) -> bool:
    return str(UUID(str(text))) == text


@FORMATS.checks("uri", raises=ValueError)
def _is_uri(text: object) -> bool:
    return bool(urlsplit(str(text)).scheme)


def record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


def array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def facet(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    uri = {"type": "string", "format": "uri"}
    return record({"_producer": uri, "_schemaURL": uri, **required}, optional)


def facets(**known: dict[str, Any]) -> dict[str, Any]:
    """Known facets by name; any other has at least what every facet has."""
    return {"type": "object", "properties": known, "additionalProperties": facet({})}


TRANSFORMATION = record(
    {"type": {"enum": ["DIRECT", "INDIRECT"]}},
    {"subtype": STRING, "description": STRING, "masking": {"type": "boolean"}},
)
INPUT_FIELD = record({"namespace": STRING, "name": STRING, "field": STRING}, {"transformations": array(TRANSFORMATION)})
DATASET_FACETS = facets(
    schema=facet({}, {"fields": array(record({"name": STRING}, {"type": STRING, "description": STRING}))}),
    columnLineage=facet(
        {"fields": {"type": "object", "additionalProperties": record({"inputFields": array(INPUT_FIELD)})}},
        {"dataset": array(INPUT_FIELD)},
    ),
)
COUNT = {"type": ["integer", "null"], "minimum": 0}
STATISTICS = facet({}, {"rowCount": COUNT, "size": COUNT, "fileCount": COUNT})
DATASET = record({"namespace": STRING, "name": STRING}, {"facets": DATASET_FACETS})
RUN_EVENT = record(
    {
        "eventTime": {"type": "string", "format": "date-time"},
        "producer": {"type": "string", "format": "uri"},
        "schemaURL": {"type": "string", "format": "uri", "pattern": "/spec/2-"},
        "run": record(
            {"runId": {"type": "string", "format": "uuid"}},
            {"facets": facets(errorMessage=facet({"message": STRING, "programmingLanguage": STRING}))},
        ),
        "job": record({"namespace": STRING, "name": STRING}, {"facets": facets()}),
    },
    {
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "inputs": array({**DATASET, "properties": {**DATASET["properties"], "inputFacets": facets()}}),
        "outputs": array(
            {**DATASET, "properties": {**DATASET["properties"], "outputFacets": facets(outputStatistics=STATISTICS)}}
        ),
    },
)
VALIDATOR = Draft202012Validator(RUN_EVENT, format_checker=FORMATS)


def violations(event: Any) -> list[str]:
    """What in an event is not as the specification asks, each with its place."""
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(event)]
