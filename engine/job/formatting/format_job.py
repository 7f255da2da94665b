"""A job file with uniform white space, whatever its form; its meaning and its comments are the same."""

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.job.formatting.format_hocon import format_hocon
from engine.job.formatting.format_script import format_script


def format_job(source: SourceFile, diagnostics: Diagnostics) -> str:
    """The formatted text; where the file cannot be read, errors are in `diagnostics`, and the text is as it was."""
    is_script = source.path.lower().endswith(".sql")
    return (format_script if is_script else format_hocon)(source, diagnostics)
