"""`FilterRowKind`: keep the rows of some kinds."""

from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote_text
from catalog.tables.row_kind import RowKind
from catalog.tables.table import CatalogTable
from engine.transforms.base import row_kind_of
from sql.rewrite.select_query import Select

_NAMES = tuple(kind.name for kind in RowKind)


class FilterRowKind:
    name: ClassVar[str] = "FilterRowKind"
    doc: ClassVar[str] = (
        "Keep the rows of some kinds (inserts, updates, deletes). Where only inserts are left, rows have no kind "
        "after it, and any sink takes them."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "include_kinds",
            OptionType.LIST,
            "Kinds to keep; excludes `exclude_kinds`.",
            element=OptionType.STRING,
            choices=_NAMES,
        ),
        Option(
            "exclude_kinds",
            OptionType.LIST,
            "Kinds to drop; excludes `include_kinds`.",
            element=OptionType.STRING,
            choices=_NAMES,
        ),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        included, excluded = options.strings("include_kinds"), options.strings("exclude_kinds")
        if bool(included) == bool(excluded):
            message = "`FilterRowKind` takes either `include_kinds` or `exclude_kinds`"
            diagnostics.error("PEN2011", message, options.span(), "include_kinds = [INSERT, UPDATE_AFTER]")
            return None
        listed = ", ".join(quote_text(kind.value) for kind in _kept(options))
        return Select(table.path.table, (), (f"{row_kind_of(table)} IN ({listed})" if listed else "false",))

    def keeps_row_kind(self, options: Options) -> bool:
        return any(kind is not RowKind.INSERT for kind in _kept(options))


def _kept(options: Options) -> tuple[RowKind, ...]:
    included = {name.upper() for name in options.strings("include_kinds")}
    excluded = {name.upper() for name in options.strings("exclude_kinds")}
    return tuple(kind for kind in RowKind if (kind.name in included if included else kind.name not in excluded))


transform = FilterRowKind()
