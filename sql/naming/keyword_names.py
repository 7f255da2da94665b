"""Functions that are written with words between their arguments: `EXTRACT(field FROM x)`, `TRIM(BOTH a FROM b)`."""

import re

from sqlglot import exp

from sql.naming.dispatch import first_offset, pretty
from sql.types.expression_type import Scope


def pretty_extract(node: exp.Extract, scope: Scope) -> str:
    """The field as it is written, which sqlglot keeps in capitals only: the last `field FROM` before the source."""
    written = list(
        re.finditer(rf"\b({re.escape(node.this.name)})\s+from\b", scope.text[: first_offset(node.expression)], re.I)
    )
    field = written[-1].group(1) if written else node.this.name
    return f"extract({field} FROM {pretty(node.expression, scope)})"


def pretty_trim(node: exp.Trim, scope: Scope) -> str:
    side = str(node.args.get("position") or "BOTH").upper()
    inner, characters = pretty(node.this, scope), node.expression
    if characters is None:
        return f"{ {'BOTH': 'trim', 'LEADING': 'ltrim', 'TRAILING': 'rtrim'}[side] }({inner})"
    return f"TRIM({side} {pretty(characters, scope)} FROM {inner})"


def pretty_substring(node: exp.Substring, scope: Scope) -> str:
    length = node.args.get("length")
    end = pretty(length, scope) if length is not None else "2147483647"
    return f"substring({pretty(node.this, scope)}, {pretty(node.args.get('start'), scope)}, {end})"


def pretty_overlay(node: exp.Overlay, scope: Scope) -> str:
    length = node.args.get("for_")
    parts = [pretty(node.this, scope), pretty(node.expression, scope), pretty(node.args.get("from_"), scope)]
    return f"overlay({', '.join([*parts, pretty(length, scope) if length is not None else '-1'])})"
