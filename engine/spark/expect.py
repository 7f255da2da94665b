"""Checks expectations during the write: the filter that rows pass counts violations, and no row is read twice.

A valid row costs one compiled condition, the conjunction of all rules; only an invalid one is checked rule by rule.
Aggregates over all rows use `observe`.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as f

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, RunError, Severity
from catalog.quoting import quote
from catalog.tables.violation import OnViolation
from engine.expectations.expectation_outcome import ExpectationOutcome
from engine.expectations.rules import NODE, REASON, QueryCheck, RowCheck, TableCheck
from engine.plan.nodes import AnyNode, Expect, Rejects
from engine.spark.catalyst import Catalyst, Expression, is_accelerated
from engine.spark.counters import Counter, Counters, PartitionCounts
from engine.spark.failing_rows import FailingRows, failing_rows, row_text


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of one pass: rows, removed rows and, for each rule by its index, the rows that violate it and those
    that it applies to."""

    rows: int = 0
    rejected: int = 0
    violations: Mapping[int, int] = field(default_factory=dict)
    applicable: Mapping[int, int] = field(default_factory=dict)


@dataclass(eq=False)
class Watched:
    """A lowered Expect: its counters, their values in the longest pass, and its input for rules that need their own
    pass."""

    node: Expect
    rows: DataFrame
    passed: Counter
    rejected: Counter | None
    partitions: PartitionCounts
    violations: Mapping[int, Counter]
    applicable: Mapping[int, Counter]
    observation: Observation | None
    failing: Mapping[int, FailingRows] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    before: tuple[int, ...] = ()

    def read_counters(self) -> None:
        """Call this after every action that reads the rows; of several passes, the one over the most rows counts."""
        counted = [
            self.passed,
            *([self.rejected] if self.rejected else []),
            *self.violations.values(),
            *self.applicable.values(),
        ]
        now, seen = [counter.value for counter in counted], self.partitions.seen
        skipped, *last = self.before or (0, *[0] * len(now))
        passes = max(
            1, min(Tally(seen[skipped:]).values(), default=1)
        )  # a query that reads a node twice has two partitions
        passed = [-(-(new - old) // passes) for new, old in zip(now, last, strict=True)]
        self.before = (len(seen), *now)
        if passed[0] > self.counts.rows:
            found = iter(passed)
            self.counts = Counts(
                rows=next(found),
                rejected=next(found) if self.rejected else 0,
                violations={index: next(found) for index in self.violations},
                applicable={index: next(found) for index in self.applicable},
            )


def watch(df: DataFrame, node: Expect) -> tuple[DataFrame, Watched]:
    """The remaining rows, and the handle to the results of the rules while the rows are written."""
    checks = {index: rule.check for index, rule in enumerate(node.rules) if isinstance(rule.check, RowCheck)}
    spark = Catalyst(df.sparkSession)
    counters = Counters(df.sparkSession.sparkContext._jsc.sc(), spark)
    taking = [check.predicate for index, check in checks.items() if node.rules[index].takes_out]
    watched = Watched(
        node,
        df,
        passed=counters.rows(),
        rejected=counters.where(spark.parse(_breaks(taking))) if taking else None,
        partitions=counters.partitions(),
        violations={index: counters.where(spark.parse(_breaks([check.predicate]))) for index, check in checks.items()},
        applicable={
            index: counters.where(spark.parse(check.counted))
            for index, check in checks.items()
            if check.counted and check.mostly < 1
        },
        observation=None,
    )
    watched.failing = _failing_rows(df, watched, checks, spark)
    aggregates = [
        f.expr(rule.check.aggregate).alias(f"value_{index}")
        for index, rule in enumerate(node.rules)
        if isinstance(rule.check, TableCheck)
    ]
    if aggregates:
        watched.observation = Observation(f"expect {node.id}")
        df = df.observe(watched.observation, *aggregates)
    keeps_row = _keeps_row(spark, watched, [check.predicate for check in checks.values()])
    if is_accelerated(df.sparkSession) and not watched.failing:  # Comet does not call what collects failing rows
        keeps_row = spark.in_comet(keeps_row)
    return df.where(spark.column(keeps_row)), watched


def _failing_rows(
    df: DataFrame, watched: Watched, checks: Mapping[int, RowCheck], spark: Catalyst
) -> Mapping[int, FailingRows]:
    """The collectors of rows that messages will show: of the rules that fail the job or warn."""
    context, rules = df.sparkSession.sparkContext._jsc.sc(), watched.node.rules
    return {
        index: failing_rows(
            context,
            spark,
            _breaks([check.predicate]),
            watched.violations[index],
            row_text(df.schema, check.predicate),
        )
        for index, check in checks.items()
        if not rules[index].takes_out
    }


def _keeps_row(spark: Catalyst, watched: Watched, rules: Sequence[str]) -> Expression:
    """Whether a row is kept; the evaluation increments each counter once."""
    always = [
        watched.passed.increment,
        watched.partitions.increment,
        *(counter.increment for counter in watched.applicable.values()),
    ]
    no, yes = spark.parse("false"), spark.parse("true")
    checked = yes
    if rules:
        # Spark runs what calls a method in its interpreter: rows that break nothing so do not carry the code for it,
        # and the filter passes them on without copying them
        counters = [counter.increment for counter in watched.violations.values()]
        failing = [rows.increment for rows in watched.failing.values()]  # each after its counter
        counted = spark.any_not_null([*counters, *failing])
        stays = spark.not_(spark.is_null(spark.static_call("java.lang.String", "valueOf", counted)))
        if watched.rejected:
            stays = spark.both(stays, spark.is_null(watched.rejected.increment))
        checked = spark.if_(spark.parse(_breaks(rules)), stays, yes)
    return spark.if_(spark.any_not_null(always), checked, no)  # `passed` counts every row


def _breaks(rules: Sequence[str]) -> str:
    """True for a row for which a rule is false; may be NULL for others, since NULL violates no rule."""
    return f"NOT ({' AND '.join(f'({rule})' for rule in rules)})"


def rejected(df: DataFrame, node: Rejects) -> DataFrame:
    """The rows that violate a quarantining rule, with the rules that they violate; none where there is no rule, as of
    late rows in a batch."""
    violations = [
        f.when(f.expr(_breaks([rule.check.predicate])), f.lit(f"{rule.name}: {rule.text}"))
        for rule in node.rules
        if isinstance(rule.check, RowCheck)
    ]
    own = [name for name in df.columns if name.lower() not in (REASON, NODE)]
    reason = f.concat_ws("; ", *violations)
    return df.select(*(df[quote(name)] for name in own), reason.alias(REASON), f.lit(node.node).alias(NODE)).where(
        f.col(REASON) != ""
    )


def read_counters(watched: Iterable[Watched]) -> None:
    """Read the counters; call this after each action over watched rows."""
    for node in watched:
        node.read_counters()


def outcomes(watched: Iterable[Watched], staged: Mapping[AnyNode, DataFrame]) -> tuple[ExpectationOutcome, ...]:
    """The results of all rules; call this after the rows are staged. Rules that need their own pass run it here: over
    the rows staged from their node or, if these differ, over its input."""
    return tuple(outcome for node in watched for outcome in _outcomes(node, staged.get(node.node, node.rows)))


def refuse(outcomes: Iterable[ExpectationOutcome]) -> None:
    """Raise a `RunError` (PEN6001) with every violated rule that fails the job."""
    violations = [
        outcome for outcome in outcomes if not outcome.success and outcome.rule.on_violation is OnViolation.FAIL
    ]
    if violations:
        raise RunError([_diagnostic(outcome, Severity.ERROR) for outcome in violations])


def warnings(outcomes: Iterable[ExpectationOutcome]) -> Diagnostics:
    """Warnings of violated rules that do not fail the job."""
    warned = [outcome for outcome in outcomes if not outcome.success and outcome.rule.on_violation is OnViolation.WARN]
    return Diagnostics([_diagnostic(outcome, Severity.WARNING) for outcome in warned])


def _diagnostic(outcome: ExpectationOutcome, severity: Severity) -> Diagnostic:
    message = f"`{outcome.rule.name}` of `{outcome.node}` is violated: {outcome.said}"
    notes = tuple(f"violated by {row}" for row in outcome.examples)
    return Diagnostic("PEN6001", message, outcome.rule.span, f"the rule is: {outcome.rule.text}", severity, notes)


def _outcomes(watched: Watched, rows: DataFrame) -> Iterable[ExpectationOutcome]:
    counts, node = watched.counts, watched.node.name
    values: Mapping[str, Any] = watched.observation.get if watched.observation else {}
    for index, rule in enumerate(watched.node.rules):
        match rule.check:
            case RowCheck(_, mostly):
                violations = counts.violations.get(index, 0)
                success = _succeeds(violations, counts.applicable.get(index, counts.rows), mostly)
                failing = watched.failing.get(index)
                yield ExpectationOutcome(
                    node,
                    rule,
                    success,
                    counts.rows,
                    unexpected=violations,
                    rejected=counts.rejected,
                    examples=failing.texts if failing and not success else (),
                )
            case TableCheck() as check:
                value = values[f"value_{index}"]
                yield ExpectationOutcome(node, rule, check.holds(value), counts.rows, observed=value)
            case QueryCheck(query=None):
                from engine.spark.quality import run_expectation

                yield run_expectation(rows, node, rule, counts.rows)
            case QueryCheck(str() as query, mostly, examples):
                violations = _query(rows, query)
                success = _succeeds(violations, counts.rows, mostly)
                shown = _examples(rows, examples) if examples and not success else ()
                yield ExpectationOutcome(node, rule, success, counts.rows, unexpected=violations, examples=shown)


def _succeeds(violations: int, rows: int, mostly: float) -> bool:
    return violations == 0 or (rows > 0 and (rows - violations) / rows >= mostly)


def _examples(df: DataFrame, query: str) -> tuple[str, ...]:
    values = df.sparkSession.sql(query, table=df)
    text = f.expr(row_text(values.schema)).alias("text")
    return tuple(str(row["text"]) for row in values.select(text).collect())


def _query(df: DataFrame, query: str) -> int:
    row = df.sparkSession.sql(query, table=df).first()
    return int(row[0]) if row is not None else 0
