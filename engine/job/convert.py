"""Converts a job file to its other form, with its variables unchanged and its comments."""

from os import PathLike
from pathlib import Path

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText, SourceFile
from catalog.limits import LimitError
from engine.job.hocon.comments import Comments
from engine.job.hocon.parse import parse
from engine.job.hocon.render import to_hocon
from engine.job.hocon.sections import resolve_job
from engine.job.hocon.syntax import HoconArray
from engine.job.load import bounded_by, load, located, read_file
from engine.job.model.settings import Settings
from engine.job.script.read_script import script_tree
from engine.job.script.render_script import to_sql


def convert(path: str | PathLike[str], diagnostics: Diagnostics) -> str:
    """The text of the other form; errors go to `diagnostics`; the text must then not be used."""
    source = read_file(path, diagnostics)
    if source is None:
        return ""
    settings = Settings(compat=Compat.SEATUNNEL_2)
    try:
        with bounded_by(Path(source.path), settings):
            return _converted(source, settings, diagnostics)
    except LimitError as error:
        diagnostics.extend(located(error, Path(source.path)))
        return ""


def _converted(source: SourceFile, settings: Settings, diagnostics: Diagnostics) -> str:
    if source.path.lower().endswith(".sql"):
        tree = script_tree(PlacedText.verbatim(source, 0, len(source.text)), diagnostics)
        return to_hocon(tree, Comments(source))
    syntax = parse(source, diagnostics)
    job = load(source, diagnostics, settings)
    if isinstance(syntax, HoconArray) or job is None or diagnostics.has_errors:
        return ""
    return to_sql(resolve_job(syntax, Diagnostics(), compat=Compat.SEATUNNEL_2), job, Comments(source), diagnostics)
