"""Mistakes that Apache SeaTunnel passes over: errors here, and warnings under `--compat seatunnel`."""

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import Span
from catalog.options import Options


def report_tolerated(
    options: Options, diagnostics: Diagnostics, code: str, message: str, span: Span | None, *, help: str | None = None
) -> None:
    """Report a mistake in these options that SeaTunnel passes over."""
    report = diagnostics.error if options.seatunnel is None else diagnostics.warning
    report(code, message, span, help)


def report_without_effect(
    name: str, message: str, help: str | None, options: Options, diagnostics: Diagnostics
) -> None:
    """Report (PEN2011) a written option that changes nothing."""
    report_tolerated(options, diagnostics, "PEN2011", message, options.span(name), help=help)
