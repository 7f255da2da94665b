"""Sources whose data is outside of the project: a job that is only checked does not open it."""

from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.tables.table import CatalogTable
from connectors.interface.schema_option import declared_table
from connectors.interface.source import Source
from connectors.storage.paths import leads_out

_PATHS: Final = ("path", "warehouse")
"""Options that lead to data on this machine."""


def outside_option(source: Source, options: Options) -> str | None:
    """The option that leads out of the project; None where none does, as where a server or a store has the path."""
    located = source.located(options)
    return next(
        (name for name in _PATHS if isinstance(value := located.get(name), str) and leads_out(value)),
        None,
    )


def outside_tables(source: Source, options: Options, name: str, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
    """The table as it is declared, else an unknown one, for data outside of the project; none for other data.

    A declared one is open where the job is checked again with the columns of directories that are not visible.
    """
    option = outside_option(source, options)
    if option is None:
        return ()
    message = f"`{options[option]}` is outside of the project: its schema is not checked"
    help = "`--allow-outside` reads it; the root of a project is the folder of its `penstock.conf`"
    diagnostics.warning("PEN1602", message, options.span(option), help)
    declared = declared_table(options, name, diagnostics) if "schema" in options.values else None
    if declared is None:
        return (CatalogTable.unknown(name),)
    is_open = options.seatunnel is not None and options.seatunnel.is_open
    return (replace(declared, is_open=True) if is_open else declared,)
