"""A job file in its other form: variables stay as they are written, comments where they stand above something."""

from os import PathLike

from catalog.diagnostics import Diagnostics
from catalog.source import PlacedText
from engine.job.comments import Comments
from engine.job.hocon import parse
from engine.job.load import load, read_file
from engine.job.sections import resolve_job
from engine.job.sql_job import script_tree
from engine.job.syntax import Array
from engine.job.to_hocon import to_hocon
from engine.job.to_sql import to_sql


def convert(path: str | PathLike[str], found: Diagnostics) -> str:
    """The text of the other form; faults are in `found`, and the text is then of no use."""
    source = read_file(path, found)
    if source is None:
        return ""
    if source.path.lower().endswith(".sql"):
        tree = script_tree(PlacedText.verbatim(source, 0, len(source.text)), found)
        return to_hocon(tree, Comments(source))
    syntax = parse(source, found)
    job = load(path, found, seatunnel=True)
    if isinstance(syntax, Array) or job is None or found.has_errors:
        return ""
    return to_sql(resolve_job(syntax, Diagnostics(), compat=True), job, Comments(source), found)
