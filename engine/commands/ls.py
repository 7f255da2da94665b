"""`penstock ls`: the jobs of the project, in the order in which they would run."""

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from engine.terminal.arguments import add_job_arguments, add_selection_arguments, settings_of

if TYPE_CHECKING:
    from engine.project.job_graph import JobGraph
    from engine.project.project_job import ProjectJob

SUMMARY = "list the jobs of the project in dependency order"


def add_arguments(parser: ArgumentParser) -> None:
    add_selection_arguments(parser)
    parser.add_argument("--output", choices=("name", "path", "json"), default="name", dest="output_format")
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.project.selected_jobs import selected_jobs

    graph, jobs = selected_jobs(arguments, settings_of(arguments))
    for job in jobs:
        match arguments.output_format:
            case "json":
                print(arguments.masks.known(json.dumps(_described(graph, job), ensure_ascii=False)))
            case "path":
                print(job.path)
            case _:
                print(job.name)
    return 0


def _described(graph: "JobGraph", job: "ProjectJob") -> dict[str, object]:
    parents = graph.parents()[job.name]
    return {
        "name": job.name,
        "path": job.path.as_posix(),
        "fqn": list(graph.project.fqn(job.path.as_posix())),
        "tags": list(job.tags),
        "owner": job.owner,
        "description": job.description,
        "depends_on": [parent for parent in parents if parent in graph.jobs],
        "reads": sorted({str(read.dataset) for read in job.reads}),
        "writes": sorted({str(write.dataset) for write in job.writes}),
        "fingerprint": job.fingerprint,
    }
