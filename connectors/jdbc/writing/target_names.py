"""Names that a database cannot hold as they are: it would cut them off, and write to another table."""

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.shown_names import shown_name
from catalog.options import Options
from catalog.tables.table import CatalogTable
from connectors.jdbc.dialect import Dialect

OWN_PREFIX = "penstock_"
_SHOWN = 80


def check_names(
    dialect: Dialect, name: tuple[str, ...], options: Options, table: CatalogTable, diagnostics: Diagnostics
) -> None:
    """Report PEN1611 for a table or column that would have another name in the database, or one of Penstock's own."""
    place = options.span("table")
    for part in name:
        if reason := _misfit(dialect, part):
            message = f"the table {_shown(part)} cannot be written: {reason}"
            diagnostics.error("PEN1611", message, place, "rename the table with `TableRename`, or leave it out")
    if name and name[-1].lower().startswith((f"{OWN_PREFIX}commits", f"{OWN_PREFIX}staging", f"{OWN_PREFIX}stg_")):
        message = f"the table {_shown(name[-1])} cannot be written: Penstock's own records in the database are named so"
        diagnostics.error("PEN1611", message, place, "rename the table with `TableRename`, or leave it out")
    for column in table.columns:
        if reason := _misfit(dialect, column.name):
            message = f"the column {_shown(column.name)} cannot be written: {reason}"
            diagnostics.error("PEN1611", message, place, "rename the column with `FieldRename`, or leave it out")


def _shown(name: str) -> str:
    shown = shown_name(name)
    return f"`{shown}`" if len(shown) <= _SHOWN else f"`{shown}` of {len(name)} characters"


def _misfit(dialect: Dialect, name: str) -> str | None:
    """Why the database cannot hold the name as it is."""
    if "\x00" in name or any("\ud800" <= character <= "\udfff" for character in name):
        return "it has a character that no database holds"
    if dialect.name_bytes is not None and len(name.encode()) > dialect.name_bytes:
        return f"names of {dialect.name} have at most {dialect.name_bytes} bytes"
    if dialect.name_characters is not None and len(name) > dialect.name_characters:
        return f"names of {dialect.name} have at most {dialect.name_characters} characters"
    if dialect.quotes == "``" and (name.endswith(" ") or any(character > "\uffff" for character in name)):
        return f"names of {dialect.name} end with no blank, and have no character above U+FFFF"
    return None
