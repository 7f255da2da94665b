"""`penstock schema`: the lock file of sources, schema changes, and the JSON Schema of job files."""

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from catalog.diagnostics.shown_names import shown_name
from engine.terminal.arguments import add_job_arguments, settings_of

if TYPE_CHECKING:
    from catalog.masks import Masks
    from engine.schema.schema_changes import Report

SUMMARY = "lock the schemas of sources, show how schemas changed; or print the JSON Schema of job files"


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("json", help="print the JSON Schema of job files, for editors")
    helps = {
        "sync": "ask the sources for their schemas and write them to penstock.lock",
        "diff": "what changed: the sources since they were locked, or every schema since a git revision",
        "show": "print the schemas of a job's sources and sinks",
    }
    for name, text in helps.items():
        action = actions.add_parser(name, help=text, description=text)
        action.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="job files or folders (default: .)")
        if name == "sync":
            action.add_argument(
                "--no-types", action="store_true", help="lock the columns of CSV files as strings; needs no Spark"
            )
        if name == "diff":
            action.add_argument("--against", metavar="REV", help="a git revision to compare with; needs no Spark")
        add_job_arguments(action)


def run(arguments: Namespace) -> int:
    match arguments.action:
        case "json":
            return _json()
        case "sync":
            return _sync(arguments)
        case "diff":
            return _diff(arguments)
        case _:
            return _show(arguments)


def _json() -> int:
    from engine.schema.job_schema import job_schema

    print(json.dumps(job_schema(), indent=2, ensure_ascii=False))
    return 0


def _sync(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.job.find import find_jobs
    from engine.schema.lock_file import sync
    from engine.terminal.report import report

    diagnostics = Diagnostics()
    written = sync(
        find_jobs(arguments.paths, diagnostics), settings_of(arguments), diagnostics, infers=not arguments.no_types
    )
    diagnostics.raise_errors()
    report(diagnostics, arguments.masks)
    for path, count in written.items():
        reason = "" if count else ": each source of these jobs declares its columns"
        print(f"{path}: {count} source{'s' * (count != 1)}{reason}")
    return 0


def _diff(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.job.find import find_jobs
    from engine.schema.schema_changes import since_locked, since_revision
    from engine.terminal.report import report

    diagnostics, settings = Diagnostics(), settings_of(arguments)
    if arguments.against:
        result = since_revision(arguments.paths, arguments.against, settings, diagnostics)
    else:
        result = since_locked(find_jobs(arguments.paths, diagnostics), settings, diagnostics)
    diagnostics.raise_errors()
    report(diagnostics, arguments.masks)
    _print(result, arguments.masks)
    return 1 if result.is_breaking else 0


def _print(result: "Report", masks: "Masks") -> None:
    for line in result.lines():
        print(masks.known(line))


def _show(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.job.find import find_jobs
    from engine.plan.nodes import Scan, Write
    from engine.project.compiled_jobs import compiled_jobs

    diagnostics = Diagnostics()
    paths = find_jobs(arguments.paths, diagnostics)
    diagnostics.raise_errors()
    for compiled in compiled_jobs(arguments, paths, settings_of(arguments)):
        for node in compiled.built.nodes():
            if isinstance(node, Scan | Write):
                kind = "source" if isinstance(node, Scan) else "sink"
                title = f"{compiled.path}: {kind} {shown_name(node.name)}"
                lines = [title, *(f"  {column}" for column in node.table.columns)]
                print(arguments.masks.known("\n".join(lines)))
    return 0
