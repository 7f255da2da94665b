"""Disagreements of the kinds that `docs/analysis.md` lists, which random queries come upon now and then."""

import re
from typing import Final

_MISSED: Final = r"accepted: (?:[\w ,]+: )?"
LISTED: Final = {
    "values (1 / 0)": _MISSED + r"INVALID_INLINE_TABLE\.(FAILED_SQL_EXPRESSION|CANNOT_EVALUATE_EXPRESSION)",
    "select sum(positive(customer)) over (partition by lines[0].sku order by placed), lag(customer) over (order by"
    " placed desc), count(id + 1) over (partition by lines[0].sku) from orders": _MISSED
    + r"MISSING_ATTRIBUTES\S* .*Resolved attribute\(s\) \"_w\d+\"",
    "select interval 2147483647 day * 2": _MISSED + r"(CAST_OVERFLOW|(INTERVAL_)?ARITHMETIC_OVERFLOW)\b",
    "select id from orders as o where 99999999999999999999 > (select sum(max(1)) from orders where id = o.id)": (
        r"rejected: PEN3011 an aggregate function is not allowed inside another :: .*\d{19,} [<>=!]+ \(select"
    ),
    "select struct(x => 1) as s": r"rejected: PEN3001 syntax error at or near `=>` :: .*\bstruct\(\w+ => ",
    "select round(amount, -'x') from orders": _MISSED + r"(CAST_INVALID_INPUT|DIVIDE_BY_ZERO) .* :: .*\bb?round\(",
}
"""By the query that the page shows for a kind, the beginning of such a disagreement as the oracle prints it."""


def is_listed(problem: str) -> bool:
    return any(re.match(kind, problem) for kind in LISTED.values())
