"""`DataValidator`: rows that violate rules fail the job, are skipped, or go into a table of errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import Span
from catalog.options import Option, Options, OptionType, Value
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable, TablePath
from catalog.types.datatypes import STRING, Array, DataType, Map
from engine.transforms.base import check_columns
from sql.rewrite.select_query import Projection, Select

_RULES: Final = ("NOT_NULL", "RANGE", "LENGTH", "REGEX", "UDF")
_NUMBERS: Final[Mapping[str, Callable[[str], object]]] = {
    "min_value": float, "max_value": float, "min_length": int, "max_length": int, "exact_length": int,
}  # fmt: skip
_EMAIL: Final = r"^[A-Za-z0-9._%+'-]+@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$"


@dataclass(frozen=True, slots=True)
class _Check:
    """A rule of one column: a SQL predicate for valid rows, and the SQL of the message for others."""

    field: str
    holds: str
    message: str


class DataValidator:
    name: ClassVar[str] = "DataValidator"
    doc: ClassVar[str] = (
        "Check rows by rules for their columns. Those that break one fail the job, are skipped, or go into a table of "
        "errors, a second table of this transform's output."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "field_rules",
            OptionType.LIST,
            "List of `{field_name, rule_type, …}`, or `{field_name, rules = […]}`. Rules: `NOT_NULL`; `RANGE` "
            "(`min_value`, `max_value`, `min_inclusive`, `max_inclusive`); `LENGTH` (`min_length`, `max_length`, "
            "`exact_length`); `REGEX` (`pattern`, `case_sensitive`); `UDF` (`function_name = EMAIL`). Each may have a "
            "`custom_message`; all but `NOT_NULL` hold for NULL.",
            required=True,
            element=OptionType.MAP,
        ),
        Option(
            "row_error_handle_way",
            OptionType.STRING,
            "What a row that breaks a rule does.",
            default="FAIL",
            choices=("FAIL", "SKIP", "ROUTE_TO_TABLE"),
            alternatives=("error_handle_way",),
        ),
        Option(
            "row_error_handle_way.error_table",
            OptionType.STRING,
            "The table of errors, with `ROUTE_TO_TABLE`: `source_table_id`, `source_table_path`, `original_data`, "
            "`validation_errors`, `create_time`.",
            alternatives=("error_table",),
        ),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        checks = _checks(table, options, diagnostics)
        if checks is None:
            return None
        if options.string("row_error_handle_way") != "FAIL":
            return Select(table.path.table, (), tuple(check.holds for check in checks))
        failing = (
            f"CASE WHEN {check.holds} THEN true ELSE raise_error(concat('DataValidator: ', {check.message})) END"
            for check in checks
        )
        return Select(table.path.table, (), tuple(failing))

    def routed(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> tuple[str, Select] | None:
        """The table of errors and its query; None if errors go elsewhere."""
        if options.string("row_error_handle_way") != "ROUTE_TO_TABLE":
            return None
        checks = _checks(table, options, Diagnostics())
        into = options.optional_string("row_error_handle_way.error_table")
        if into is None:
            help = 'row_error_handle_way.error_table = "errors"'
            diagnostics.error("PEN2005", "`ROUTE_TO_TABLE` needs an error table", options.span(), help)
        if into is None or checks is None:
            return None
        try:
            TablePath.parse(into)
        except ValueError as cause:
            diagnostics.error("PEN2004", str(cause), options.span("row_error_handle_way.error_table"))
            return None
        wrong = " OR ".join(f"NOT ({check.holds})" for check in checks)
        row = ", ".join(f"{quote(name)} AS {quote(name)}" for name in table.schema.names)
        errors = ", ".join(
            f"CASE WHEN NOT ({check.holds}) THEN named_struct('field_name', {quote_text(check.field)}, "
            f"'error_message', {check.message}) END"
            for check in checks
        )
        columns = {
            "source_table_id": quote_text(table.path.table),
            "source_table_path": quote_text(str(table.path)),
            "original_data": f"to_json(struct({row}), map('ignoreNullFields', 'false'))",
            "validation_errors": f"to_json(filter(array({errors}), each -> each IS NOT NULL))",
            "create_time": "current_timestamp()",
        }
        if options.seatunnel is not None and options.seatunnel.compat is Compat.SEATUNNEL_3 and "." not in into:
            into = ".".join(part for part in (table.path.database, table.path.schema, into) if part)
        return into, Select(table.path.table, tuple(Projection(*column) for column in columns.items()), (wrong,))


def _checks(table: CatalogTable, options: Options, diagnostics: Diagnostics) -> tuple[_Check, ...] | None:
    mark = diagnostics.mark()
    rules = list(_rules(options, diagnostics))
    places = {field: f"{place}.field_name" for field, _, place in rules}
    if not check_columns(table, places, options, diagnostics) or table.is_open:
        return None
    found = []
    for field, rule, place in rules:
        if wrong := _no_number(rule):
            message = f"`{wrong}` of the rule of `{field}` is `{rule[wrong]}`, not a number"
            diagnostics.error("PEN2004", message, options.span(place))
            continue
        column = table.column(field)
        check = _check(field, column.type, rule) if column is not None else None
        if check is None:
            _report(field, rule, options.span(place), diagnostics)
        else:
            found.append(check)
    return None if mark.has_errors else tuple(found)


def _no_number(rule: Mapping[str, Value]) -> str | None:
    """The first key of the rule that must be a number and is not: a length is a whole one."""
    for key, kind in _NUMBERS.items():
        value = rule.get(key)
        try:
            if value is not None:
                kind(str(value))
        except ValueError:
            return key
    return None


def _rules(options: Options, diagnostics: Diagnostics) -> "list[tuple[str, Mapping[str, Value], str]]":
    """Each rule with its column and its location among the options."""
    found: list[tuple[str, Mapping[str, Value], str]] = []
    value = options["field_rules"]
    for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
        place = f"field_rules.{index}"
        if not isinstance(item, Mapping) or not item.get("field_name"):
            diagnostics.error("PEN2005", "a rule needs `field_name`", options.span(place))
            continue
        nested = item.get("rules")
        rules = nested if isinstance(nested, list | tuple) else [item]
        found += [(str(item["field_name"]), rule, place) for rule in rules if isinstance(rule, Mapping)]
    return found


def _check(field: str, type: DataType, rule: Mapping[str, Value]) -> _Check | None:
    """The rule as SQL; None if it is unknown or incomplete."""
    kind = str(rule.get("rule_type") or "").upper()
    name = quote(field)
    found: tuple[str, str] | None = None
    match kind:
        case "NOT_NULL":
            found = f"{name} IS NOT NULL", quote_text(f"Field '{field}' cannot be null")
        case "RANGE":
            found = _range(field, name, rule)
        case "LENGTH":
            found = _length(field, name, type, rule)
        case "REGEX" if rule.get("pattern") is not None:
            pattern = str(rule["pattern"])
            flags = "" if _flag(rule.get("case_sensitive"), True) else "(?i)"
            message = quote_text(f"Field '{field}' does not match pattern '{pattern}'")
            found = (
                _or_null(name, f"regexp_like(CAST({name} AS STRING), {quote_text(f'^(?:{flags}{pattern})$')})"),
                message,
            )
        case "UDF" if str(rule.get("function_name")).upper() == "EMAIL":
            found = (
                _or_null(name, f"regexp_like({name}, {quote_text(_EMAIL)})"),
                quote_text(f"Field '{field}' is not an email"),
            )
    if found is None:
        return None
    custom = rule.get("custom_message")
    return _Check(field, found[0], quote_text(str(custom)) if custom else found[1])


def _report(field: str, rule: Mapping[str, Value], span: Span | None, diagnostics: Diagnostics) -> None:
    kind = str(rule.get("rule_type") or "").upper()
    message = f"the rule `{kind}` of `{field}` is not known, or lacks what it needs"
    help = did_you_mean(kind, _RULES)
    if kind == "UDF":
        message, help = f"`{rule.get('function_name')}` is a function in Java", "write it as a `Python` transform"
    diagnostics.error("PEN2004", message, span, help)


def _range(field: str, name: str, rule: Mapping[str, Value]) -> tuple[str, str] | None:
    tests = []
    for key, sign, inclusive in (("min_value", ">", "min_inclusive"), ("max_value", "<", "max_inclusive")):
        if rule.get(key) is not None:
            equal = "=" if _flag(rule.get(inclusive), True) else ""
            tests.append(f"CAST({name} AS DOUBLE) {sign}{equal} CAST({quote_text(str(rule[key]))} AS DOUBLE)")
    if not tests:
        return None
    start, end = quote_text(f"Field '{field}' value "), quote_text(f" is not within range {_interval(rule)}")
    return _or_null(name, " AND ".join(tests)), f"concat({start}, CAST({name} AS STRING), {end})"


def _interval(rule: Mapping[str, Value]) -> str:
    """`[0, 150]`; a round bracket where the limit itself is left out, or there is none."""
    least, most = rule.get("min_value"), rule.get("max_value")
    opening = "[" if least is not None and _flag(rule.get("min_inclusive"), True) else "("
    closing = "]" if most is not None and _flag(rule.get("max_inclusive"), True) else ")"
    return f"{opening}{'-inf' if least is None else least}, {'inf' if most is None else most}{closing}"


def _length(field: str, name: str, type: DataType, rule: Mapping[str, Value]) -> tuple[str, str] | None:
    length = f"size({name})" if isinstance(type, Array | Map) else f"length({name})"
    if type != STRING and not isinstance(type, Array | Map):
        length = f"length(CAST({name} AS STRING))"
    signs = (("min_length", ">="), ("max_length", "<="), ("exact_length", "="))
    tests = [f"{length} {sign} {int(str(rule[key]))}" for key, sign in signs if rule.get(key) is not None]
    wanted = ", ".join(f"{key} = {rule[key]}" for key, _ in signs if rule.get(key) is not None)
    start = quote_text(f"Field '{field}' has a wrong length, ")
    message = f"concat({start}, CAST({length} AS STRING), {quote_text(f': {wanted}')})"
    return (_or_null(name, " AND ".join(tests)), message) if tests else None


def _or_null(name: str, test: str) -> str:
    return f"({name} IS NULL OR ({test}))"


def _flag(value: Value, default: bool) -> bool:
    return default if value is None else str(value).lower() == "true"


transform = DataValidator()
