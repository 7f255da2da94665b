"""The Java exceptions behind a Spark error, each with its condition and the SQL text that it points at."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JError
from pyspark import SparkContext

NULL_COLUMN: Final = "penstock.null_column "
"""How Spark's error of a NULL names the column that has none."""

_END_OF_MESSAGE: Final = re.compile(r"\n== |;\n|\s*SQLSTATE: \w{5}|\n\s*JVM stacktrace|\n\tat ")
_LINE_AND_COLUMN: Final = re.compile(r"\(line (\d+), pos (\d+)\)")
_SENTENCES: Final = re.compile(r"(?<=[\w`'\")\]])[.?] (?=[A-Z])")


@dataclass(frozen=True, slots=True)
class ErrorCause:
    """A cause of a Spark error: its condition, its message, and the SQL text that it points at."""

    condition: str | None
    message: str
    contexts: tuple[tuple[int, int, str], ...]
    position: tuple[int, int] | None


def error_causes(error: BaseException) -> Iterator[ErrorCause]:
    """The Java exceptions behind a Python one, outermost first; those without a message are left out."""
    thrown: Any = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    for _ in range(20):
        if thrown is None:
            return
        text = str(thrown.getMessage() or "")
        condition, contexts = _spark_part(thrown)
        position = _LINE_AND_COLUMN.search(text)
        if text and not (condition is None and text.startswith("Job aborted")):
            at = (int(position.group(1)), int(position.group(2))) if position else None
            yield ErrorCause(condition, _clean(text), contexts, at)
        thrown = thrown.getCause()


def _spark_part(thrown: Any) -> tuple[str | None, tuple[tuple[int, int, str], ...]]:
    if not is_instance_of(SparkContext._gateway, thrown, "org.apache.spark.SparkThrowable"):  # type: ignore[no-untyped-call]
        return None, ()
    try:
        contexts = thrown.getQueryContext()
    except Py4JError:  # an exception of Delta's, compiled without the interface's default method
        return None, ()
    quoted = [context for context in contexts if "SQL" in str(context.contextType())]
    return thrown.getCondition(), tuple(
        (context.startIndex(), context.stopIndex(), context.fragment()) for context in quoted
    )


def _clean(text: str) -> str:
    """The first sentence or two, without condition, SQLSTATE, plan and stack."""
    message = _END_OF_MESSAGE.split(text.strip())[0].strip()
    return re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", message)


_CONSTRAINT: Final = re.compile(r"(.*\((.+)\)) violated by row with values:", re.IGNORECASE)
_REQUIREMENT: Final = re.compile(r"^requirement failed(?:: *|$)(\S.*)?", re.DOTALL)
_UNNAMED: Final = "Spark refuses an argument, and does not say which (`requirement failed`); `--verbose` shows where"
"""Scala's `require` without a message."""
_ROWS_OF: Final = '`penstock show JOB NODE --where "NOT ({})"` shows the rows'


_PATTERN: Final = re.compile(r"Fail to recognize ('.*?') pattern")
_LETTERS: Final = "years are `yyyy`, months `MM`, days `dd`, hours `HH`, minutes `mm`, seconds `ss`, fractions `SSS`"


def message_and_remedy(message: str) -> tuple[str, str | None]:
    """The message, and Spark's advice, except that to disable ANSI mode, which validation assumes.

    The values of a row that breaks a constraint of Delta's are left out: messages go to logs and tickets.
    """
    message = _REQUIREMENT.sub(lambda found: found[1] or _UNNAMED, message.strip())
    if constraint := _CONSTRAINT.match(message.strip()):
        return f"{constraint[1]} violated by a row", _ROWS_OF.format(constraint[2])
    if pattern := _PATTERN.search(message):
        return f"Spark does not recognize the pattern {pattern[1]}", _LETTERS
    line = _first_line(message)
    first, *rest = _SENTENCES.split(line.strip().rstrip("."))
    advice = [sentence for sentence in rest if "spark.sql.ansi" not in sentence]
    return first, ". ".join(advice) or None


def _first_line(message: str) -> str:
    """The first line, with the next one where it only announces that."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return " ".join(lines[:2]) if lines and lines[0].endswith(":") else lines[0] if lines else ""
