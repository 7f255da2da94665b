"""`penstock fmt`: job files with uniform white space; meaning and comments stay."""

from argparse import ArgumentParser, Namespace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from engine.terminal.arguments import add_environment_argument

if TYPE_CHECKING:
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


def _format(path: Path, diagnostics: "Diagnostics", *, is_check: bool, shows: bool) -> bool:
    """Whether the file was not formatted."""
    from engine.job.formatting.format_job import format_job
    from engine.job.load import read_file

    source = read_file(path, diagnostics)
    if source is None:
        return False
    text = format_job(source, diagnostics)
    if text == source.text:
        return False
    if shows:
        lines = (source.text.splitlines(keepends=True), text.splitlines(keepends=True))
        for line in unified_diff(*lines, str(path), f"{path} (formatted)"):
            print(line, end="" if line.endswith("\n") else "\n\\ No newline at end of file\n")
    if not is_check:
        ends = "\r\n" if b"\r\n" in path.read_bytes() else "\n"
        path.write_text(text, encoding="utf-8", newline=ends)
    return True
