"""The page of a folder of jobs: which tables each job reads and writes, column lineage across jobs, each job's plan."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from catalog.secret_names import redacted_text
from catalog.tables.table import Column
from engine.compile import Compiled
from engine.graph.descriptions import description_of, description_of_job
from engine.graph.page import drawn, drawn_columns, drawn_plan, options_text, rendered
from engine.plan.datasets import Dataset, dataset_of, holding, shown
from engine.plan.lineage import SourceColumns, lineage
from engine.plan.nodes import AnyNode, Scan, Write
from engine.plan.shown_options import given

ALL_JOBS = "all jobs"


@dataclass(eq=False, slots=True)
class _Table:
    """A location that jobs read or write, with its columns and descriptions in all of them."""

    location: str
    plugin: str
    columns: dict[str, Column] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    details: str = ""
    written_by: list[str] = field(default_factory=list)
    read_by: list[str] = field(default_factory=list)

    def add(self, node: Scan | Write, compiled: Compiled, job: str) -> None:
        for column in node.table.columns:
            known = self.columns.setdefault(column.name.lower(), column)
            if column.comment and not known.comment:
                self.columns[column.name.lower()] = replace(known, comment=column.comment)
        comment = description_of(node, compiled.job)
        if comment and comment not in self.comments:
            self.comments.append(comment)
        users = self.written_by if isinstance(node, Write) else self.read_by
        if job not in users:
            users.append(job)
        options = node.connector.sink_options if isinstance(node, Write) else node.connector.source_options
        self.details = self.details or redacted_text(options_text(given(options, node.options)))


@dataclass(frozen=True, eq=False, slots=True)
class _Job:
    """A job of the folder; its tables by the node that reads or writes them."""

    name: str
    compiled: Compiled
    tables: Mapping[AnyNode, _Table]


def to_folder_page(title: str, compiled: Sequence[Compiled]) -> str:
    """The page of these jobs; it needs no other file and no network."""
    jobs, tables = _jobs_and_tables(compiled)
    plans = {ALL_JOBS: _drawn_jobs(jobs, tables)}
    plans |= {job.name: drawn_plan(job.compiled.built, job.compiled) for job in jobs}
    return rendered(title, plans)


def _jobs_and_tables(compiled: Sequence[Compiled]) -> tuple[list[_Job], list[_Table]]:
    root = os.path.commonpath([job.path.resolve().parent for job in compiled])
    targets = {target for job in compiled for write in job.built.writes if (target := dataset_of(write))}
    tables: dict[Dataset, _Table] = {}
    jobs = []
    for compilation in compiled:
        name = os.path.relpath(compilation.path.resolve(), root)
        of_nodes: dict[AnyNode, _Table] = {}
        for node in compilation.built.nodes():
            if isinstance(node, Scan | Write) and (dataset := dataset_of(node)):
                key = holding(dataset, targets) if isinstance(node, Scan) else dataset
                table = tables.setdefault(key, _Table(redacted_text(shown(key)), node.connector.name))
                table.add(node, compilation, name)
                of_nodes[node] = table
        jobs.append(_Job(name, compilation, of_nodes))
    return jobs, list(tables.values())


def _drawn_jobs(jobs: Sequence[_Job], tables: Sequence[_Table]) -> dict[str, Any]:
    order = _in_order(jobs, tables)
    keys = {item: index for index, item in enumerate(order)}
    nodes = [_job_node(item) if isinstance(item, _Job) else _table_node(item) for item in order]
    edges = dict.fromkeys(
        (keys[job], keys[table]) if isinstance(node, Write) else (keys[table], keys[job])
        for job in jobs
        for node, table in job.tables.items()
    )
    return drawn(nodes, list(edges), [step for job in jobs for step in _steps(job, keys)])


def _in_order(jobs: Sequence[_Job], tables: Sequence[_Table]) -> list[_Job | _Table]:
    """Tables before the jobs that read them and after those that write them, except in cycles."""
    writers: dict[_Table, list[_Job]] = {table: [] for table in tables}
    for job in jobs:
        for node, table in job.tables.items():
            if isinstance(node, Write):
                writers[table].append(job)
    order: dict[_Job | _Table, None] = {}
    seen: set[_Job | _Table] = set()
    every: list[_Job | _Table] = [*jobs, *tables]
    work = [(child, False) for child in reversed(every)]
    while work:
        item, is_done = work.pop()
        if is_done:
            order[item] = None
        elif item not in seen:
            seen.add(item)
            work.append((item, True))
            before: Sequence[_Job | _Table] = _read(item) if isinstance(item, _Job) else writers[item]
            work.extend((other, False) for other in reversed(before))
    return list(order)


def _read(job: _Job) -> list[_Table]:
    return list(dict.fromkeys(table for node, table in job.tables.items() if isinstance(node, Scan)))


def _job_node(job: _Job) -> dict[str, Any]:
    nodes = [node for node in job.compiled.built.nodes() if isinstance(node, Scan | Write)]
    lines = [
        f"{'writes' if isinstance(node, Write) else 'reads '} {node.name} ({node.connector.name})" for node in nodes
    ]
    return {
        "name": job.compiled.built.env.name, "plugin": job.name, "kind": "job", "details": "\n".join(lines),
        "comment": description_of_job(job.compiled.job), "columns": [], "opens": job.name,
    }  # fmt: skip


def _table_node(table: _Table) -> dict[str, Any]:
    uses = [f"written by {', '.join(table.written_by)}"] if table.written_by else []
    uses += [f"read by {', '.join(table.read_by)}"] if table.read_by else []
    return {
        "name": _short(table.location), "plugin": table.plugin, "kind": "table",
        "details": "\n".join([table.location, *uses, "", table.details]), "comment": "\n".join(table.comments),
        "columns": drawn_columns(list(table.columns.values())),
    }  # fmt: skip


def _short(location: str) -> str:
    """The last parts of a location."""
    parts = location.rstrip("/").split("/")
    return "/".join(parts[-2:]) if len(location) > 28 else location


def _steps(job: _Job, keys: Mapping[_Job | _Table, int]) -> Iterator[list[object]]:
    """Lineage steps from the tables that the job writes, through the job, to the tables that it reads."""
    found: Mapping[AnyNode, SourceColumns] = lineage(job.compiled.built)
    scans = {node.written_name: table for node, table in job.tables.items() if isinstance(node, Scan)}
    for node, table in job.tables.items():
        if isinstance(node, Write):
            for column, origins in found[node].items():
                for origin in origins:
                    if source := scans.get(origin.scan):
                        yield [
                            keys[table], column, keys[source], origin.column.lower(), origin.dependency.value, keys[job]
                        ]  # fmt: skip
