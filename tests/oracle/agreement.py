"""Asks Spark and `analyze` the same random questions and tells where they disagree.

`python -m tests.oracle.agreement expressions 2000` (or `queries`, `everyday`, `mutants`; then a first seed) prints
them. `python -m tests.oracle.agreement full` asks 20,000 expressions, 10,000 queries of both kinds and 10,000 mutants,
and ends with a table of the counts; behind `full`, the part of them to ask (`0.1`) and a first seed may stand.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from catalog.diagnostics.diagnostic import Severity
from catalog.diagnostics.source import PlacedText, Span
from sql.analyze import Analysis, analyze
from tests.oracle.everyday_shapes import MUTATED, everyday_query
from tests.oracle.expressions import KINDS, ExpressionGenerator
from tests.oracle.listed_kinds import is_listed
from tests.oracle.mutants import Mutant, mutate
from tests.oracle.queries import QueryGenerator
from tests.oracle.spark_oracle import Accepted, Rejected, SparkOracle, differences
from tests.oracle.tables import ALL

_NAME = re.compile(r"[\w.`]+")
TABLES = {table.path.table: table for table in ALL}


@dataclass
class Agreement:
    """Counts over what was asked; `problems` are the disagreements, each with its query."""

    accepted: int = 0
    rejected: int = 0
    rejected_here: int = 0
    placed: int = 0
    columns: int = 0
    unknown: int = 0
    problems: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)

    def add(self, problem: str) -> None:
        """Record a disagreement: among the listed ones if it is of a kind that `docs/analysis.md` lists."""
        (self.listed if is_listed(problem) else self.problems).append(problem)

    def __str__(self) -> str:
        return (
            f"{self.accepted} accepted by Spark, {self.columns} columns, {self.unknown} unknown;"
            f" {self.rejected} rejected by Spark, {self.rejected_here} here, {self.placed} at the error;"
            f" {len(self.problems)} disagreements, {len(self.listed)} listed ones"
        )


def oracle(spark: object) -> SparkOracle:
    return SparkOracle(spark, ALL)  # type: ignore[arg-type]


def expressions(asked: SparkOracle, count: int, seed: int = 0) -> Agreement:
    """Random expressions over the table of every type."""
    result, make = Agreement(), ExpressionGenerator(seed)
    for start in range(0, count, 20):
        texts = [make.make(make.random.choice(KINDS), 2) for _ in range(min(20, count - start))]
        for text, answer in zip(texts, asked.ask_expressions(texts, "every"), strict=True):
            _compare(result, f"select {text} as x from every", answer)
    return result


def queries(asked: SparkOracle, count: int, seed: int = 0) -> Agreement:
    """Random queries."""
    result = Agreement()
    for number in range(count):
        query = QueryGenerator(seed + number).query()
        _compare(result, query, asked.ask(query))
    return result


def everyday(asked: SparkOracle, count: int, seed: int = 0) -> Agreement:
    """Random queries in the forms where sqlglot and Spark most easily differ."""
    result = Agreement()
    for number in range(count):
        query = everyday_query(seed + number)
        _compare(result, query, asked.ask(query))
    return result


def mutants(asked: SparkOracle, count: int, seed: int = 0) -> Agreement:
    """Single-error mutants of queries that Spark accepts, until Spark has rejected `count` of them."""
    result = Agreement()
    for mutant in _mutants(asked, seed):
        answer = asked.ask(mutant.query)
        found = _compare(result, mutant.query, answer, mutant)
        if isinstance(answer, Rejected) and _errors(found):
            if _is_placed(found, mutant, answer):
                result.placed += 1
            else:
                first = next(each for each in found.diagnostics if each.severity is Severity.ERROR)
                result.add(
                    f"place: {mutant.kind} at {mutant.start}, Spark's {answer.start}:"
                    f" {first.span} {first.message} :: {mutant.query}"
                )
        if result.rejected >= count:
            break
    return result


def _mutants(asked: SparkOracle, seed: int) -> Iterator[Mutant]:
    while True:
        query = everyday_query(seed, MUTATED) if seed % 3 == 0 else QueryGenerator(seed).query()
        if isinstance(asked.ask(query), Accepted):
            made = (mutate(query, 31 * seed + each) for each in range(4))
            yield from (mutant for mutant in made if mutant is not None)
        seed += 1


def _compare(result: Agreement, query: str, answer: Accepted | Rejected, mutant: Mutant | None = None) -> Analysis:
    found = analyze(PlacedText.bare(query), TABLES)
    errors = _errors(found)
    if isinstance(answer, Rejected):
        result.rejected += 1
        result.rejected_here += bool(errors)
        if not errors:
            kind = f"{mutant.kind}: " if mutant else ""
            result.add(f"accepted: {kind}{answer.condition} {answer.message[:200]!r} :: {query}")
        return found
    result.accepted += 1
    if errors:
        result.add(f"rejected: {errors[0]} :: {query}")
        return found
    result.columns += len(answer.columns)
    unknown = sum("unknown" in str(each.type) for each in found.columns)
    result.unknown += len(answer.columns) if found.table.is_open else unknown
    for problem in differences(answer, found):
        result.add(f"type: {problem} :: {query}")
    return found


def _errors(found: Analysis) -> list[str]:
    return [f"{each.code} {each.message}" for each in found.diagnostics if each.severity is Severity.ERROR]


_UNCLOSED = frozenset(("dropped parenthesis", "opening bracket twice"))


def _is_placed(found: Analysis, mutant: Mutant, answer: Rejected) -> bool:
    """Whether a diagnostic touches the changed token, or the place to which Spark points (a parenthesis that was
    dropped is missed only later; a key taken out of GROUP BY is wrong in the select list)."""
    if mutant.kind == "no grouping":  # nothing stands where the key was
        return any(each.code == "PEN3009" for each in found.diagnostics)
    text = PlacedText.bare(mutant.query)
    if mutant.kind in _UNCLOSED:  # a bracket is missed at the next word that cannot be within it
        dropped = text.span(mutant.start, mutant.end)
        syntax = [each.span for each in found.diagnostics if each.code == "PEN3001" and each.span]
        if any((span.line, span.column) >= (dropped.line, dropped.column) for span in syntax):
            return True
        if any(_is_open_bracket(mutant.query, text, span) for span in syntax):
            return True
    places = [text.span(mutant.start, mutant.end)]
    if answer.start is not None and answer.end is not None:
        is_name = _NAME.fullmatch(mutant.query[answer.start : answer.end])  # `v.z`, where the error is `z`
        places.append(text.span(answer.start, answer.end if is_name else answer.start + 1))
    errors = [each for each in found.diagnostics if each.severity is Severity.ERROR][:1]
    spans = [span for each in errors for span in (each.span, *each.also)]
    return any(_touch(span, place) for span in spans for place in places)


def _is_open_bracket(query: str, text: PlacedText, span: Span) -> bool:
    """Whether an error marks a `(` that nothing closes: which of those around it was meant to be, no one can say."""
    opened: list[int] = []
    for offset, char in enumerate(re.sub(r"'[^']*'|`[^`]*`", lambda found: "_" * len(found[0]), query)):
        if char == "(":
            opened.append(offset)
        elif char == ")" and opened:
            opened.pop()
    return any(_touch(span, text.span(each, each + 1)) for each in opened)


def _touch(a: Span | None, b: Span) -> bool:
    return (
        a is not None
        and (a.line, a.column) <= (b.end_line, b.end_column)
        and (b.line, b.column)
        <= (
            a.end_line,
            a.end_column,
        )
    )


ASK: dict[str, Callable[[SparkOracle, int, int], Agreement]] = {
    "expressions": expressions,
    "queries": queries,
    "everyday": everyday,
    "mutants": mutants,
}

FULL: dict[str, int] = {"expressions": 20_000, "queries": 10_000, "everyday": 10_000, "mutants": 10_000}
"""How many of each kind `full` asks."""


def full(asked: SparkOracle, part: float = 1.0, seed: int = 0) -> dict[str, Agreement]:
    """All kinds of questions, one after the other."""
    return {what: ASK[what](asked, int(part * count), seed) for what, count in FULL.items()}


def summary(found: Mapping[str, Agreement]) -> str:
    """A line for each kind: what Spark accepts and refuses, and the disagreements."""
    lines = []
    for what, result in found.items():
        kinds = Counter(problem.split(":")[0] for problem in result.problems)
        false_errors = kinds["rejected"] / max(result.accepted, 1)
        misses = kinds["accepted"] / max(result.rejected, 1)
        line = (
            f"{what}: {result.accepted} accepted, {result.columns} columns, {kinds['type']} other types or names,"
            f" {kinds['rejected']} false errors ({false_errors:.2%}); {result.rejected} refused,"
            f" {kinds['accepted']} missed ({misses:.2%}); {len(result.listed)} more that docs/analysis.md lists"
        )
        placed = result.placed / max(result.rejected_here, 1)
        lines.append(line + (f", {placed:.2%} of the first errors in place" if what == "mutants" else ""))
    return "\n".join(lines)


if __name__ == "__main__":
    import logging

    from pyspark.sql import SparkSession

    logging.getLogger("SQLQueryContextLogger").disabled = True
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    if sys.argv[1] == "full":
        answers = full(oracle(session), float(sys.argv[2]) if len(sys.argv) > 2 else 1.0, first)
        for result in answers.values():
            print("\n".join(result.problems))
        print(summary(answers))
        sys.exit()
    what, amount = sys.argv[1], int(sys.argv[2])
    answer = ASK[what](oracle(session), amount, first)
    for line in answer.problems:
        print(line)
    print(Counter(line.split(":")[0] for line in answer.problems))
    print(answer)
