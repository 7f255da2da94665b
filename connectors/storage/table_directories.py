"""Directories that belong to a table of a lakehouse format: files that others add to them, or read from them, are not
its rows."""

from pathlib import PurePosixPath
from typing import Final, Protocol

from catalog.diagnostics.diagnostic import Diagnostic, RunError
from catalog.diagnostics.source import Span

CONNECTORS: Final = ("Delta", "Iceberg", "Paimon")


class Listing(Protocol):
    """What is asked of a file system."""

    def exists(self, path: str) -> bool: ...

    def children(self, folder: str) -> list[str]: ...


def table_format(files: Listing, path: str) -> str | None:
    """The format of the table whose root a directory is."""
    if files.exists(f"{path}/_delta_log"):
        return "Delta"
    if files.exists(f"{path}/.hoodie"):
        return "Hudi"
    if any(name.endswith((".metadata.json", ".metadata.json.gz")) for name in files.children(f"{path}/metadata")):
        return "Iceberg"
    if any(name.startswith("schema-") for name in files.children(f"{path}/schema")):
        return "Paimon"
    return None


def other_table(files: Listing, path: str, own: str | None, span: Span | None) -> Diagnostic | None:
    """The error of writing to a directory that is, or is in, a table of another format than the sink's own (PEN5502).

    Directories above are asked about on this machine only: elsewhere each question is a request.
    """
    above = map(str, PurePosixPath(path).parents) if path.startswith("/") else ()
    for folder in (path, *above):
        found = table_format(files, folder)
        if found is None or (found == own and folder == path):
            continue
        where = f"`{path}` is" if folder == path else f"`{path}` is in `{folder}`,"
        how = f"write it with the connector `{found}`, or " if found in CONNECTORS else ""
        message = f"{where} a table of {found}: its readers would not see what another connector adds there"
        return Diagnostic("PEN5502", message, span, f"{how}write to another directory")
    return None


def refuse_other_table(files: Listing, path: str, own: str | None, span: Span | None) -> None:
    """Raise `RunError` PEN5502 for a directory that belongs to a table of another format."""
    if error := other_table(files, path, own, span):
        raise RunError([error])
