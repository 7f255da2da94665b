"""Analyzes queries as Spark's analyzer does, without Spark.

The query is parsed by sqlglot, checked for errors that sqlglot accepts, bound to its inputs, typed and traced in one
walk.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from catalog.diagnostics.source import PlacedText
from catalog.limits import check
from catalog.spark_version import NEWEST, SparkVersion
from catalog.tables.table import CatalogTable, Column, TablePath, TableSchema
from sql.binding.query import bind_query
from sql.expressions import call_kind, is_aggregate, is_deterministic
from sql.expressions.handlers import HANDLERS
from sql.functions.catalogue import flags
from sql.naming.printers import PRINTERS
from sql.parsing.call_names import call_name
from sql.parsing.cast_type_names import type_issues
from sql.parsing.parse import UNEXPECTED, UNPARSED, Parsed, SyntaxIssue, parse
from sql.parsing.recursion import with_room
from sql.parsing.syntax_checks import check_syntax
from sql.parsing.tree_nodes import classes_of, tree_nodes
from sql.recognizer.check import Unexpected, recognize, unparsed
from sql.scopes.analysis import Binder, Environment
from sql.scopes.lineage import ColumnLineage, Dependency
from sql.scopes.output_items import output_item
from sql.scopes.relations import Output, TableOutputs
from sql.scopes.unconvertible_texts import unconvertible_texts
from sql.scopes.unsupported_syntax import check_nodes
from sql.scopes.untyped_uses import untyped_uses
from sql.suppressions import not_suppressed
from sql.types.collations import is_indeterminate
from sql.types.expression_type import Walk
from sql.types.printed_forms import PrintedForms

__all__ = ["Analysis", "ColumnLineage", "Dependency", "analyze"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of a query.

    `table`: its output, columns in order (type `unknown` if it cannot be determined), or an open table if the columns
    cannot be determined. `reads`: names of the inputs it reads, in order of appearance, as in the `inputs` given.
    `diagnostics`: all errors, with their locations in the job file. `is_deterministic`: two runs over the same rows
    give the same rows. `shuffles`: it groups, removes duplicates or has windows. `may_multiply`: it joins or generates
    rows, so that few rows may become many. `columns_read`: the columns that each input must have for this query, in the
    input's order. `columns`: those of `table`, and those whose name an earlier one has: Spark allows them in a query,
    not in a table. `fingerprint`: the query's tokens, equal for texts that differ in layout and comments only.
    """

    table: CatalogTable
    reads: tuple[str, ...]
    lineage: tuple[ColumnLineage, ...]
    diagnostics: tuple[Diagnostic, ...]
    columns_read: Mapping[str, tuple[str, ...]]
    is_deterministic: bool = True
    shuffles: bool = False
    may_multiply: bool = False
    columns: tuple[Column, ...] = ()
    fingerprint: str = ""


_WALK: Final = Walk(HANDLERS, PRINTERS)


@with_room
def analyze(
    query: PlacedText,
    inputs: Mapping[str, CatalogTable],
    *,
    output: str = "query",
    outputs: TableOutputs | None = None,
    spark: SparkVersion = NEWEST,
) -> Analysis:
    """Analyze one query over the named inputs as this version of Spark does; never raises for errors in the query.

    Analyses of one job can share `outputs`, the columns of the inputs.
    """
    text = query.value
    check("query", len(text), query.span(0, 1), "a query")
    parsed, refused = _parsed(text, spark)
    if parsed.tree is not None:
        _check_depth(query, parsed.tree)
    binder = Binder(query, parsed.tokens, inputs, bind_query, _WALK, {} if outputs is None else outputs, spark)
    for issue in parsed.issues:
        severity = Severity.ERROR if issue.is_certain else Severity.WARNING
        binder.report_at(issue.code, (issue.start, issue.end), issue.message, issue.help, severity)
    nodes = tree_nodes(parsed.tree) if parsed.tree is not None else []
    found = _output(binder, parsed.tree, nodes, refused)
    telling = [node for node in nodes if type(node) in _TELLING]
    binder.diagnostics += untyped_uses(binder, binder.resolved)
    binder.diagnostics += unconvertible_texts(binder, binder.resolved)
    columns = tuple(
        Column(attribute.name, attribute.typed.type, attribute.typed.nullable) for attribute in found.attributes
    )
    if binder.collations is not None:
        _refuse_indeterminate(binder, parsed.tree, columns)
    distinct, repeated = _split(columns)
    if repeated:
        _warn_of_duplicates(binder, parsed.tree, columns)
    return Analysis(
        table=CatalogTable(TablePath(output), TableSchema(distinct), is_open=found.is_open, repeated=repeated),
        reads=tuple(binder.columns_read),
        lineage=tuple(_lineage(found)),
        diagnostics=_by_cause(not_suppressed(query, _in_order(binder.diagnostics))),
        columns_read={name: _in_table_order(inputs[name], read) for name, read in binder.columns_read.items()},
        is_deterministic=_are_deterministic(telling, binder.printed),
        shuffles=any(map(_shuffles, telling)),
        may_multiply=any(map(_may_multiply, telling)),
        columns=columns,
        fingerprint=" ".join([text[token.start : token.end + 1] for token in parsed.tokens]),
    )


