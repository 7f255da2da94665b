"""Sources whose data is outside of the project: a job that is only checked does not open it."""

from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.tables.table import CatalogTable
from connectors.interface.schema_option import declared_table
from connectors.storage.paths import leads_out

_PATHS: Final = ("path", "warehouse")
"""Options that lead to data on this machine."""


def outside_option(options: Options) -> str | None:
    """The option that leads out of the project; None where none does."""
    return next(
        (name for name in _PATHS if isinstance(value := options.get(name), str) and leads_out(value)),
        None,
    )


def outside_tables(options: Options, name: str, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
    """The table as it is declared, else an unknown one, for data outside of the project; none for other data."""
    option = outside_option(options)
    if option is None:
        return ()
    message = f"`{options[option]}` is outside of the project: its schema is not checked"
    help = "`--allow-outside` reads it; the root of a project is the folder of its `penstock.conf`"
    diagnostics.warning("PEN1602", message, options.span(option), help)
    declared = declared_table(options, name, diagnostics) if "schema" in options.values else None
    return (declared or CatalogTable.unknown(name),)
