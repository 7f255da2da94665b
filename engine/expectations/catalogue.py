"""great-expectations' expectations, by name, as predicates over a row or aggregates over all rows of Spark.

Other expectations need a pass of their own (`UNIQUE`) or are run by great-expectations. Arguments have its names:
https://greatexpectations.io/expectations. Rows with NULL as the value do not count, except for `…_be_null`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from catalog.options import Value
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable
from engine.expectations.rules import QueryCheck, RowCheck, TableCheck

Arguments: TypeAlias = Mapping[str, Value]

BOUNDS: Final = ("min_value", "max_value", "strict_min", "strict_max")
COMMON: Final = ("mostly", "ignore_row_if", "row_condition")


def literal(value: Value) -> str:
    """A value as Spark SQL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int() | float():
            return repr(value)
        case _:
            return quote_text(str(value))


def strings(value: Value) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, Sequence) else ()


def _column(arguments: Arguments, name: str = "column") -> str:
    return quote(str(arguments[name]))


def _bounds(expression: str, arguments: Arguments) -> str:
    parts = []
    if arguments.get("min_value") is not None:
        parts.append(f"{expression} {'>' if arguments.get('strict_min') else '>='} {literal(arguments['min_value'])}")
    if arguments.get("max_value") is not None:
        parts.append(f"{expression} {'<' if arguments.get('strict_max') else '<='} {literal(arguments['max_value'])}")
    return " AND ".join(parts) or "TRUE"


def _in_set(arguments: Arguments) -> str:
    values = arguments.get("value_set")
    items = [literal(value) for value in values] if isinstance(values, Sequence) and not isinstance(values, str) else []
    return f"{_column(arguments)} IN ({', '.join(items)})" if items else "FALSE"


def _any_match(operator: str, option: str, arguments: Arguments) -> str:
    word = " AND " if arguments.get("match_on") == "all" else " OR "
    conditions = [f"{_column(arguments)} {operator} {literal(pattern)}" for pattern in strings(arguments.get(option))]
    return f"({word.join(conditions)})" if conditions else "TRUE"


def _none_match(operator: str, option: str, arguments: Arguments) -> str:
    conditions = [f"{_column(arguments)} {operator} {literal(pattern)}" for pattern in strings(arguments.get(option))]
    return f"NOT ({' OR '.join(conditions)})" if conditions else "TRUE"


def _pair(operator: str, arguments: Arguments) -> str:
    return f"{_column(arguments, 'column_A')} {operator} {_column(arguments, 'column_B')}"


def _columns(arguments: Arguments) -> tuple[str, ...]:
    return tuple(quote(string) for string in strings(arguments.get("column_list")))


def _all_equal(arguments: Arguments) -> str:
    first, *rest = _columns(arguments)
    return " AND ".join(f"{first} = {other}" for other in rest) or "TRUE"


def _all_unlike(arguments: Arguments) -> str:
    names = _columns(arguments)
    return f"size(array_distinct(array({', '.join(names)}))) = {len(names)}"


Predicate: TypeAlias = Callable[[Arguments], str]