_TOP: Final = re.compile(r"\bselect\s+(?:distinct\s+)?top\s*$", re.IGNORECASE)


def _parsed(text: str, spark: SparkVersion) -> tuple[Parsed, SyntaxIssue | None]:
    """The tree and the syntax errors; the last one is a token that Spark's grammar refuses for no known reason."""
    verdict = recognize(text)
    parsed = parse(text, verdict.nested, verdict.names)
    shown = [*check_syntax(parsed, spark, is_accepted=verdict.is_certain), *type_issues(text, parsed.tokens)]
    places = {issue.start for issue in shown}
    issues = [*(issue for issue in parsed.issues if issue.start not in places), *shown]
    stop = verdict.unexpected
    if stop is None and parsed.tree is None and issues and not shown:
        stop = unparsed(text)
    reasons = [issue for issue in shown if issue.code == "PEN3001"]
    if stop is None or any(issue.start <= stop.start for issue in reasons):
        return replace(parsed, issues=tuple(issues)), None
    issues = [issue for issue in issues if issue not in reasons]  # Spark stops before it comes to them
    if not parsed.tokens and issues:  # sqlglot's tokenizer names no place
        end = len(text) if text[stop.start : stop.start + 1] in ("'", '"', "`", "/") else stop.end
        return replace(parsed, issues=(replace(issues[0], start=stop.start, end=end),)), None
    message = stop.message or f"{UNEXPECTED} `{text[stop.start : stop.end]}`"
    refused = SyntaxIssue(stop.start, stop.end, message, _foreign_syntax(text, stop.start))
    if parsed.tree is not None:
        return replace(parsed, issues=tuple(issues)), refused
    moved = [
        replace(refused, help=refused.help or issue.help) if _says_less(issue, stop) else issue for issue in issues
    ]
    return replace(parsed, issues=tuple(moved)), None


def _foreign_syntax(text: str, stop: int) -> str | None:
    """What to write instead of syntax of other tools, at which Spark's parser stops: `SELECT TOP 5 id`, `{{ x }}`."""
    if text[stop : stop + 2] in ("{{", "{%"):
        return "a job has no templates: name the table as it is called here, and write `${variable}` for what varies"
    return "Spark has no TOP: end the query with `LIMIT n`" if _TOP.search(text[:stop]) else None


def _says_less(issue: SyntaxIssue, stop: Unexpected) -> bool:
    """Whether an error of sqlglot's parser names no reason, or lies behind the token at which Spark's stops."""
    is_behind = issue.start > stop.start or (stop.message is not None and stop.start < issue.end)
    return is_behind or issue.message.startswith((UNEXPECTED, UNPARSED))


def _output(binder: Binder, tree: exp.Expr | None, nodes: Iterable[exp.Expr], refused: SyntaxIssue | None) -> Output:
    """The columns of the query; unknown if Spark cannot parse it, even if sqlglot can."""
    if tree is None:
        return Output((), is_open=True)
    if refused is None:
        check_nodes(binder, nodes)
        return bind_query(binder, tree, Environment())
    if refused.message.startswith(UNEXPECTED):  # what else is found may name the reason
        check_nodes(binder, nodes)
    if not any(diagnostic.severity is Severity.ERROR for diagnostic in binder.diagnostics):
        binder.report_at(refused.code, (refused.start, refused.end), refused.message, refused.help)
    return Output((), is_open=True)


def _lineage(output: Output) -> Iterable[ColumnLineage]:
    for attribute in output.attributes:
        for origin in attribute.origins:
            yield ColumnLineage(attribute.name, *origin)
    for origin in output.row_origins:
        yield ColumnLineage(None, *origin)


def _split(columns: Iterable[Column]) -> tuple[tuple[Column, ...], tuple[tuple[int, Column], ...]]:
    """The columns without those that repeat an earlier name, and the repeated ones with their positions."""
    first: dict[str, Column] = {}
    repeated: list[tuple[int, Column]] = []
    for place, column in enumerate(columns):
        if first.setdefault(column.name.lower(), column) is not column:
            repeated.append((place, column))
    return tuple(first.values()), tuple(repeated)


def _refuse_indeterminate(binder: Binder, tree: exp.Expr | None, columns: Sequence[Column]) -> None:
    """Refuse output columns of strings with different collations: no table can hold them."""
    for index, column in enumerate(columns):
        node = None if tree is None or not is_indeterminate(column.type) else output_item(tree, index, len(columns))
        if node is not None:
            message = f"column `{column.name}` combines strings of different collations"
            binder.report("PEN3008", node, message, "give it one collation: `x COLLATE name`")


