"""Rules that the rows must keep, or the job fails before anything is committed: Apache SeaTunnel's Assert sink."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.datatypes import STRING, Array, DataType, Map, Struct, has_unknown
from catalog.diagnostics import Diagnostic, Diagnostics, RunError, did_you_mean
from catalog.quoting import quote, quote_text
from catalog.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.source import Span
from catalog.table import CatalogTable
from catalog.typenames import TypeTextError, parse_type, to_ddl
from connectors.support.option import Option, Options, OptionType, Value
from connectors.support.sink import Sink, SinkCapabilities, WriteTask
from connectors.support.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROW_RULES: Final = ("MIN_ROW", "MAX_ROW")
FIELD_RULES: Final[Mapping[str, str]] = {
    # rule: what holds for a value that keeps it; {v} is the value, {r} the rule's
    "NOT_NULL": "{v} is not null",
    "NULL": "{v} is null",
    "MIN": "{v} >= {r}",
    "MAX": "{v} <= {r}",
    "MIN_LENGTH": "length(cast({v} as string)) >= {r}",
    "MAX_LENGTH": "length(cast({v} as string)) <= {r}",
    "EQUALS_TO": "{v} <=> {r}",
}
_UNVALUED: Final = ("NOT_NULL", "NULL")
_RULE_KEYS: Final = ("row_rules", "field_rules", "condition_rules")
_FIELD_KEYS: Final = ("field_name", "field_type", "field_value")
_VALUE_KEYS: Final = ("rule_type", "rule_value", "equals_to")


@dataclass(frozen=True, slots=True)
class AssertRule:
    """One rule: what it demands, the Spark SQL that says whether a row keeps it (None: a rule on the count of rows)."""

    text: str
    span: Span | None
    keeps: str | None
    actual: str | None = None
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class AssertStaged(Staged):
    """Nothing is staged: the rules were checked."""


class Assert(Sink[AssertStaged]):
    name: ClassVar[str] = "Assert"
    doc: ClassVar[str] = "Fails the job, before anything is committed, where the rows break a rule."
    sink_options: ClassVar[tuple[Option, ...]] = (
        Option(
            "rules",
            OptionType.MAP,
            "`row_rules = [{ rule_type = MIN_ROW, rule_value = 1 }]`, `field_rules = [{ field_name, field_type, "
            "field_value = [{ rule_type = NOT_NULL, equals_to = 1 }] }]` with the rule types NOT_NULL, NULL, MIN, MAX, "
            'MIN_LENGTH and MAX_LENGTH, and `condition_rules = [{ condition = "amount > 0" }]` in Spark SQL.',
            required=True,
        ),
    )
    staged_type: ClassVar[type[Staged]] = AssertStaged
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        schema_save_modes=(SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, SchemaSaveMode.IGNORE),
        data_save_modes=(DataSaveMode.APPEND_DATA,),
        row_kind_modes=(WriteMode.APPEND,),
    )

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        tuple(_rules(options, table, diagnostics))

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        return TargetState(exists=False)

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> AssertStaged:
        return AssertStaged()

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: AssertStaged) -> AssertStaged:
        rules = tuple(_rules(task.options, task.table, Diagnostics()))
        aggregates = ["count(*)"]
        for rule in rules:
            if rule.keeps is not None:
                broken = f"not coalesce({rule.keeps}, false)"
                example = f"first(case when {broken} then coalesce(cast({rule.actual} as string), 'NULL') end, true)"
                aggregates += [f"count_if({broken})", example if rule.actual else "cast(null as string)"]
        row = df.selectExpr(*(f"{aggregate} as a{index}" for index, aggregate in enumerate(aggregates))).first()
        assert row is not None
        values = iter(row[1:])
        broken_rules = [each for rule in rules if (each := _verdict(rule, row[0], values))]
        if broken_rules:
            raise RunError(broken_rules)
        return AssertStaged()

    def commit(self, spark: "SparkSession", staged: AssertStaged) -> None:
        pass

    def abort(self, spark: "SparkSession", staged: AssertStaged) -> None:
        pass


connector = Assert()


def _verdict(rule: AssertRule, rows: int, values: Iterator[object]) -> Diagnostic | None:
    if rule.keeps is None:
        if (rule.least is None or rows >= rule.least) and (rule.most is None or rows <= rule.most):
            return None
        return Diagnostic("PEN5006", f"{rule.text}: there are {rows:,} rows", rule.span)
    broken, example = next(values), next(values)
    if not broken:
        return None
    found = f", the first of them `{example}`" if example is not None else ""
    return Diagnostic("PEN5006", f"{rule.text}: {broken:,} of {rows:,} rows break it{found}", rule.span)


def _rules(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> Iterator[AssertRule]:
    rules = options.mapping("rules")
    _check_keys(rules, _RULE_KEYS, "rules", options, diagnostics)
    for place, rule in _listed(rules, "row_rules", "rules", options, diagnostics):
        yield from _row_rule(rule, place, options, diagnostics)
    for place, field_rule in _listed(rules, "field_rules", "rules", options, diagnostics):
        yield from _field_rules(field_rule, place, table, options, diagnostics)
    for place, condition_rule in _listed(rules, "condition_rules", "rules", options, diagnostics):
        condition = str(condition_rule.get("condition") or "")
        if not condition:
            diagnostics.error("PEN2005", "a condition rule needs a `condition`", _span(options, place))
            continue
        yield AssertRule(f"`{condition}` holds for all rows", _span(options, place), f"({condition}\n)")


def _row_rule(
    each: Mapping[str, Value], place: str, options: Options, diagnostics: Diagnostics
) -> Iterator[AssertRule]:
    kind, count = str(each.get("rule_type")).upper(), each.get("rule_value")
    if kind not in ROW_RULES:
        _unknown_rule(kind, ROW_RULES, place, options, diagnostics)
    elif not isinstance(count, int | float):
        diagnostics.error("PEN2004", f"{kind} needs a number as `rule_value`", _span(options, place))
    elif kind == "MIN_ROW":
        yield AssertRule(f"MIN_ROW {int(count):,}", _span(options, place), None, least=int(count))
    else:
        yield AssertRule(f"MAX_ROW {int(count):,}", _span(options, place), None, most=int(count))


def _field_rules(
    each: Mapping[str, Value], place: str, table: CatalogTable, options: Options, diagnostics: Diagnostics
) -> Iterator[AssertRule]:
    _check_keys(each, _FIELD_KEYS, place, options, diagnostics)
    name = str(each.get("field_name") or "")
    column = table.column(name)
    if column is None and not table.is_open:
        hint = did_you_mean(name, table.schema.names)
        diagnostics.error(
            "PEN3004", f"no column `{name}` in `{table.path}`", _span(options, f"{place}.field_name"), hint
        )
        return
    kind = column.type if column else STRING
    _check_type(each.get("field_type"), name, kind, place, options=options, diagnostics=diagnostics)
    for inner, rule in _listed(each, "field_value", place, options, diagnostics):
        _check_keys(rule, _VALUE_KEYS, inner, options, diagnostics)
        if rule.get("rule_type") is not None:
            asked = str(rule["rule_type"]).upper()
            yield from _value_rule(
                name, kind, asked, rule.get("rule_value"), inner, options=options, diagnostics=diagnostics
            )
        if "equals_to" in rule:
            yield from _value_rule(
                name, kind, "EQUALS_TO", rule["equals_to"], inner, options=options, diagnostics=diagnostics
            )


def _value_rule(
    name: str, type: DataType, kind: str, value: Value, place: str, *, options: Options, diagnostics: Diagnostics
) -> Iterator[AssertRule]:
    if kind not in FIELD_RULES or (kind == "EQUALS_TO" and value is None):
        _unknown_rule(kind, tuple(FIELD_RULES)[:-1], place, options, diagnostics)
        return
    if kind not in _UNVALUED and value is None:
        diagnostics.error("PEN2005", f"{kind} needs a `rule_value`", _span(options, place))
        return
    if kind not in (*_UNVALUED, "EQUALS_TO") and not _is_number(value):
        diagnostics.error("PEN2004", f"{kind} needs a number as `rule_value`", _span(options, place))
        return
    column = quote(name)
    keeps = FIELD_RULES[kind].format(v=column, r=_literal(value, type) if kind == "EQUALS_TO" else value)
    if kind not in ("NOT_NULL", "NULL", "EQUALS_TO"):
        keeps = f"({column} is null or {keeps})"  # whether NULL is allowed is NOT_NULL's to say
    text = f"`{name}` {kind}" if kind in _UNVALUED else f"`{name}` {kind} {value}"
    yield AssertRule(text, _span(options, place), keeps, None if kind == "NOT_NULL" else column)


def _literal(value: Value, type: DataType) -> str:
    """A value of the job file as Spark SQL of the column's type."""
    text = value if isinstance(value, str) else json.dumps(value)
    literal = quote_text(text)
    if has_unknown(type):
        return literal  # Spark casts it to the column's type when it compares them
    if isinstance(type, Array | Map | Struct):
        return f"from_json({literal}, {quote_text(to_ddl(type))})"
    return f"cast({literal} as {to_ddl(type)})"


