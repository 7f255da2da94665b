"""The possible consequences of rows that violate an expectation."""

from enum import Enum


class OnViolation(str, Enum):
    """What happens to the run or the row if an expectation is violated."""

    FAIL = "FAIL"
    DROP = "DROP"
    WARN = "WARN"
    QUARANTINE = "QUARANTINE"
