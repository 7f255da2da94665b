"""`penstock fmt`: job files with uniform white space; meaning and comments stay."""

import os
import re
from argparse import ArgumentParser, Namespace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from engine.terminal.arguments import add_environment_argument

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog.diagnostics.diagnostic import Diagnostics

SUMMARY = "format job files: indent, blanks and empty lines; comments and queries stay as they are written"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="job files, folders of them, or globs")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file would change")
    parser.add_argument("--diff", action="store_true", help="as --check, and print what would change")
    add_environment_argument(parser)


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import Diagnostics, Severity
    from engine.job.find import TEST_SUFFIXES, find_jobs, has_sections
    from engine.terminal.report import report

    diagnostics = Diagnostics()
    found = find_jobs(arguments.paths, diagnostics, with_tests=True)
    found = _inside(found, arguments.paths, diagnostics)
    named = {Path(path) for path in arguments.paths}  # of the files in a folder, an `nginx.conf` is none of ours
    paths = [path for path in found if path in named or path.name.lower().endswith(TEST_SUFFIXES) or has_sections(path)]
    is_check = arguments.check or arguments.diff
    changed: list[Path] = []
    invalid = 0
    for path in paths:
        own = Diagnostics()
        if _format(path, own, is_check=is_check, shows=arguments.diff):
            changed.append(path)
        invalid += own.has_errors
        diagnostics.extend(own)
    for path in changed:
        print(f"{'would change' if is_check else 'formatted'} {path}")
    same = len(paths) - len(changed) - invalid
    done = f"{len(changed)} file{'s' * (len(changed) != 1)} {'to format' if is_check else 'formatted'}"
    print(f"{done}, {same} unchanged{f', {invalid} with errors' if invalid else ''}")
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR]
    if errors:
        report(errors, arguments.masks)
        return 2
    return 1 if is_check and changed else 0


def _inside(found: "Iterable[Path]", named: "Iterable[str]", diagnostics: "Diagnostics") -> "tuple[Path, ...]":
    """The files that are in a project of the command; a link out of it is an error, and nothing behind it is read."""
    from catalog.reach import Reach, is_outside, within
    from engine.job.root import find_root

    before_glob = [Path(re.split(r"[*?\[]", path)[0] if not os.path.exists(path) else path) for path in named]
    folders = [path if path.is_dir() else path.parent for path in before_glob]
    roots = tuple(os.path.realpath(find_root(folder) or folder) for folder in folders)
    inside = []
    with within(Reach(roots)):
        for path in found:
            if is_outside(path, is_data=False):
                message = f"`{path}` leads out of the project, and is not formatted"
                help = f"format the file itself: `{os.path.realpath(path)}`"
                diagnostics.error("PEN1602", message, None, help)  # with a span, its line would be shown
            else:
                inside.append(path)
    return tuple(inside)


def _format(path: Path, diagnostics: "Diagnostics", *, is_check: bool, shows: bool) -> bool:
    """Whether the file was not formatted."""
    from catalog.secret_names import starred_source
    from engine.job.bounded import bounded
    from engine.job.formatting.format_job import format_job
    from engine.job.load import read_file

    source = read_file(path, diagnostics)
    if source is None:
        return False
    with bounded(path, allows_outside=False, is_run=False, limits_process=True):
        text = format_job(source, diagnostics)
    if text == source.text:
        return False
    if shows:
        lines = (starred_source(source.text).splitlines(keepends=True), starred_source(text).splitlines(keepends=True))
        for line in unified_diff(*lines, str(path), f"{path} (formatted)"):
            print(line, end="" if line.endswith("\n") else "\n\\ No newline at end of file\n")
    if not is_check:
        ends = "\r\n" if b"\r\n" in path.read_bytes() else "\n"
        path.write_text(text, encoding="utf-8", newline=ends)
    return True
