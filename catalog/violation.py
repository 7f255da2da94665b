"""What may follow from rows that break an expectation."""

from enum import Enum


class OnViolation(str, Enum):
    """What a broken expectation does with the run or the row."""

    FAIL = "FAIL"
    DROP = "DROP"
    WARN = "WARN"
    QUARANTINE = "QUARANTINE"
