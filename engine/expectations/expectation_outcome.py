"""The result of an expectation in one run."""

from dataclasses import dataclass

from engine.expectations.rules import RowCheck, Rule


@dataclass(frozen=True, slots=True)
class ExpectationOutcome:
    """`rows` were checked; `unexpected` of them violate a rule over rows; `observed` is the value of a
    rule over all rows.

    `rejected`: rows removed by all rules of the node together; a row that violates two rules counts once.
    `examples`: up to three of the rows that violate it, as texts without secrets.
    """

    node: str
    rule: Rule
    success: bool
    rows: int
    unexpected: int | None = None
    observed: object = None
    details: str | None = None
    rejected: int = 0
    examples: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The result, as the end of a sentence."""
        if self.details:
            return self.details
        if self.unexpected is not None:
            share = f" ({100 * self.unexpected / self.rows:.3g} %)" if self.rows else ""
            what = "rows break it" if isinstance(self.rule.check, RowCheck) else "rows are repeated"
            return f"{self.unexpected:,} of {self.rows:,}{share} {what}"
        return f"the value is {self.observed}"