def _is_number(value: Value) -> bool:
    """Also one in quotes."""
    try:
        return not isinstance(value, bool) and math.isfinite(float(str(value)))
    except ValueError:
        return False


def _check_type(
    text: Value, name: str, type: DataType, place: str, *, options: Options, diagnostics: Diagnostics
) -> None:
    if text is None or has_unknown(type):
        return
    span = _span(options, f"{place}.field_type")
    try:
        wanted = parse_type(str(text))
    except TypeTextError as cause:
        diagnostics.error("PEN4001", cause.message, span, cause.help)
        return
    if str(wanted) != str(type):
        diagnostics.error("PEN4003", f"the column `{name}` is {type}, not {wanted} as the rule says", span)


def _listed(
    block: Mapping[str, Value], key: str, place: str, options: Options, diagnostics: Diagnostics
) -> Iterator[tuple[str, Mapping[str, Value]]]:
    value = block.get(key)
    for index, item in enumerate(value if isinstance(value, Sequence) and not isinstance(value, str) else ()):
        if isinstance(item, Mapping):
            yield f"{place}.{key}.{index}", item
        else:
            diagnostics.error("PEN2004", f"`{key}` is a list of objects", _span(options, f"{place}.{key}.{index}"))


def _check_keys(
    block: Mapping[str, Value], known: Sequence[str], place: str, options: Options, diagnostics: Diagnostics
) -> None:
    for key in block:
        if key not in known:
            diagnostics.error(
                "PEN2003", f"a rule has no `{key}`", _span(options, f"{place}.{key}"), did_you_mean(key, known)
            )


def _unknown_rule(kind: str, known: Sequence[str], place: str, options: Options, diagnostics: Diagnostics) -> None:
    diagnostics.error("PEN2004", f"unknown rule type `{kind}`", _span(options, place), did_you_mean(kind, known))


def _span(options: Options, place: str) -> Span | None:
    """The place itself, or the nearest around it that is known."""
    while place:
        if place in options.places:
            return options.places[place]
        place = place.rpartition(".")[0]
    return options.span()
