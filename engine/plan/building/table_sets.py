"""Sets of tables: the names of their members, and the options of a block for each of them.

A block that means several tables becomes one node per table. The node of the table `shop.orders` in the set `crm` is
`crm.orders`, or `crm.shop.orders` where another database has an `orders` too; this is its name in `plugin_input`,
queries, explain, lineage, tests and counts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, did_you_mean
from catalog.diagnostics.source import Span
from catalog.options import Options
from catalog.patterns import user_pattern
from catalog.tables.table import CatalogTable, TablePath
from connectors.shared.tolerated import report_tolerated
from engine.job.model.job import Block
from engine.plan.nodes import Node


def member_names(name: str, paths: Sequence[TablePath]) -> tuple[str, ...]:
    """The name of each table of a set: its own if it is unique, else its whole path."""
    count = Counter(path.table.lower() for path in paths)
    return tuple(f"{name}.{path.table if count[path.table.lower()] == 1 else path}" for path in paths)


def refuse_equal_paths(block: Block, name: str, tables: Sequence[CatalogTable], diagnostics: Diagnostics) -> bool:
    """Whether each table of the set has a path of its own; two of one path are reported."""
    count = Counter(str(table.path).lower() for table in tables)
    twice = [path for path, number in count.items() if number > 1]
    for path in twice:
        message = f"{count[path]} tables of `{name}` are called `{path}`"
        help = 'give each a name: schema { table = "database.table" }'
        diagnostics.error("PEN2006", message, block.plugin_span or block.span, help)
    return not twice


def options_for(block: Block, path: TablePath) -> Options | None:
    """The options of a transform for a table; None if the table passes unchanged."""
    for entry in block.tables:
        if is_called(path, entry.path or ""):
            return entry.options
    if not block.has_own_options:
        return None
    pattern = block.table_match_regex
    return block.options if pattern is None or user_pattern(pattern).fullmatch(str(path)) else None


def is_called(path: TablePath, name: str) -> bool:
    """Whether a name is the table's: its path or the end of it, in any case."""
    return f".{path}".lower().endswith(f".{name}".lower()) if name else False


def refuse_unmatched(block: Block, name: str, nodes: Sequence[Node], diagnostics: Diagnostics) -> None:
    """Report entries of `table_transform` for tables that do not exist, and a pattern that matches none."""
    paths = [node.table.path for node in nodes]
    known = [str(path) for path in paths]
    for entry in block.tables:
        if entry.path and not any(is_called(path, entry.path) for path in paths):
            message = f"`{name}` has no table `{entry.path}` to transform"
            help = did_you_mean(entry.path, known)
            report_tolerated(entry.options, diagnostics, "PEN2007", message, entry.options.span(), help=help)
    pattern = block.table_match_regex
    if pattern is not None and not any(map(user_pattern(pattern).fullmatch, known)):
        message = f"`table_match_regex` matches no table: `{name}` changes nothing"
        listed = ", ".join(f"`{path}`" for path in known[:8])
        help = f"it must match the whole path; the tables are {listed}" + (" …" if len(known) > 8 else "")
        diagnostics.warning("PEN2009", message, block.plugin_span or block.span, help)


def report_by_table(by_table: Sequence[tuple[TablePath, Diagnostics]], diagnostics: Diagnostics) -> None:
    """Report the diagnostics of all tables of a set; a problem that several share is reported once, with
    their names."""
    tables: dict[tuple[str, Span | None, str], list[str]] = {}
    first: dict[tuple[str, Span | None, str], Diagnostic] = {}
    for path, own in by_table:
        for diagnostic in own:
            key = (diagnostic.code, diagnostic.span, diagnostic.message)
            first.setdefault(key, diagnostic)
            tables.setdefault(key, []).append(f"`{path}`")
    for key, diagnostic in first.items():
        more = f" and {len(tables[key]) - 3} more" if len(tables[key]) > 3 else ""
        note = f"in the table{'s' * (len(tables[key]) > 1)} {', '.join(tables[key][:3])}{more}"
        diagnostics.extend([replace(diagnostic, notes=(*diagnostic.notes, note))])


def member(nodes: Sequence[Node], name: str) -> Node | None:
    """The node of the table of that name in a set."""
    found = [node for node in nodes if is_called(node.table.path, name)]
    return found[0] if len(found) == 1 else None
