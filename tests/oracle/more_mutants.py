"""Kinds of errors that a pattern finds the place of: what is matched, and what replaces it.

A pattern's group `at` is what changes; without one the whole match does.
"""

import re
from typing import Final

_CALL: Final = r"\b(?!in\b|over\b|by\b|as\b|using\b|values\b|and\b|or\b|on\b|from\b|exists\b|any\b|all\b)[a-z]\w*"
_VALUE: Final = r"(?<![\w.'])\d+(?![\w.'])"
_TEXT: Final = r"'[^']*'"
_REFERENCE: Final = r"\b(?P<at>[a-z]\.\w+)\b"

PATTERNS: Final[dict[str, tuple[str, str]]] = {
    # brackets, commas and words
    "closing bracket twice": (r"\)", "))"),
    "opening bracket twice": (r"\(", "(("),
    "dropped opening bracket": (r"\(", " "),
    "other brackets": (r"\(", "{"),
    "dropped comma": (r",", " "),
    "semicolon": (r",", ";"),
    "comma before from": (r"(?P<at> from) \w", ", from"),
    "keyword twice": (r"\b(?P<at>(?P<word>select|from|where|and|or|on|join|group by))\b", r"\g<word> \g<word>"),
    "dropped by": (r"\b(?P<at>(?P<word>group|order|partition) by)\b", r"\g<word>"),
    "dropped from": (r"\bfrom\b", " "),
    "dropped on": (r"\bon\b", " "),
    "dropped then": (r"\bthen\b", " "),
    "dropped end": (r"\bend\b", " "),
    "dropped operand": (r" [+*/=<>] (?P<at>\w+)", " "),
    "operator twice": (r" (?P<at>(?P<sign>[*/<=])) ", r"\g<sign> \g<sign>"),
    "unknown operator": (r" (?P<at>[+*=]) ", ":="),
    "power": (r" (?P<at>[+*]) ", "**"),
    "unclosed string": (_TEXT, "'abc"),
    "unclosed comment": (r" (?P<at>\w+) ", "/* a"),
    "top": (r"\b(?P<at>select) (?!distinct)", "select top 1"),
    "join of two kinds": (r"\b(?P<at>join)\b", "inner natural join"),
    "between with or": (r"\bbetween \S+ (?P<at>and)\b", "or"),
    "is a number": (r"\bis (?P<at>null)\b", "5"),
    "negated in": (r" (?P<at>in) \(", "!in"),
    "in without brackets": (r"\bin (?P<at>\([^()]*\))", "5"),
    "limit of rows": (r"\blimit (?P<at>\d+)", "10 rows"),
    "fetch first": (r"\blimit \d+", "fetch first 3 rows only"),
    "for update": (r"\blimit \d+", "for update"),
    # constants
    "limit null": (r"\blimit (?P<at>\d+)", "null"),
    "limit of text": (r"\blimit (?P<at>\d+)", "'x'"),
    "negative limit": (r"\blimit (?P<at>\d+)", "-1"),
    "limit of a column": (r"\blimit (?P<at>\d+)", "num"),
    "bad timestamp": (_TEXT, "timestamp'2020-02-30'"),
    "bad binary": (_TEXT, "X'GG'"),
    "bad interval": (r"\binterval (?P<at>'[^']*'|\d+)", "'x'"),
    "bad unit": (r"\binterval (?:'[^']*'|\d+) (?P<at>\w+)", "fortnight"),
    "large tinyint": (_VALUE, "300Y"),
    "large bigint": (_VALUE, "99999999999999999999L"),
    "large decimal": (_VALUE, "1234567890123456789012345678901234567890BD"),
    "column for a constant": (r"(?P<at>'[^']*')\)", "concat('a', 'b', a.x)"),
    # types
    "boolean for a number": (_VALUE, "true"),
    "text for a number": (_VALUE, "'x'"),
    "date for a number": (_VALUE, "date'2020-01-01'"),
    "struct for a number": (_VALUE, "struct(1)"),
    "interval for a number": (_VALUE, "interval 1 day"),
    "element of a number": (_VALUE, "(1)[0]"),
    "number for text": (_TEXT, "array(1.5D)"),
    "field of a column": (r"\b[a-z]\.(?P<at>num|txt|id|day|money|amount)\b", "num.x.y"),
    "cast to no type": (r"\bas (?P<at>int|string|double|date|bigint|boolean)\)", "foo"),
    "cast to a large decimal": (r"\bas (?P<at>int|string|double|date|bigint|boolean)\)", "decimal(50, 2)"),
    "cast to an array": (r"\bas (?P<at>int|string|double|date|bigint|boolean)\)", "array<int>"),
    "not a number": (_REFERENCE, "(not 1)"),
    "set operation over maps": (r"\b(?:union|except|intersect) (?P<at>select)\b", "select map('k', 1), "),
    "set operation over another type": (r"\b(?:union|union all|except|intersect) select (?P<at>[\w.]+)", "array(1)"),
    # names
    "dropped qualifier": (r"\b(?P<at>[a-z]\.(?P<name>\w+))\b(?!\()", r"\g<name>"),
    "unknown qualifier": (r"\b(?P<at>[a-z]\.(?P<name>\w+))\b(?!\()", r"zz.\g<name>"),
    "unknown star": (r"\b(?P<at>select) (?!distinct)", "select no_such.*,"),
    "unknown window": (r"\bover (?P<at>\([^()]*\))", "no_such_window"),
    "unknown using": (r"\busing \((?P<at>\w+)", "no_such_column"),
    "expression in using": (r"\busing \((?P<at>(?P<name>\w+))", r"\g<name> + 1"),
    "cte twice": (r"\bwith (?P<at>(?P<name>\w+)) as \(", r"\g<name> as (select 1), \g<name>"),
    "unknown in except": (r"\bselect (?P<at>\*)", "* except (no_such)"),
    "except without brackets": (r"\bselect (?P<at>\*)", "* except num"),
    "unknown argument name": (rf"{_CALL}\((?P<at>)(?=[\w'])", "no_such => "),
    # places of special functions
    "window in where": (r"\b(?P<at>where)\b", "where row_number() over (order by 1) > 1 and"),
    "generator in where": (r"\b(?P<at>where)\b", "where explode(array(1)) = 1 and"),
    "aggregate in on": (r"\b(?P<at>on)\b(?! \()", "on count(*) > 1 and"),
    "window in having": (r"\b(?P<at>having)\b", "having rank() over (order by 1) = 1 and"),
    "nested aggregate": (r"\b(?:sum|max|min|avg)\((?P<at>[^()]+)\)", "max(1)"),
    "nested generator": (r"\bexplode\((?P<at>[^()]+)\)", "array(explode(array(1)))"),
    "two generators": (r"\b(?P<at>select) (?!distinct)", "select explode(array(1)), explode(array(2)),"),
    "window without order": (r"\bover (?P<at>\((?:partition by [\w.]+ )?order by [^()]*\))", "()"),
    "frame that ends first": (r"\bover \([^()]*(?P<at>)\)", " rows between 1 following and 1 preceding"),
    "text in a frame": (r"\bover \([^()]*(?P<at>)\)", " rows 'x' preceding"),
    "distinct in a scalar function": (rf"{_CALL}\((?P<at>)(?=[\w'])", "distinct "),
    "filter on a scalar function": (rf"{_CALL}\([^()]*\)(?P<at>)(?! over| filter| within)", " filter (where true)"),
    "over on a scalar function": (rf"{_CALL}\([^()]*\)(?P<at>)(?! over| filter| within)", " over ()"),
    "lambda for a column": (_REFERENCE, "(x -> x)"),
    "lambda of many": (r"\b(?P<at>\w+) ->", "(p, q, r, z)"),
    "star for a column": (_REFERENCE, "*"),
    # groups and orders
    "position behind the last column": (r"\bgroup by (?P<at>[\w.]+)", "99"),
    "position zero": (r"\bgroup by (?P<at>[\w.]+)", "0"),
    "group by an aggregate": (r"\bgroup by (?P<at>[\w.]+)", "sum(1)"),
    "order by position behind the last column": (r"(?<!by )(?<!\()order by (?P<at>[\w.]+)(?![^()]*\))", "99"),
    "order by a map": (r"\border by (?P<at>[\w.]+)", "map('k', 1)"),
    "group by a map": (r"\bgroup by (?P<at>[\w.]+)", "parse_json('1')"),
    "order of no kind": (r"\border by [\w.]+(?P<at> desc| asc)?", " descending"),
    "nulls of no kind": (r"\border by [\w.]+(?P<at>)", " nulls maybe"),
    # subqueries
    "subquery of two columns": (_VALUE, "(select 1, 2)"),
    "exists without a query": (r"\bexists (?P<at>\()", "(1 + "),
    "subquery without brackets": (_VALUE, "select 1"),
    "values of unlike widths": (r"\bvalues (?P<at>)\(", "(1, 2, 3, 4, 5), "),
    "column aliases too many": (r"\) (?:as )?(?P<at>[a-z])\b(?=[ )]|$)", "q (c1, c2, c3, c4, c5, c6, c7, c8, c9)"),
}  # fmt: skip

_COMPILED: Final = {kind: re.compile(pattern) for kind, (pattern, _) in PATTERNS.items()}


def edits(kind: str, query: str) -> list[tuple[int, int, str]]:
    """Start, end and replacement of each place where the kind of error can be made."""
    group = "at" if "at" in _COMPILED[kind].groupindex else 0
    found = _COMPILED[kind].finditer(query)
    return [(*match.span(group), match.expand(PATTERNS[kind][1])) for match in found if match.start(group) >= 0]