def _warn_of_duplicates(binder: Binder, tree: exp.Expr | None, columns: Iterable[Column]) -> None:
    """Warn at the first column that repeats an earlier name; it is an error only if the rows are written."""
    names = [column.name.lower() for column in columns]
    counts = Counter(names)
    twice = sorted(name for name, count in counts.items() if count > 1)
    listed = ", ".join(f"`{name}`" for name in twice)
    message = f"several output columns are named {listed}: no table can hold them"
    first = {name: index for index, name in reversed(tuple(enumerate(names)))}
    second = next(index for index, name in enumerate(names) if first[name] < index)
    node = tree and output_item(tree, second, len(names))
    help = "give each an alias of its own"
    if node is None:
        binder.diagnostics.append(Diagnostic("PEN3015", message, binder.placed.span(), help, Severity.WARNING))
    else:
        binder.warn("PEN3015", node, message, help)


def _in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by location; of equal codes at one location only the first."""

    def place(diagnostic: Diagnostic) -> tuple[int, int]:
        return (diagnostic.span.line, diagnostic.span.column) if diagnostic.span else (0, 0)

    first: dict[object, Diagnostic] = {}
    for diagnostic in diagnostics:
        first.setdefault((diagnostic.code, diagnostic.span), diagnostic)
    return sorted(first.values(), key=place)


_NAME_THEIR_CAUSE: Final = frozenset(("PEN3002", "PEN3003", "PEN3004", "PEN3006", "PEN3009"))
"""Codes whose message names a table, column or function: in one query, equal messages have the same cause."""


def _by_cause(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """One diagnostic for each cause, at its first location."""
    groups: dict[object, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        cause = diagnostic.message if diagnostic.code in _NAME_THEIR_CAUSE else diagnostic.span
        groups.setdefault((diagnostic.code, diagnostic.severity, cause), []).append(diagnostic)
    return tuple(
        replace(first, also=(*first.also, *(other.span for other in rest if other.span)))
        for first, *rest in groups.values()
    )


def _in_table_order(table: CatalogTable, read: set[str]) -> tuple[str, ...]:
    known = [column.name for column in table.columns]
    return (*(name for name in known if name in read), *sorted(read.difference(known)))


_TELLING: Final = classes_of(
    *(exp.Func, exp.Column, exp.TableSample, exp.Limit, exp.SetOperation, exp.Group, exp.Distinct, exp.Window),
    *(exp.Join, exp.Lateral, exp.With, exp.Cube),
)
"""Of nodes on which it depends whether two runs give the same rows, whether rows of several tasks meet, and how many
rows there may be."""


def _are_deterministic(nodes: Iterable[exp.Expr], printed: PrintedForms) -> bool:
    """Whether two runs give the same rows: no random function, clock, sample or unordered limit."""
    for node in nodes:
        match node:
            case exp.Column():
                for call in printed.texts(node):
                    if "clock" in flags(call.removesuffix("()")):
                        return False  # `current_date`, where no column has that name
            case exp.Func() if _is_clock(node) or not is_deterministic(node):
                return False
            case exp.TableSample() if node.args.get("seed") is None:
                return False
            case exp.Limit() if node.parent is not None and node.parent.args.get("order") is None:
                return False
    return True


def _shuffles(node: exp.Expr) -> bool:
    """Whether Spark brings together rows of several tasks to compute this; joins not, as many have a small side."""
    match node:
        case exp.SetOperation():
            return bool(node.args.get("distinct")) or isinstance(node, (exp.Intersect, exp.Except))
        case exp.Group() | exp.Distinct() | exp.Window():
            return True
        case _:
            return is_aggregate(node)


def _may_multiply(node: exp.Expr) -> bool:
    """Whether it may make any number of rows of a few."""
    match node:
        case exp.Join() | exp.Lateral() | exp.Cube():
            return True
        case exp.With():
            return bool(node.args.get("recursive"))
        case _:
            return call_kind(node) in ("generator", "table")


def _is_clock(node: exp.Func) -> bool:
    """Whether a value is constant within a query, as in Spark, but not between runs."""
    if isinstance(node, exp.Anonymous):
        name = call_name(node).lower()
        return "clock" in flags(name) or (name == "unix_timestamp" and not node.expressions)
    return isinstance(node, (exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.Localtimestamp))


def _check_depth(query: PlacedText, tree: exp.Expr) -> None:
    """Raises `LimitError` for a query that is nested deeper than Spark can run. Counted without recursion."""
    level: list[tuple[exp.Expr, int, int]] = [(tree, 0, 0)]
    depth = calls = subqueries = 0
    while level:
        depth += 1
        for _, of_calls, of_queries in level:
            calls, subqueries = max(calls, of_calls), max(subqueries, of_queries)
        level = [
            (child, of_calls + isinstance(child, exp.Func), of_queries + isinstance(child, exp.Subquery))
            for node, of_calls, of_queries in level
            for child in node.iter_expressions()
        ]
    for limit, value in (("expression", depth), ("calls", calls), ("subqueries", subqueries)):
        check(limit, value, query.span(0, 1), "Spark cannot run a query that is nested so deep")
