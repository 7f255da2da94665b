"""Descriptions of a job and its nodes: `COMMENT`, `comment`, and the comments of the job file."""

import re
from itertools import takewhile
from typing import Final

from engine.job.hocon.comments import MARKS, Comments
from engine.job.model.job import Job
from engine.plan.nodes import AnyNode

_STATEMENT: Final = re.compile(r"\s*(create|insert|merge|with|select)\b", re.IGNORECASE)


def description_of_job(job: Job) -> str:
    """The `description` of its `env`, else the comment that the job file starts with."""
    given = job.env.options.optional_string("description") if job.env.options else None
    return given or "\n".join(Comments(job.source).header()).strip()


def description_of(node: AnyNode, job: Job) -> str:
    """The comment of the node's table, else the comment lines right above the node's block."""
    if node.table.comment:
        return node.table.comment
    if node.span is None or node.span.file != job.source.path:
        return ""
    lines = job.source.text.split("\n")
    first = node.span.line - 1
    while job.is_sql and first > 0 and not _STATEMENT.match(lines[first]):
        first -= 1
    above = list(takewhile(lambda line: line.strip().startswith(MARKS), reversed(lines[:first])))
    if len(above) == first:  # the comment that the file starts with is the job's
        return ""
    return "\n".join(line.strip().lstrip("-#/").strip() for line in reversed(above))
