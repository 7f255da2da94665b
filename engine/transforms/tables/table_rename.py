"""`TableRename`: renames the tables of a set by rule."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options
from catalog.tables.table import CatalogTable
from engine.transforms.base import TableGroup
from engine.transforms.field_rename import FieldRename, check_rules, renamed

_RULES = ("convert_case", "prefix", "suffix", "replacements_with_regex")


class TableRename:
    name: ClassVar[str] = "TableRename"
    doc: ClassVar[str] = (
        "Rename the tables of a set by case, prefix, suffix and regular expression; rows stay as they are."
    )
    options: ClassVar[tuple[Option, ...]] = tuple(
        replace(option, doc=option.doc.replace("of the new names", "of the tables' names"))
        for option in FieldRename.options
        if option.name in _RULES
    )

    def groups(
        self, tables: Sequence[CatalogTable], options: Options, diagnostics: Diagnostics
    ) -> tuple[TableGroup, ...] | None:
        if not check_rules(options, diagnostics):
            return None
        names = [renamed(table.path.table, options) for table in tables]
        if "" in names:
            message = f"`{tables[names.index('')].path}` would have no name"
            diagnostics.error("PEN2011", message, options.span(), "give `prefix` or `suffix`")
            return None
        return tuple(TableGroup(replace(table.path, table=name), (index,))
                     for index, (table, name) in enumerate(zip(tables, names, strict=True)))  # fmt: skip


transform = TableRename()
