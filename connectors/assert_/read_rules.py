"""Reads the `rules` block of the Assert sink, and reports its errors."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Options, Value
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import STRING, UNKNOWN, VOID, DataType, Decimal, has_unknown, is_numeric
from catalog.types.typenames import TypeTextError
from connectors.assert_.assert_rule import AssertRule, blocks, check_keys, span_of, unknown_rule
from connectors.assert_.equality import equals
from connectors.assert_.field_types import agrees, wanted_type
from connectors.assert_.table_rules import check_table
from connectors.shared.literals import LiteralError, as_in_seatunnel, literal

ROW_RULES: Final = ("MIN_ROW", "MAX_ROW")
FIELD_RULES: Final[Mapping[str, str]] = {
    # rule: the predicate of a valid value; {v} is the value, {r} that of the rule
    "NOT_NULL": "{v} is not null",
    "NULL": "{v} is null",
    "MIN": "{v} >= {r}",
    "MAX": "{v} <= {r}",
    "MIN_LENGTH": "length(coalesce(cast({v} as string), '')) >= {r}",
    "MAX_LENGTH": "length(coalesce(cast({v} as string), '')) <= {r}",
}
_UNVALUED: Final = ("NOT_NULL", "NULL")
_TABLE_KEYS: Final = ("row_rules", "field_rules", "condition_rules", "catalog_table_rule", "catalog_table_rules")
_RULE_KEYS: Final = (*_TABLE_KEYS, "table-names", "tables_configs")
_ROW_KEYS: Final = ("rule_type", "rule_value")
_FIELD_KEYS: Final = ("field_name", "field_type", "field_value")
_VALUE_KEYS: Final = ("rule_type", "rule_value", "equals_to")


def read_rules(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> Iterator[AssertRule]:
    """The rules on the rows of a table. Invalid rules, and violated rules on the schema, are reported."""
    rules = options.mapping("rules")
    mark = diagnostics.mark()
    check_keys(rules, _RULE_KEYS, "rules", options, diagnostics)
    if not any(rules.get(key) for key in _RULE_KEYS) and not (rules and mark.has_errors):
        help = "rules { row_rules = [{ rule_type = MIN_ROW, rule_value = 1 }] }"
        diagnostics.error("PEN2005", "`rules` has no rule", options.span("rules"), help)
        return
    names = rules.get("table-names")
    if isinstance(names, Sequence) and not isinstance(names, str) and str(table.path) not in [str(e) for e in names]:
        message = f"the table `{table.path}` is none of `table-names`"
        diagnostics.error("PEN5006", message, span_of(options, "rules.table-names"))
    own, location = _of_table(rules, table, options, diagnostics)
    yield from _table_rules(own, location, table, options, diagnostics)


def _of_table(
    rules: Mapping[str, Value], table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> tuple[Mapping[str, Value], str]:
    """The rules of the table and their location: those of its entry in `tables_configs`, if there is one."""
    if "tables_configs" not in rules:
        return rules, "rules"
    found: tuple[Mapping[str, Value], str] = ({}, "rules.tables_configs")
    for location, block in blocks(rules, "tables_configs", "rules", options, diagnostics):
        check_keys(block, (*_TABLE_KEYS, "table_path"), location, options, diagnostics)
        if block.get("table_path") is None:
            diagnostics.error("PEN2005", "rules of a table need its `table_path`", span_of(options, location))
        elif str(block["table_path"]) == str(table.path):
            found = (block, location)
    return found


def _table_rules(
    rules: Mapping[str, Value], location: str, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> Iterator[AssertRule]:
    for inner, rule in blocks(rules, "row_rules", location, options, diagnostics):
        yield from _row_rule(rule, inner, options, diagnostics)
    for inner, field_rule in blocks(rules, "field_rules", location, options, diagnostics):
        yield from _field_rules(field_rule, inner, table, options, diagnostics)
    for inner, rule in blocks(rules, "condition_rules", location, options, diagnostics):
        condition = str(rule.get("condition") or "")
        if not condition:
            diagnostics.error("PEN2005", "a condition rule needs a `condition`", span_of(options, inner))
            continue
        yield AssertRule(f"`{condition}` holds for all rows", span_of(options, inner), f"({condition}\n)")
    for key in ("catalog_table_rule", "catalog_table_rules"):
        block = rules.get(key)
        if isinstance(block, Mapping):
            check_table(block, f"{location}.{key}", table, options, diagnostics)
        elif block is not None:
            diagnostics.error("PEN2004", f"`{key}` must be a block", span_of(options, f"{location}.{key}"))


def _row_rule(
    block: Mapping[str, Value], location: str, options: Options, diagnostics: Diagnostics
) -> Iterator[AssertRule]:
    check_keys(block, _ROW_KEYS, location, options, diagnostics)
    kind, count = str(block.get("rule_type")).upper(), block.get("rule_value")
    span = span_of(options, location)
    if kind not in ROW_RULES:
        unknown_rule(kind, ROW_RULES, location, options, diagnostics)
    elif not _is_number(count):
        diagnostics.error("PEN2004", f"{kind} needs a number as `rule_value`", span)
    else:
        rows = float(str(count))
        text = f"{kind} {int(rows):,}"
        yield (
            AssertRule(text, span, None, least=math.ceil(rows))
            if kind == "MIN_ROW"
            else AssertRule(text, span, None, most=math.floor(rows))
        )


def _field_rules(
    block: Mapping[str, Value], location: str, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> Iterator[AssertRule]:
    check_keys(block, _FIELD_KEYS, location, options, diagnostics)
    name = str(block.get("field_name") or "")
    column = table.column(name)
    if column is None and not table.is_open:
        hint = did_you_mean(name, table.schema.names)
        span = span_of(options, f"{location}.field_name")
        diagnostics.error("PEN3004", f"no column `{name}` in `{table.path}`", span, hint)
        return
    type = column.type if column else UNKNOWN
    yield from _type_rule(block.get("field_type"), name, type, location, options=options, diagnostics=diagnostics)
    is_typed_only = options.seatunnel is not None and (
        options.seatunnel.compat is Compat.SEATUNNEL_3 or "field_value" not in block
    )
    if not is_typed_only and not block.get("field_value"):
        help = "field_value = [{ rule_type = NOT_NULL }]"
        diagnostics.error("PEN2005", f"the rule of `{name}` has no `field_value`", span_of(options, location), help)
    for inner, rule in blocks(block, "field_value", location, options, diagnostics):
        check_keys(rule, _VALUE_KEYS, inner, options, diagnostics)
        is_empty = rule.get("rule_type") is None and rule.get("equals_to") is None
        if is_empty and not (options.seatunnel and "equals_to" in rule):  # `null` checks nothing
            help = "rule_type = NOT_NULL, or equals_to = 1"
            diagnostics.error("PEN2005", "a rule needs a `rule_type` or `equals_to`", span_of(options, inner), help)
        if rule.get("rule_type") is not None:
            yield from _bound(name, type, rule, inner, options=options, diagnostics=diagnostics)
        if rule.get("equals_to") is not None:
            yield from _equality(name, type, rule["equals_to"], inner, options=options, diagnostics=diagnostics)


def _bound(
    name: str, type: DataType, rule: Mapping[str, Value], location: str, *, options: Options, diagnostics: Diagnostics
) -> Iterator[AssertRule]:
    kind, value, span = str(rule["rule_type"]).upper(), rule.get("rule_value"), span_of(options, location)
    if kind not in FIELD_RULES:
        unknown_rule(kind, tuple(FIELD_RULES), location, options, diagnostics)
        return
    column = quote(name)
    if kind in _UNVALUED:
        keeps = FIELD_RULES[kind].format(v=column)
        yield AssertRule(f"`{name}` {kind}", span, keeps, None if kind == "NOT_NULL" else column)
    elif value is None:
        diagnostics.error("PEN2005", f"{kind} needs a `rule_value`", span)
    elif not _is_number(value):
        diagnostics.error("PEN2004", f"{kind} needs a number as `rule_value`", span)
    elif kind in ("MIN", "MAX") and type not in (UNKNOWN, VOID) and not is_numeric(type):
        help = "MIN_LENGTH and MAX_LENGTH compare the length of texts"
        message = f"{kind} compares numbers, and `{name}` is {type}"
        diagnostics.error("PEN4003", message, span, help if type == STRING else None)
    else:
        bound = str(value) if isinstance(value, int) else f"{float(str(value))!r}d"
        yield AssertRule(f"`{name}` {kind} {value}", span, FIELD_RULES[kind].format(v=column, r=bound), column)


def _equality(
    name: str, type: DataType, value: Value, location: str, *, options: Options, diagnostics: Diagnostics
) -> Iterator[AssertRule]:
    span, column = span_of(options, f"{location}.equals_to"), quote(name)
    if has_unknown(type):
        keeps = f"{column} <=> {quote_text(str(value))}"  # Spark casts it to the column's type
    else:
        try:
            keeps = equals(column, literal(as_in_seatunnel(value, type) if options.seatunnel else value, type), type)
        except LiteralError as cause:
            diagnostics.error("PEN2004", f"`{value}` {cause}", span)
            return
    if options.seatunnel or options.flag("null_equals_all"):  # in SeaTunnel, NULL equals everything
        keeps = f"({column} is null or {keeps})"
    yield AssertRule(f"`{name}` EQUALS_TO {value}", span, keeps, column)


def _type_rule(
    value: Value, name: str, type: DataType, location: str, *, options: Options, diagnostics: Diagnostics
) -> Iterator[AssertRule]:
    """Report a column of another type; for decimals, yield the rule that limits their digits."""
    if value is None or has_unknown(type):
        return
    span = span_of(options, f"{location}.field_type")
    try:
        wanted = wanted_type(value)
    except TypeTextError as cause:
        diagnostics.error("PEN4001", cause.message, span, cause.help)
        return
    if wanted == VOID and type != VOID and options.seatunnel:  # SeaTunnel compares types by values
        yield AssertRule(f"`{name}` is NULL, as its type says", span, f"{quote(name)} is null", quote(name))
    elif not agrees(wanted, type):
        message = f"the column `{name}` is {type}, not {wanted or 'decimal'} as the rule says"
        diagnostics.error("PEN4003", message, span)
    elif isinstance(wanted, Decimal) and isinstance(type, Decimal) and wanted.precision < type.precision:
        keeps = f"{quote(name)} is null or abs({quote(name)}) < 1e{wanted.precision - wanted.scale}"
        yield AssertRule(f"`{name}` is {wanted}", span, f"({keeps})", quote(name))


def _is_number(value: Value) -> bool:
    """Whether the value is a number, quoted or not."""
    try:
        return not isinstance(value, bool) and math.isfinite(float(str(value)))
    except ValueError:
        return False
