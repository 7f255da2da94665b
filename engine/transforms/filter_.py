"""`Filter`: keep some of the columns, and (Penstock's own) some of the rows."""

from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote
from catalog.tables.table import CatalogTable
from engine.transforms.base import check_columns
from sql.rewrite.select_query import Projection, Select


class Filter:
    name: ClassVar[str] = "Filter"
    doc: ClassVar[str] = "Keep the named columns, or all but the named; keep the rows for which a condition is true."
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "include_fields",
            OptionType.LIST,
            "Columns to keep, in this order; excludes `exclude_fields`.",
            alternatives=("fields",),
            element=OptionType.STRING,
        ),
        Option(
            "exclude_fields",
            OptionType.LIST,
            "Columns to drop; excludes `include_fields`.",
            element=OptionType.STRING,
        ),
        Option(
            "condition",
            OptionType.STRING,
            "Rows for which this Spark SQL predicate over the input's columns is not true are dropped.",
            is_query=True,
        ),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        included, excluded = options.strings("include_fields"), options.strings("exclude_fields")
        if not _check_options(options, bool(included), bool(excluded), diagnostics):
            return None
        places = {
            name: f"{option}.{index}"
            for option, names in (("include_fields", included), ("exclude_fields", excluded))
            for index, name in enumerate(names)
        }
        if not check_columns(table, places, options, diagnostics):
            return None
        return Select(table.path.table, _projections(table, included, excluded), _predicates(options))


def _check_options(options: Options, includes: bool, excludes: bool, diagnostics: Diagnostics) -> bool:
    condition = options.optional_string("condition")
    if includes and excludes:
        diagnostics.error(
            "PEN2011",
            "`include_fields` and `exclude_fields` exclude each other",
            options.span("exclude_fields"),
            "keep one of them",
        )
    elif not (includes or excludes) and condition is None:
        diagnostics.error(
            "PEN2011",
            "`Filter` does nothing: it has no fields and no condition",
            options.span(),
            "give `include_fields`, `exclude_fields` or `condition`",
        )
    elif condition is not None and not condition.strip():
        diagnostics.error("PEN2004", "`condition` is empty", options.span("condition"), "give a Spark SQL predicate")
    else:
        return True
    return False


def _projections(table: CatalogTable, included: tuple[str, ...], excluded: tuple[str, ...]) -> tuple[Projection, ...]:
    if not included and not excluded:
        return ()
    dropped = {name.lower() for name in excluded}
    names = {name.lower(): name for name in table.schema.names if name.lower() not in dropped}
    kept = [names.get(name.lower(), name) for name in included] or names.values()
    return tuple(Projection(name, quote(name)) for name in dict.fromkeys(kept))


def _predicates(options: Options) -> tuple[PlacedText, ...]:
    return () if options.optional_string("condition") is None else (options.text("condition"),)


transform = Filter()
