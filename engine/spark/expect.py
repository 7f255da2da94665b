"""Expectations in the write's own pass: counted by an observation on the branch that is written, no row read twice."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as f

from catalog.diagnostics import Diagnostic, Diagnostics, RunError, Severity
from engine.expectations.outcomes import Outcome
from engine.expectations.rules import NODE, REASON, QueryCheck, RowCheck, Rule, TableCheck
from engine.plan.nodes import Expect, Rejects
from sql.statements import OnViolation

ROWS = "rows"


@dataclass(frozen=True, eq=False, slots=True)
class Watched:
    """An Expect that was lowered: the observation that counts its rows, its input for what needs a pass of its own."""

    node: Expect
    observation: Observation
    rows: DataFrame


def watch(df: DataFrame, node: Expect) -> tuple[DataFrame, Watched]:
    """The rows that go on, and the handle to what becomes of the rules while they are written."""
    observation = Observation(f"expect {node.id}")
    aggregates = [f.count(f.lit(1)).alias(ROWS)]
    for index, rule in enumerate(node.rules):
        aggregates.extend(_aggregates(index, rule))
    seen = df.observe(observation, *aggregates)
    for rule in node.rules:
        if rule.takes_out and isinstance(rule.check, RowCheck):
            seen = seen.where(f.coalesce(f.expr(f"({rule.check.predicate})"), f.lit(True)))
    return seen, Watched(node, observation, df)


def rejected(df: DataFrame, node: Rejects) -> DataFrame:
    """The rows that break a rule which quarantines them, with the rules that they break."""
    broken = [
        f.when(~f.expr(f"({rule.check.predicate})"), f.lit(f"{rule.name}: {rule.text}"))
        for rule in node.rules
        if isinstance(rule.check, RowCheck)
    ]
    own = [name for name in df.columns if name.lower() not in (REASON, NODE)]
    reason = f.concat_ws("; ", *broken)
    return df.select(*(df[f"`{name}`"] for name in own), reason.alias(REASON), f.lit(node.node).alias(NODE)).where(
        f.col(REASON) != ""
    )


def outcomes(watched: Iterable[Watched]) -> tuple[Outcome, ...]:
    """What became of every rule; call it once the rows are staged. Rules that need a pass of their own have it here."""
    return tuple(outcome for each in watched for outcome in _outcomes(each))


def refuse(found: Iterable[Outcome]) -> None:
    """Raise a `RunError` (PEN6001) with every broken rule that fails the job."""
    broken = [each for each in found if not each.success and each.rule.on_violation is OnViolation.FAIL]
    if broken:
        raise RunError([_diagnostic(each, Severity.ERROR) for each in broken])


def warnings(found: Iterable[Outcome]) -> Diagnostics:
    """Broken rules that only warn."""
    warned = [each for each in found if not each.success and each.rule.on_violation is OnViolation.WARN]
    return Diagnostics([_diagnostic(each, Severity.WARNING) for each in warned])


def _diagnostic(outcome: Outcome, severity: Severity) -> Diagnostic:
    message = f"`{outcome.rule.name}` of `{outcome.node}` is broken: {outcome.said}"
    return Diagnostic("PEN6001", message, outcome.rule.span, f"it demands {outcome.rule.text}", severity)


def _aggregates(index: int, rule: Rule) -> Iterable[Column]:
    match rule.check:
        case RowCheck(predicate, _, counted):
            yield f.expr(f"count_if(NOT ({predicate}))").alias(f"broken_{index}")
            if counted and rule.check.mostly < 1:
                yield f.expr(f"count_if({counted})").alias(f"counted_{index}")
        case TableCheck(aggregate):
            yield f.expr(aggregate).alias(f"value_{index}")
        case QueryCheck():
            return


def _outcomes(watched: Watched) -> Iterable[Outcome]:
    values: Mapping[str, Any] = watched.observation.get
    rows = int(values[ROWS])
    for index, rule in enumerate(watched.node.rules):
        match rule.check:
            case RowCheck(_, mostly):
                counted = int(values.get(f"counted_{index}", rows))
                broken = int(values[f"broken_{index}"])
                yield Outcome(watched.node.name, rule, _succeeds(broken, counted, mostly), rows, unexpected=broken)
            case TableCheck() as check:
                value = values[f"value_{index}"]
                yield Outcome(watched.node.name, rule, check.holds(value), rows, observed=value)
            case QueryCheck(query=None):
                from engine.spark.quality import run_expectation

                yield run_expectation(watched.rows, watched.node.name, rule, rows)
            case QueryCheck(str() as query, mostly):
                broken = _query(watched.rows, query)
                yield Outcome(watched.node.name, rule, _succeeds(broken, rows, mostly), rows, unexpected=broken)


def _succeeds(broken: int, rows: int, mostly: float) -> bool:
    return broken == 0 or (rows > 0 and (rows - broken) / rows >= mostly)


def _query(df: DataFrame, query: str) -> int:
    row = df.sparkSession.sql(query, table=df).first()
    return int(row[0]) if row is not None else 0