ROW: Final[Mapping[str, tuple[tuple[str, ...], Predicate]]] = {
    "expect_column_values_to_not_be_null": (("column",), lambda a: f"{_column(a)} IS NOT NULL"),
    "expect_column_values_to_be_null": (("column",), lambda a: f"{_column(a)} IS NULL"),
    "expect_column_values_to_be_between": (("column", *BOUNDS), lambda a: _bounds(_column(a), a)),
    "expect_column_values_to_be_in_set": (("column", "value_set"), _in_set),
    "expect_column_distinct_values_to_be_in_set": (("column", "value_set"), _in_set),
    "expect_column_values_to_not_be_in_set": (("column", "value_set"), lambda a: f"NOT ({_in_set(a)})"),
    "expect_column_values_to_match_regex": (
        ("column", "regex"),
        lambda a: f"{_column(a)} RLIKE {literal(a.get('regex'))}",
    ),
    "expect_column_values_to_not_match_regex": (
        ("column", "regex"),
        lambda a: f"NOT {_column(a)} RLIKE {literal(a.get('regex'))}",
    ),
    "expect_column_values_to_match_regex_list": (
        ("column", "regex_list", "match_on"),
        lambda a: _any_match("RLIKE", "regex_list", a),
    ),
    "expect_column_values_to_not_match_regex_list": (
        ("column", "regex_list"),
        lambda a: _none_match("RLIKE", "regex_list", a),
    ),
    "expect_column_values_to_match_like_pattern": (
        ("column", "like_pattern"),
        lambda a: f"{_column(a)} LIKE {literal(a.get('like_pattern'))}",
    ),
    "expect_column_values_to_not_match_like_pattern": (
        ("column", "like_pattern"),
        lambda a: f"{_column(a)} NOT LIKE {literal(a.get('like_pattern'))}",
    ),
    "expect_column_values_to_match_like_pattern_list": (
        ("column", "like_pattern_list", "match_on"),
        lambda a: _any_match("LIKE", "like_pattern_list", a),
    ),
    "expect_column_value_lengths_to_be_between": (("column", *BOUNDS), lambda a: _bounds(f"length({_column(a)})", a)),
    "expect_column_value_lengths_to_equal": (
        ("column", "value"),
        lambda a: f"length({_column(a)}) = {literal(a.get('value'))}",
    ),
    "expect_column_pair_values_to_be_equal": (("column_A", "column_B"), lambda a: _pair("=", a)),
    "expect_column_pair_values_a_to_be_greater_than_b": (
        ("column_A", "column_B", "or_equal"),
        lambda a: _pair(">=" if a.get("or_equal") else ">", a),
    ),
    "expect_multicolumn_sum_to_equal": (
        ("column_list", "sum_total"),
        lambda a: f"{' + '.join(_columns(a))} = {literal(a.get('sum_total'))}",
    ),
    "expect_multicolumn_values_to_be_equal": (("column_list",), _all_equal),
    "expect_select_column_values_to_be_unique_within_record": (("column_list",), _all_unlike),
}
"""Name -> its arguments, the first of which is required, and the predicate that must not be false for a row."""

AGGREGATE: Final[Mapping[str, Predicate]] = {
    "expect_column_max_to_be_between": lambda a: f"max({_column(a)})",
    "expect_column_min_to_be_between": lambda a: f"min({_column(a)})",
    "expect_column_sum_to_be_between": lambda a: f"sum({_column(a)})",
    "expect_column_mean_to_be_between": lambda a: f"avg({_column(a)})",
    "expect_column_stdev_to_be_between": lambda a: f"stddev_samp({_column(a)})",
    "expect_column_proportion_of_non_null_values_to_be_between": lambda a: f"avg(IF({_column(a)} IS NULL, 0, 1))",
}
"""Name -> the aggregate that must be within bounds."""


def structural(type: str, arguments: Arguments, table: CatalogTable) -> str | None:
    """Why an expectation on the columns, which are known before the run, is violated; empty if it holds.

    None if it is not about the columns.
    """
    names = [name.lower() for name in table.schema.names]
    wanted = [string.lower() for string in strings(arguments.get("column_list") or arguments.get("column_set"))]
    match type:
        case "expect_column_to_exist":
            return "" if str(arguments.get("column")).lower() in names else "there is no such column"
        case "expect_table_column_count_to_equal":
            return "" if len(names) == arguments.get("value") else f"there are {len(names)} columns"
        case "expect_table_column_count_to_be_between":
            low, high = arguments.get("min_value"), arguments.get("max_value")
            holds = TableCheck("", _number(low), _number(high)).holds(len(names))
            return "" if holds else f"there are {len(names)} columns"
        case "expect_table_columns_to_match_ordered_list":
            return "" if names == wanted else f"the columns are {', '.join(names)}"
        case "expect_table_columns_to_match_set":
            is_exact = arguments.get("exact_match", True)
            holds = set(names) == set(wanted) if is_exact else set(wanted) <= set(names)
            return "" if holds else f"the columns are {', '.join(names)}"
    return None


STRUCTURAL: Final = (
    "expect_column_to_exist",
    "expect_table_column_count_to_equal",
    "expect_table_column_count_to_be_between",
    "expect_table_columns_to_match_ordered_list",
    "expect_table_columns_to_match_set",
)


