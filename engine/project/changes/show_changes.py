"""A plan of changes as text, as JSON, and as Markdown for a pull request."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from catalog.diagnostics.shown_names import shown_name
from catalog.diagnostics.source import Span
from catalog.tables.evolution import Change
from engine.project.changes.plan_changes import ColumnChange, JobChange, JobChangeKind, PlanOfChanges

_MARK: Final = "\x00"
_MARKS: Final = {JobChangeKind.ADDED: "+", JobChangeKind.REMOVED: "-", JobChangeKind.CHANGED: "~"}


def to_text(plan: PlanOfChanges, against: str) -> str:
    if not plan.jobs:
        return f"no job changed against {against}\n"
    lines = [f"changes against {against}:", ""]
    for job in plan.jobs:
        lines.append(f"{_MARKS[job.kind]} {job.name} ({job.path}){_warning(is_breaking=job.is_breaking)}")
        lines += [f"    {line}" for line in _details(job, _quoted)]
    lines += ["", f"to rebuild: {', '.join(plan.rebuilds) or 'nothing'}", _summary(plan)]
    return "\n".join(lines) + "\n"


def to_markdown(plan: PlanOfChanges, against: str) -> str:
    if not plan.jobs:
        return f"**No job changed** against {_code(against)}.\n"
    lines = [f"### Changes against {_code(against)}", "", _summary(plan).capitalize() + ".", ""]
    lines += ["| Job | Change | Details |", "|---|---|---|"]
    for job in plan.jobs:
        details = "<br>".join(_details(job, _code))
        kind = f"**{job.kind.value}**{' ⚠ breaking' if job.is_breaking else ''}"
        lines.append(f"| {_code(job.name)} | {kind} | {details} |")
    lines += ["", f"To rebuild: {', '.join(map(_code, plan.rebuilds)) or 'nothing'}"]
    return "\n".join(lines) + "\n"


def changes_json(plan: PlanOfChanges, against: str) -> str:
    jobs = [
        {
            "name": job.name,
            "path": job.path,
            "change": job.kind.value,
            "breaking": job.is_breaking,
            "added_datasets": list(job.added_datasets),
            "removed_datasets": list(job.removed_datasets),
            "moved_datasets": [{"dataset": dataset, "job": name} for dataset, name in job.moved_datasets],
            "columns": [_column_json(column) for column in job.columns],
        }
        for job in plan.jobs
    ]
    content = {"against": against, "breaking": plan.is_breaking, "jobs": jobs, "rebuild": list(plan.rebuilds)}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _column_json(column: ColumnChange) -> dict[str, object]:
    return {
        "dataset": column.dataset,
        "column": column.change.column,
        "change": column.change.kind.value,
        "before": column.change.before,
        "after": column.change.after,
        "breaking": column.is_breaking,
        "readers": [{"job": reader.job, "location": str(reader.span or "")} for reader in column.readers],
    }


def _details(job: JobChange, code: Callable[[object], str]) -> Iterator[str]:
    """`code`: how a name is shown as one."""
    yield from (f"writes {code(dataset)}" for dataset in job.added_datasets)
    yield from (f"no longer writes {code(dataset)}" for dataset in job.removed_datasets)
    yield from (f"{code(dataset)} is written by {code(name)} now" for dataset, name in job.moved_datasets)
    for column in job.columns:
        readers = ", ".join(f"{code(reader.job)} ({_place(reader.span, code)})" for reader in column.readers)
        suffix = f", read by {readers}" if readers else ""
        yield (
            f"{_change(column.change, code)} in {code(column.dataset)}"
            f"{_warning(is_breaking=column.is_breaking)}{suffix}"
        )
    if job.kind is JobChangeKind.CHANGED and not (
        job.columns or job.added_datasets or job.removed_datasets or job.moved_datasets
    ):
        yield "other rows or values, the same columns"


def _change(change: Change, code: Callable[[object], str]) -> str:
    if code is _quoted:
        return str(change)
    before, after = (value and code(value) for value in (change.before, change.after))
    return str(replace(change, column=_MARK, before=before, after=after)).replace(f"`{_MARK}`", code(change.column))


def _place(span: Span | None, code: Callable[[object], str]) -> str:
    return str(span) if code is _quoted else code(span)


def _warning(*, is_breaking: bool) -> str:
    return ", breaking" if is_breaking else ""


def _summary(plan: PlanOfChanges) -> str:
    counts = {kind: sum(job.kind is kind for job in plan.jobs) for kind in JobChangeKind}
    text = ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)
    breaking = sum(job.is_breaking for job in plan.jobs)
    return f"{text}; {breaking} breaking" if breaking else f"{text}; nothing breaking"


def _quoted(name: object) -> str:
    return f"`{name}`"


def _code(name: object) -> str:
    """A name in Markdown, also within a table: nothing in it is a tag, a link, a mention or the end of a cell."""
    text = shown_name(str(name)).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    blank = " " if "`" in text else ""
    return f"{fence}{blank}{text}{blank}{fence}"
