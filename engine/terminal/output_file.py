"""Writes the file that a command was asked for; never through a link that leads out of the current folder.

Somebody else's project may hold a link `page.html` to a file that is none of its own.
"""

import os
from pathlib import Path

from catalog.diagnostics.diagnostic import job_error
from catalog.reach import leads_out


def refuse_link(path: str | os.PathLike[str]) -> None:
    """Raises `JobError` PEN1602 for a path in the current folder that leads out of it by a link."""
    if leads_out(path):
        message = f"`{os.fspath(path)}` leads out of the current folder by a link, and is not written"
        raise job_error("PEN1602", message, None, "name another file, or the one that the link leads to")


def write_output(path: Path, text: str) -> None:
    refuse_link(path)
    path.write_text(text, encoding="utf-8")
