"""Expectations in the plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from catalog.diagnostics.source import Span
from catalog.options import Value
from catalog.tables.table import CatalogTable, Column
from catalog.tables.violation import OnViolation
from catalog.types.datatypes import STRING

REASON, NODE = "_reason", "_node"
"""The additional columns of a quarantine table."""


@dataclass(frozen=True, slots=True)
class RowCheck:
    """A predicate, Spark SQL, over one row. As with CHECK, a row violates it if it is false, not if it is NULL.

    `mostly`: the fraction of rows that must hold. `counted`: a predicate for the rows that count (great-expectations
    leaves out rows with NULL as the value).
    """

    predicate: str
    mostly: float = 1.0
    counted: str | None = None


@dataclass(frozen=True, slots=True)
class TableCheck:
    """An aggregate, Spark SQL, over all rows, and its allowed bounds or values."""

    aggregate: str
    minimum: float | None = None
    maximum: float | None = None
    strict_minimum: bool = False
    strict_maximum: bool = False
    values: tuple[Value, ...] | None = None

    def holds(self, value: object) -> bool:
        """Whether the aggregate's value is allowed; NULL, the value for no rows, is."""
        if value is None:
            return True
        if self.values is not None:
            return str(value) in {str(allowed) for allowed in self.values}
        number = float(str(value))
        low = self.minimum is None or (number > self.minimum if self.strict_minimum else number >= self.minimum)
        high = self.maximum is None or (number < self.maximum if self.strict_maximum else number <= self.maximum)
        return low and high


@dataclass(frozen=True, slots=True)
class QueryCheck:
    """A check that needs its own pass: `query` (over `{table}`) counts violating rows; without a query,
    great-expectations runs it. `examples` is a query of three of their values."""

    query: str | None = None
    mostly: float = 1.0
    examples: str | None = None


Check: TypeAlias = RowCheck | TableCheck | QueryCheck


@dataclass(frozen=True, slots=True)
class Rule:
    """An expectation: `type` and `arguments` are great-expectations' name and its keyword arguments."""

    name: str
    check: Check
    on_violation: OnViolation = OnViolation.FAIL
    quarantine: str | None = None
    type: str = "unexpected_rows_expectation"
    arguments: Mapping[str, Value] = field(default_factory=dict)
    span: Span | None = None

    @property
    def takes_out(self) -> bool:
        """Whether violating rows are removed."""
        return self.on_violation in (OnViolation.DROP, OnViolation.QUARANTINE)

    @property
    def text(self) -> str:
        """The rule as text."""
        match self.check:
            case RowCheck(predicate):
                return predicate if self.type == "unexpected_rows_expectation" else _call(self)
            case _:
                return _call(self)

    @property
    def fingerprint(self) -> list[Value]:
        return [self.name, self.type, self.text, self.on_violation.value, self.quarantine]

    def __str__(self) -> str:
        into = f" INTO {self.quarantine}" if self.quarantine else ""
        return f"{self.name}: {self.text} ON VIOLATION {self.on_violation.value}{into}"


def _call(rule: Rule) -> str:
    return f"{rule.type}({', '.join(f'{name}={value}' for name, value in rule.arguments.items())})"


def rejects_table(table: CatalogTable) -> CatalogTable:
    """The table of removed rows: the input's columns, the reason, and the node of the rule."""
    more = (Column(REASON, STRING, nullable=False), Column(NODE, STRING, nullable=False))
    own = tuple(column for column in table.columns if column.name.lower() not in (REASON, NODE))
    schema = replace(table.schema, columns=own + more, primary_key=None, constraint_keys=())
    return replace(table, schema=schema, partition_keys=())