def check_of(type: str, arguments: Arguments) -> RowCheck | TableCheck | QueryCheck | None:
    """How an expectation is checked; None if there is none of that name here.

    Raises `KeyError` with the argument that is missing, `ValueError` for an invalid one.
    """
    mostly = mostly_of(arguments)
    if type in ROW:
        predicate = ROW[type][1](arguments)
        counted = [quote(str(arguments[key])) for key in ("column", "column_A", "column_B") if key in arguments]
        counted = [] if type.endswith("be_null") else counted or list(_columns(arguments))
        return RowCheck(predicate, mostly, " AND ".join(f"{column} IS NOT NULL" for column in counted) or None)
    if type in AGGREGATE:
        return _bounded(AGGREGATE[type](arguments), arguments)
    match type:
        case "expect_table_row_count_to_be_between":
            return _bounded("count(1)", arguments)
        case "expect_table_row_count_to_equal":
            value = _number(arguments.get("value"))
            return TableCheck("count(1)", value, value)
        case "expect_column_values_to_be_unique":
            columns = [_column(arguments)]
            return QueryCheck(_repeated(columns), mostly, _some_repeated(columns))
        case "expect_compound_columns_to_be_unique":
            columns = list(_columns(arguments))
            return QueryCheck(_repeated(columns), mostly, _some_repeated(columns))
    return None


def _bounded(aggregate: str, arguments: Arguments) -> TableCheck:
    low, high = _number(arguments.get("min_value")), _number(arguments.get("max_value"))
    return TableCheck(aggregate, low, high, bool(arguments.get("strict_min")), bool(arguments.get("strict_max")))


def mostly_of(arguments: Arguments) -> float:
    """The fraction of rows that must hold, 1 by default; raises ValueError."""
    share = _number(arguments.get("mostly"))
    if share is not None and not 0 <= share <= 1:
        raise ValueError(f"`mostly` is {share:g}, not a share from 0 to 1")
    return 1.0 if share is None else share


def _number(value: Value) -> float | None:
    try:
        return None if value is None else float(str(value))
    except ValueError:
        raise ValueError(f"`{value}` is not a number") from None


def _repeated(columns: Sequence[str]) -> str:
    return f"SELECT coalesce(sum(n), 0) FROM (SELECT count(1) AS n {_having_repeated(columns)})"


def _some_repeated(columns: Sequence[str]) -> str:
    return f"SELECT {', '.join(columns)} {_having_repeated(columns)} LIMIT 3"


def _having_repeated(columns: Sequence[str]) -> str:
    known = " AND ".join(f"{column} IS NOT NULL" for column in columns)
    return f"FROM {{table}} WHERE {known} GROUP BY {', '.join(columns)} HAVING count(1) > 1"


def known_types() -> tuple[str, ...]:
    """The names of expectations that are checked without great-expectations."""
    more = (
        "expect_table_row_count_to_be_between", "expect_table_row_count_to_equal",
        "expect_column_values_to_be_unique", "expect_compound_columns_to_be_unique",
    )  # fmt: skip
    return (*ROW, *AGGREGATE, *more, *STRUCTURAL)


RUN_BY_GREAT_EXPECTATIONS: Final = (
    "expect_column_distinct_values_to_contain_set",
    "expect_column_distinct_values_to_equal_set",
    "expect_column_kl_divergence_to_be_less_than",
    "expect_column_median_to_be_between",
    "expect_column_most_common_value_to_be_in_set",
    "expect_column_pair_values_to_be_in_set",
    "expect_column_proportion_of_unique_values_to_be_between",
    "expect_column_quantile_values_to_be_between",
    "expect_column_type_to_be",
    "expect_column_unique_value_count_to_be_between",
    "expect_column_value_z_scores_to_be_less_than",
    "expect_column_values_to_be_dateutil_parseable",
    "expect_column_values_to_be_decreasing",
    "expect_column_values_to_be_in_type_list",
    "expect_column_values_to_be_increasing",
    "expect_column_values_to_be_json_parseable",
    "expect_column_values_to_be_of_type",
    "expect_column_values_to_match_json_schema",
    "expect_column_values_to_match_strftime_format",
    "expect_column_values_to_not_be_outliers",
    "expect_column_values_to_not_match_like_pattern_list",
    "expect_query_results_to_match_comparison",
    "expect_table_row_count_to_equal_other_table",
)
"""The names of those that great-expectations 1 runs itself."""
