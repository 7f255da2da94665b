"""Refuses a run whose connectors need Python packages that are not installed."""

import shlex
from collections.abc import Iterable

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from connectors.interface.base import Connector
from connectors.interface.requirements import unmet_requirements
from engine.plan.nodes import Scan, Write


def pip_line(connector: Connector) -> str:
    """The command line that installs what a connector needs."""
    return f"pip install {' '.join(map(shlex.quote, connector.requirements))}"


def refuse_missing_packages(nodes: Iterable[Scan | Write]) -> None:
    """Raise PEN9003 with every package that the connectors of a plan need and that is not installed as they need it."""
    diagnostics = Diagnostics()
    reported: set[tuple[str, bool]] = set()
    for node in nodes:
        connector, is_written = node.connector, isinstance(node, Write)
        if (connector.name, is_written) in reported:
            continue
        reported.add((connector.name, is_written))
        for requirement, installed in unmet_requirements(connector.packages(is_written=is_written)):
            problem = "it is not installed" if installed is None else f"version {installed} is installed"
            message = f"the connector `{connector.name}` needs the Python package `{requirement}`: {problem}"
            diagnostics.error("PEN9003", message, node.span, pip_line(connector))
    if diagnostics.has_errors:
        raise RunError(diagnostics)
