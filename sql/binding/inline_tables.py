"""VALUES: an inline table."""

from collections import Counter
from collections.abc import Iterator, Sequence

from sqlglot import exp

from catalog.types.datatypes import UNKNOWN, DataType
from sql.expressions import infer, is_deterministic
from sql.functions.catalogue import flags
from sql.parsing.call_names import call_name
from sql.scopes.analysis import Binder, Environment
from sql.scopes.misplaced_functions import is_query, refuse_misplaced
from sql.scopes.relations import Attribute, Output, Relation, merge
from sql.scopes.scope import SelectScope
from sql.types.coercion import widest_unpromoted
from sql.types.collations import same_collations
from sql.types.expression_type import Typed
from sql.types.text_values import may_be
from sql.types.type_names import to_type


def bind_values(binder: Binder, environment: Environment, node: exp.Values) -> Output:
    """An inline table: each column of the widest type of its values."""
    scope = SelectScope(binder, environment, Relation())
    rows = [_row(expression) for expression in node.expressions]
    width = Counter(map(len, rows)).most_common(1)[0][0]
    for row, tuple_ in zip(rows, node.expressions, strict=True):
        if len(row) != width:
            fitting = next(node for node, cells in zip(node.expressions, rows, strict=True) if len(cells) == width)
            message = f"a row of {len(row)} values in an inline table of {width} columns"
            binder.report("PEN3010", tuple_, message, also=[fitting])
            return Output((), is_open=True)
    typed = [[infer(value, scope) for value in row] for row in rows]
    for value in (value for row in rows for value in row):
        _refuse_variable(scope, value)
    origins = scope.take_used()
    columns = []
    for position in range(width):
        column = [row[position] for row in typed]
        type_ = _common(binder, [row[position] for row in rows], [cell.type for cell in column])
        nullable = any(cell.nullable for cell in column)
        columns.append(Attribute(f"col{position + 1}", Typed(type_, nullable), merge(*(used for _, used in origins))))
    alias = node.args.get("alias")
    names = [column.name for column in (alias.args.get("columns") or ())] if alias is not None else []
    if is_query(node.parent) if node.parent is not None else False:
        names = []
    output = Output(tuple(columns))
    return output.renamed([*names, *(column.name for column in columns[len(names) :])]) if names else output


def _row(node: exp.Expr) -> list[exp.Expr]:
    """The values of a row; `struct(…)` alone is one as well."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Tuple):
        values = list(node.expressions)
        return _row(values[0]) if len(values) == 1 else values
    if isinstance(node, exp.Anonymous) and call_name(node).lower() == "struct":
        return [expression.this if isinstance(expression, exp.Alias) else expression for expression in node.expressions]
    return [node]


def _common(binder: Binder, nodes: Sequence[exp.Expr], types: Sequence[DataType]) -> DataType:
    result = types[0]
    for node, type_ in zip(nodes[1:], types[1:], strict=True):
        both = widest_unpromoted(result, type_)
        if both is None or not same_collations(result, type_):
            message = f"an inline table has {result} and {type_} in one column"
            binder.report("PEN3010", node, message, also=[nodes[0]])
            return UNKNOWN
        result = both
    return result


def _refuse_variable(scope: SelectScope, value: exp.Expr) -> None:
    """Spark computes the values while it analyzes: they are constants."""
    refuse_misplaced(scope, value, "VALUES")
    _refuse_failing_casts(scope, value)
    help = "SELECT it, with UNION ALL for more rows"
    for node in _parts(value):
        if is_query(node):
            scope.report("PEN3016", node, "a subquery is not allowed in VALUES", help)
        elif not is_deterministic(node) or _never_constant(node):
            message = f"`{call_name(node)}` is not allowed in VALUES: Spark takes constants only"  # type: ignore[arg-type]
            scope.report("PEN3011", node, message, help)


def _refuse_failing_casts(scope: SelectScope, value: exp.Expr) -> None:
    """Report casts of texts that fail, which they do while Spark analyzes, but not in a branch that is not taken."""
    for cast in _evaluated(value):
        if not isinstance(cast, exp.Cast) or cast.args.get("safe") or not cast.this.is_string:
            continue
        target, text = to_type(cast.args["to"]), cast.this.name
        if target is not None and not may_be(text.strip(), target) and not _is_delayed(value):
            scope.report("PEN3013", cast, f"'{text}' is no {target}, and Spark computes the values of VALUES")


def _is_delayed(value: exp.Expr) -> bool:
    """Whether the table has a value of the moment: then Spark computes none of its values before the query runs."""
    table = value.find_ancestor(exp.Values) or value
    names = (_name(node) or (node.name.lower() if isinstance(node, exp.Column) else "") for node in table.walk())
    return any("clock" in flags(name) for name in names if name)


def _evaluated(value: exp.Expr) -> Iterator[exp.Expr]:
    return value.walk(prune=lambda node: isinstance(node, (exp.Case, exp.And, exp.Or, exp.Anonymous, exp.Lambda)))


def _parts(value: exp.Expr) -> Iterator[exp.Expr]:
    """The outermost parts that may be errors here; `typeof` is constant for every argument."""
    return value.walk(prune=lambda node: is_query(node) or _never_constant(node) or _name(node) == "typeof")


def _never_constant(node: exp.Expr) -> bool:
    return "deferred" in flags(_name(node))


def _name(node: exp.Expr) -> str:
    """The name of a call, in small letters; empty for what is none."""
    return call_name(node).lower() if isinstance(node, exp.Anonymous) else ""
