"""What became of an expectation in one run."""

from dataclasses import dataclass

from engine.expectations.rules import RowCheck, Rule


@dataclass(frozen=True, slots=True)
class ExpectationOutcome:
    """`rows` came by; `unexpected` of them broke a rule over rows, `observed` is the value of one over all rows.

    `rejected`: rows that rules of the node took out, all of its rules together; a row that breaks two is one.
    """

    node: str
    rule: Rule
    success: bool
    rows: int
    unexpected: int | None = None
    observed: object = None
    details: str | None = None
    rejected: int = 0

    @property
    def said(self) -> str:
        """What was found, as the end of a sentence."""
        if self.details:
            return self.details
        if self.unexpected is not None:
            share = f" ({100 * self.unexpected / self.rows:.3g} %)" if self.rows else ""
            what = "rows break it" if isinstance(self.rule.check, RowCheck) else "rows are repeated"
            return f"{self.unexpected:,} of {self.rows:,}{share} {what}"
        return f"the value is {self.observed}"
