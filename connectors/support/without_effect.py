"""Options that have no effect beside others: errors, and warnings under `--compat seatunnel`, which accepts them."""

from catalog.diagnostics import Diagnostics
from connectors.support.option import Options


def report_without_effect(
    name: str, message: str, help: str | None, options: Options, diagnostics: Diagnostics
) -> None:
    """Report (PEN2011) a written option that changes nothing."""
    report = diagnostics.error if options.seatunnel is None else diagnostics.warning
    report("PEN2011", message, options.span(name), help)
