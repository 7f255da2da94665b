"""Expectations that only great-expectations knows, run by its Spark engine."""

import warnings
from typing import Any

from pyspark.sql import DataFrame

from catalog.diagnostics.diagnostic import run_error
from catalog.distribution import pip_install
from catalog.secret_names import HIDDEN, is_secret_name
from engine.expectations.expectation_outcome import ExpectationOutcome
from engine.expectations.rules import Rule


def run_expectation(df: DataFrame, node: str, rule: Rule, rows: int) -> ExpectationOutcome:
    """The result of great-expectations; an error of its own is a `RunError`, not a violated rule."""
    with warnings.catch_warnings():  # its dependencies warn about each other
        warnings.simplefilter("ignore")
        return _run(df, node, rule, rows)


def _run(df: DataFrame, node: str, rule: Rule, rows: int) -> ExpectationOutcome:
    try:
        import great_expectations as gx
        from great_expectations import expectations
    except ImportError as cause:
        raise run_error(
            "PEN9003", f"`{rule.type}` needs great-expectations", rule.span, pip_install("quality")
        ) from cause
    name = "".join(word.title() for word in rule.type.split("_"))
    kind = getattr(expectations, name, None) or _by_words(expectations, rule.type)
    if kind is None:
        raise run_error("PEN6002", f"great-expectations has no `{rule.type}`", rule.span)
    context = gx.get_context(mode="ephemeral")
    batch = (
        context.data_sources.add_spark("spark").add_dataframe_asset("rows").add_batch_definition_whole_dataframe("all")
    )
    try:
        expectation = kind(**rule.arguments)
    except ValueError as cause:
        message = f"`{rule.type}` does not take these arguments: {' '.join(str(cause).split())[:300]}"
        raise run_error("PEN6002", message, rule.span) from cause
    result: Any = batch.get_batch(batch_parameters={"dataframe": df}).validate(expectation)
    details = result.to_json_dict()
    if (details.get("exception_info") or {}).get("raised_exception"):
        why = str(details["exception_info"].get("exception_message"))
        raise run_error("PEN6002", f"`{rule.name}` could not be checked: {why[:300]}", rule.span)
    return _outcome(node, rule, rows, bool(result.success), details.get("result") or {})


def _by_words(module: Any, type: str) -> Any:
    """The class of an expectation; its capitals do not follow from its name (`ExpectColumnKLDivergence…`)."""
    wanted = type.replace("_", "").lower()
    return next((getattr(module, name) for name in dir(module) if name.lower() == wanted), None)


def _outcome(node: str, rule: Rule, rows: int, success: bool, result: dict[str, Any]) -> ExpectationOutcome:
    unexpected = result.get("unexpected_count")
    said = None if unexpected is not None else f"the value is {result.get('observed_value')}"
    examples = () if success else _examples(rule, result.get("partial_unexpected_list") or [])
    return ExpectationOutcome(
        node, rule, success, rows, unexpected, result.get("observed_value"), said, examples=examples
    )


def _examples(rule: Rule, values: list[Any]) -> tuple[str, ...]:
    """The first three values that violate the rule; those of several columns are a mapping."""
    column = str(rule.arguments.get("column", "value"))
    found = [value if isinstance(value, dict) else {column: value} for value in values[:3]]
    return tuple(
        ", ".join(f"{name} = {HIDDEN if is_secret_name(str(name)) else value}" for name, value in row.items())
        for row in found
    )
