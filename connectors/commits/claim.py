"""The claim of a process on a run, as the steps of a sink see it."""

from typing import Protocol


class RunClaim(Protocol):
    """Shows that this process owns the run; a process that takes the run over has a claim with a higher epoch.

    A sink checks it inside the atomic step that changes its target: a process that was paused and lost the run changes
    nothing.
    """

    @property
    def run_id(self) -> str: ...

    @property
    def epoch(self) -> int: ...

    def check(self) -> None:
        """Raises a `RunError` if another process has taken the run over."""
