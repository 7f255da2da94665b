"""Outcomes as a validation result of great-expectations, for its data docs."""

import json
from collections.abc import Iterable, Mapping

from catalog.options import Value
from engine.expectations.expectation_outcome import ExpectationOutcome
from engine.expectations.rules import RowCheck


def validation_result(job: str, run_id: str, outcomes: Iterable[ExpectationOutcome]) -> dict[str, Value]:
    """An `ExpectationSuiteValidationResult` of great-expectations 1.x as JSON."""
    results = [_result(outcome) for outcome in outcomes]
    good = sum(bool(result["success"]) for result in results)
    share = 100 * good / len(results) if results else None
    return {
        "success": good == len(results),
        "results": list(results),
        "suite_name": job,
        "suite_parameters": {},
        "statistics": {
            "evaluated_expectations": len(results),
            "successful_expectations": good,
            "unsuccessful_expectations": len(results) - good,
            "success_percent": share,
        },
        "meta": {"run_id": {"run_name": run_id, "run_time": None}, "penstock_job": job},
        "id": None,
    }


def _result(outcome: ExpectationOutcome) -> dict[str, Value]:
    rule, result = outcome.rule, {"element_count": outcome.rows}
    found: dict[str, Value] = dict(result)
    if outcome.unexpected is not None:
        found["unexpected_count"] = outcome.unexpected
        found["unexpected_percent"] = 100 * outcome.unexpected / outcome.rows if outcome.rows else None
    if outcome.observed is not None:
        found["observed_value"] = _plain(outcome.observed)
    meta: Value = {"name": rule.name, "node": outcome.node, "on_violation": rule.on_violation.value}
    kwargs = dict(rule.arguments)
    if isinstance(rule.check, RowCheck) and not kwargs:
        kwargs = {"unexpected_rows_query": f"SELECT * FROM {{batch}} WHERE NOT ({rule.check.predicate})"}
    exception: Value = {"raised_exception": False, "exception_message": None, "exception_traceback": None}
    return {
        "success": outcome.success,
        "expectation_config": {"type": rule.type, "kwargs": kwargs, "meta": meta, "severity": "critical"},
        "result": found,
        "meta": {},
        "exception_info": exception,
    }


def _plain(value: object) -> Value:
    if isinstance(value, bool | int | float | str):
        return value
    return float(str(value)) if str(value).replace(".", "", 1).lstrip("-").isdigit() else str(value)


def text_of(result: Mapping[str, Value]) -> str:
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"
