"""The `expectations` option of a block -> rules, checked against the table that they apply to."""

from collections.abc import Mapping
from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText, Span
from catalog.options import Options, Value
from catalog.quoting import quote
from catalog.tables.table import CatalogTable
from catalog.tables.violation import OnViolation
from engine.expectations.catalogue import RUN_BY_GREAT_EXPECTATIONS, check_of, known_types, mostly_of, structural
from engine.expectations.rules import QueryCheck, RowCheck, Rule
from engine.job.script.tree_nodes import joined
from sql.analyze import analyze

OWN_KEYS = ("name", "condition", "type", "expectation_type", "kwargs", "on_violation", "quarantine", "meta")


def read_rules(options: Options, node: str, table: CatalogTable, diagnostics: Diagnostics) -> tuple[Rule, ...]:
    """The rules of a block's `expectations`; errors go to `diagnostics`, and invalid rules are left out."""
    written = options.get("expectations")
    if not isinstance(written, list | tuple):
        return ()
    rules: list[Rule] = []
    for index, entry in enumerate(written):
        reader = _Reader(options, f"expectations.{index}", node, table, diagnostics)
        rule = reader.rule(entry) if isinstance(entry, Mapping) else None
        if rule is not None and any(other.name == rule.name for other in rules):
            diagnostics.error("PEN6002", f"two expectations of `{node}` are named `{rule.name}`", rule.span)
        elif rule is not None:
            rules.append(rule)
    return tuple(rules)


class _Reader:
    """One element of the list."""

    def __init__(self, options: Options, place: str, node: str, table: CatalogTable, diagnostics: Diagnostics) -> None:
        self.options, self.place, self.node, self.table, self.diagnostics = options, place, node, table, diagnostics

    def span(self, key: str = "") -> Span | None:
        places = self.options.places
        return places.get(f"{self.place}.{key}") or places.get(self.place) or self.options.span("expectations")

    def rule(self, written: Mapping[str, Value]) -> Rule | None:
        mark = self.diagnostics.mark()
        type, condition = written.get("type") or written.get("expectation_type"), written.get("condition")
        if (type is None) == (condition is None):
            help = 'condition = "amount > 0", or type = expect_column_values_to_not_be_null'
            self.diagnostics.error("PEN6002", "an expectation has either `condition` or `type`", self.span(), help)
            return None
        rule = self.of_condition(written) if type is None else self.of_type(str(type), written)
        if rule is not None:
            rule = self.with_action(rule, written)
        return None if mark.has_errors else rule

    def of_condition(self, written: Mapping[str, Value]) -> Rule | None:
        for key in written:
            if key not in OWN_KEYS and key != "mostly":
                help = did_you_mean(key, OWN_KEYS)
                self.diagnostics.error("PEN2003", f"an expectation has no option `{key}`", self.span(key), help)
        condition = str(written["condition"])
        text = self.options.texts.get(f"{self.place}.condition") or PlacedText.bare(condition)
        self.analyze(text, placed=f"{self.place}.condition" in self.options.texts)
        try:
            check = RowCheck(condition, mostly_of(written))
        except ValueError as cause:
            self.diagnostics.error("PEN2004", str(cause), self.span("mostly"))
            return None
        return Rule(str(written.get("name") or condition), check, span=self.span("condition"))

    def of_type(self, type: str, written: Mapping[str, Value]) -> Rule | None:
        inner = written.get("kwargs")
        arguments = {name: value for name, value in written.items() if name not in OWN_KEYS}
        arguments |= dict(inner) if isinstance(inner, Mapping) else {}
        name = str(written.get("name") or "_".join([type.removeprefix("expect_"), *_columns(arguments)]))
        if type not in known_types() and type not in RUN_BY_GREAT_EXPECTATIONS:
            help = did_you_mean(type, (*known_types(), *RUN_BY_GREAT_EXPECTATIONS))
            self.diagnostics.error("PEN6002", f"`{type}` is not a known expectation", self.span("type"), help)
            return None
        mark = self.diagnostics.mark()
        rule = Rule(name, QueryCheck(), type=type, arguments=arguments, span=self.span())
        try:
            if not self.table.is_open and (why := structural(type, arguments, self.table)) is not None:
                if why:
                    self.diagnostics.error("PEN6003", f"`{name}` of `{self.node}` cannot hold: {why}", self.span())
                return None
            self.check_columns(arguments)
            check = check_of(type, arguments)
        except ValueError as cause:
            self.diagnostics.error("PEN2004", f"`{type}`: {cause}", self.span())
            return None
        except KeyError as missing:
            message = f"`{type}` needs {missing}".replace("'", "`")
            self.diagnostics.error("PEN2005", message, self.span())
            return None
        if isinstance(check, RowCheck) and not mark.has_errors:
            self.analyze(PlacedText.bare(check.predicate), placed=False)
        return replace(rule, check=check) if check else rule

    def check_columns(self, arguments: Mapping[str, Value]) -> None:
        for name in _columns(arguments):
            if not self.table.is_open and self.table.column(name) is None:
                message = f"column `{name}` does not exist in `{self.node}`"
                self.diagnostics.error(
                    "PEN3004", message, self.span("column"), did_you_mean(name, self.table.schema.names)
                )

    def analyze(self, condition: PlacedText, *, placed: bool) -> None:
        """Whether the condition is a predicate over a row of the table, as in WHERE."""
        query = joined([f"SELECT 1 AS `1` FROM {quote(self.node)} WHERE (", condition, ")"], condition)
        if not self.table.is_open:
            analysis = analyze(query, {self.node: self.table.renamed(self.node)}, output=self.node)
            self.diagnostics.extend(
                diagnostic if placed else replace(diagnostic, span=self.span()) for diagnostic in analysis.diagnostics
            )

    def with_action(self, rule: Rule, written: Mapping[str, Value]) -> Rule | None:
        word, into = str(written.get("on_violation") or "FAIL").upper(), written.get("quarantine")
        if word not in OnViolation.__members__:
            help = did_you_mean(word, OnViolation.__members__)
            self.diagnostics.error("PEN2004", f"`on_violation` has no `{word}`", self.span("on_violation"), help)
            return None
        action = OnViolation(word)
        if (action is OnViolation.QUARANTINE) != (into is not None):
            help = "on_violation = QUARANTINE, quarantine = bad_rows; a sink then reads `bad_rows`"
            self.diagnostics.error(
                "PEN2011", "`QUARANTINE` and `quarantine` need each other", self.span("on_violation"), help
            )
        rule = replace(rule, on_violation=action, quarantine=None if into is None else str(into))
        if rule.takes_out and not isinstance(rule.check, RowCheck):
            message = f"`{rule.type}` checks all rows together, so no single row can be dropped or quarantined"
            self.diagnostics.error("PEN6002", message, self.span("on_violation"), "FAIL or WARN")
        return rule


def _columns(arguments: Mapping[str, Value]) -> list[str]:
    listed = arguments.get("column_list")
    several = [str(item) for item in listed] if isinstance(listed, list | tuple) else []
    return [str(arguments[key]) for key in ("column", "column_A", "column_B") if key in arguments] + several
