"""Spark's errors as diagnostics: at the node they came from and, for SQL, at the place in the job file."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from py4j.java_gateway import is_instance_of
from pyspark import SparkContext

from catalog.diagnostics import PenstockError, RunError, run_error
from catalog.source import PlacedText, Span
from engine.plan.nodes import AnyNode, Query, Scan
from sql.select import Select

_SOURCE_CONDITIONS: Final = (
    "FAILED_READ_FILE",
    "MALFORMED_RECORD_IN_PARSING",
    "PATH_NOT_FOUND",
    "UNABLE_TO_INFER_SCHEMA",
    "NOT_NULL_ASSERT_VIOLATION",
    "CANNOT_READ_FILE_FOOTER",
    "DATA_SOURCE_NOT_FOUND",
)
"""Conditions of Spark's that speak of a source, whichever action met them."""

_END_OF_MESSAGE: Final = re.compile(r"\n== |;\n|\s*SQLSTATE: \w{5}|\n\s*JVM stacktrace|\n\tat ")
_LINE_AND_COLUMN: Final = re.compile(r"\(line (\d+), pos (\d+)\)")
_FILE: Final = re.compile(r"(?:reading file|CSV file:|Path does not exist:) (\S+?)\.?(?:\s|$)")


@dataclass(frozen=True, slots=True)
class SparkFault:
    """One of the causes of a Spark error: its condition, what it says, and the SQL text it points at."""

    condition: str | None
    message: str
    contexts: tuple[tuple[int, int, str], ...]
    position: tuple[int, int] | None


def as_run_error(error: BaseException, node: AnyNode, nodes: Iterable[AnyNode] = ()) -> PenstockError:
    """The error as a user should see it. `node` is where it was met, `nodes` all whose work it may have come from."""
    if isinstance(error, PenstockError):
        return error
    faults = tuple(_faults(error))
    told = faults[0] if faults else SparkFault(None, str(error).split("\n")[0], (), None)
    involved = (node, *nodes)
    if any((fault.condition or "").startswith(_SOURCE_CONDITIONS) for fault in faults):
        return _source_error(faults, involved)
    if placed := _placed(faults, involved):
        query, span = placed
        return run_error("PEN5001", f"{_first_line(told.message)} (in `{query.name}`)", span)
    code = "PEN5004" if isinstance(node, Scan) else "PEN5001"
    return run_error(code, f"{_first_line(told.message)} (in `{node.name}`)", node.span)


def _first_line(message: str) -> str:
    return message.partition("\n")[0]


def _source_error(faults: tuple[SparkFault, ...], nodes: tuple[AnyNode, ...]) -> RunError:
    files = [found.group(1) for fault in faults for found in _FILE.finditer(fault.message)]
    scans = [node for node in nodes if isinstance(node, Scan)]
    scan = next((each for each in scans if any(_reads(each, file) for file in files)), None)
    if scan is None and len(scans) == 1:
        scan = scans[0]
    last = next((fault for fault in faults if _is_malformed(fault)), None)
    last = last or next((fault for fault in reversed(faults) if fault.condition), faults[0])
    where = f"`{files[0].removeprefix('file://').removeprefix('file:')}`" if files else "a source"
    name = f" of `{scan.name}`" if scan else ""
    if _is_malformed(last):
        row = re.search(r"(?:parsing|record): (.*?)\.?$", last.message.split("\n")[0])
        cause = faults[-1].message if faults[-1] is not last else ""
        message = f"a row of {where}{name} does not fit the schema: {row.group(1) if row else last.message}"
        help = '`on_malformed = "null"` reads what does not fit as NULL, `"drop"` leaves such rows out'
        return run_error("PEN5004", message, scan.span if scan else None, help, notes=(cause,) if cause else ())
    if last.condition == "NOT_NULL_ASSERT_VIOLATION":
        message = f"a NULL in a column that the schema of {where}{name} says has none"
        return run_error("PEN5004", message, scan.span if scan else None)
    told = "; ".join(line.strip() for line in last.message.split("\n"))
    message = told if files and files[0] in told else f"{where} cannot be read: {told}"
    return run_error("PEN5004", f"{message}{name and f' ({name.strip()})'}", scan.span if scan else None)


def _is_malformed(fault: SparkFault) -> bool:
    return (fault.condition or "").startswith(("MALFORMED_RECORD_IN_PARSING", "MALFORMED_CSV_RECORD"))


def _reads(scan: Scan, file: str) -> bool:
    path = scan.options.get("path")
    if not isinstance(path, str):
        return False
    fixed = re.split(r"[*?\[{]", path.removeprefix("file://"))[0].strip("./")
    return bool(fixed) and fixed in file


def _placed(faults: tuple[SparkFault, ...], nodes: tuple[AnyNode, ...]) -> tuple[Query, Span] | None:
    """The query whose text Spark's context quotes, and the place of what it quotes."""
    for query, text in _texts(nodes):
        for fault in faults:
            for start, stop, fragment in fault.contexts:
                if fragment and text.value[start : stop + 1] == fragment:
                    return query, text.span(start, stop + 1)
            if fault.position and isinstance(nodes[0], Query) and query is nodes[0]:
                offset = _offset(text.value, *fault.position)
                return query, text.span(offset, min(offset + 1, len(text.value)))
    return None


def _texts(nodes: tuple[AnyNode, ...]) -> Iterator[tuple[Query, PlacedText]]:
    for node in nodes:
        if isinstance(node, Query):
            yield node, node.body.to_text() if isinstance(node.body, Select) else node.body


def _offset(text: str, line: int, column: int) -> int:
    lines = text.split("\n")
    return sum(len(each) + 1 for each in lines[: line - 1]) + column


def _faults(error: BaseException) -> Iterator[SparkFault]:
    """The Java exceptions behind a Python one, outermost first; those without anything to say are left out."""
    thrown: Any = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    for _ in range(20):
        if thrown is None:
            return
        text = str(thrown.getMessage() or "")
        condition, contexts = _spark_part(thrown)
        position = _LINE_AND_COLUMN.search(text)
        if text and not (condition is None and text.startswith("Job aborted")):
            at = (int(position.group(1)), int(position.group(2))) if position else None
            yield SparkFault(condition, _clean(text), contexts, at)
        thrown = thrown.getCause()


def _spark_part(thrown: Any) -> tuple[str | None, tuple[tuple[int, int, str], ...]]:
    if not is_instance_of(SparkContext._gateway, thrown, "org.apache.spark.SparkThrowable"):  # type: ignore[no-untyped-call]
        return None, ()
    contexts = thrown.getQueryContext()
    quoted = [each for each in contexts if "SQL" in str(each.contextType())]
    return thrown.getCondition(), tuple((each.startIndex(), each.stopIndex(), each.fragment()) for each in quoted)


def _clean(text: str) -> str:
    """The first sentence or two, without condition, SQLSTATE, plan and stack."""
    told = _END_OF_MESSAGE.split(text.strip())[0].strip()
    return re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", told)
