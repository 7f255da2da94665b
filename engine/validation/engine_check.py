"""`penstock validate --engine-check`: compares the analysis of all queries with that of a local Spark.

Spark analyzes every query of the jobs over empty tables with the same columns; nothing is read or run. A difference is
a bug in Penstock's analyzer and is reported as PEN9004, in addition to the errors of the jobs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity
from catalog.diagnostics.source import PlacedText, Span
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import has_unknown
from engine.job.load import load_file
from engine.job.model.settings import Settings
from engine.needs_spark import require_spark
from engine.plan.building.build_plan import build
from sql.analyze import Analysis, analyze

if TYPE_CHECKING:
    from engine.validation.analyzer_answers import Accepted, Rejected

HELP: Final = "this is a bug of Penstock: report it with the query, the tables below and `penstock --version`"


@dataclass(frozen=True, slots=True)
class Question:
    """A query with its text, the tables that it reads by name, and Penstock's analysis."""

    text: PlacedText
    inputs: Mapping[str, CatalogTable]
    said: Analysis


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """The differences, and how many of the jobs' queries were compared."""

    diagnostics: tuple[Diagnostic, ...]
    asked: int
    queries: int


def engine_check(paths: Sequence[Path], settings: Settings) -> EngineCheck:
    """Compare every query of the jobs with a local Spark; queries with inputs of unknown types are left out.

    Raises `RunError` PEN9003 if pyspark is not installed, PEN5002 if Java or its version is not what Spark needs.
    """
    require_spark("`--engine-check` asks a local Spark and")
    from engine.spark.session import open_session, pipeline_session
    from engine.validation.spark_analyzer import SparkAnalyzer

    spark = open_session("penstock validate", {"spark.master": "local[1]"}, for_small_jobs=True)
    diagnostics: list[Diagnostic] = []
    asked = queries = 0
    for path in paths:
        options, questions = _questions(path, settings)
        queries += len(questions)
        for question in questions:
            if all(map(_is_known, question.inputs.values())):
                asked += 1
                spark_says = SparkAnalyzer(pipeline_session(spark, options), question.inputs).ask(question.text.value)
                diagnostics += _compare(question, spark_says)
    return EngineCheck(tuple(diagnostics), asked, queries)


def _questions(path: Path, settings: Settings) -> tuple[Mapping[str, str], list[Question]]:
    """The Spark settings of a job, and its queries, including those with errors."""
    ignored, asked = Diagnostics(), list[Question]()

    def recorded(query: PlacedText, inputs: Mapping[str, CatalogTable], *, output: str) -> Analysis:
        said = analyze(query, inputs, output=output)
        asked.append(Question(query, dict(inputs), said))
        return said

    job = load_file(path, ignored, replace(settings, reads_secrets=False))
    if job is None:
        return {}, []
    build(job, ignored, recorded)
    return job.env.spark, asked


def _is_known(table: CatalogTable) -> bool:
    return not table.is_open and not any(has_unknown(column.type) for column in table.columns)


def _compare(question: Question, spark_says: "Accepted | Rejected") -> Iterator[Diagnostic]:
    from engine.validation.analyzer_answers import Rejected, differences

    said, text = question.said, question.text
    error = next((diagnostic for diagnostic in said.diagnostics if diagnostic.severity is Severity.ERROR), None)
    if isinstance(spark_says, Rejected):
        if error is None and "penstock:" not in text.value:  # errors that a comment suppresses are known
            start, end = spark_says.start, spark_says.end
            span = text.span() if start is None or end is None else text.span(start, min(end, len(text.value)))
            reason = spark_says.message.strip().split("\n")[0]
            yield _disagreement(question, f"Spark rejects this query, validation accepts it: {reason}", span)
    elif error is not None:
        yield _disagreement(question, f"Spark accepts this query, validation rejects it: {error.message}", error.span)
    else:
        for difference in differences(spark_says, said):
            message = f"Spark and validation disagree about a column of `{said.table.path.table}`: {difference}"
            yield _disagreement(question, message, text.span())


def _disagreement(question: Question, message: str, span: Span | None) -> Diagnostic:
    tables = (f"{name}({', '.join(map(str, table.columns))})" for name, table in question.inputs.items())
    return Diagnostic("PEN9004", message, span, HELP, notes=tuple(tables))
