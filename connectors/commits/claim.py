"""The claim of a process on a run, as the steps of a sink see it."""

from collections.abc import Mapping
from typing import Protocol

from catalog.options import Value
from connectors.commits.leases import Renewals


class RunClaim(Protocol):
    """Shows that this process owns the run; a process that takes the run over has a claim with a higher epoch.

    A sink checks it inside the atomic step that changes its target: a process that was paused and lost the run changes
    nothing.
    """

    @property
    def run_id(self) -> str: ...

    @property
    def epoch(self) -> int: ...

    @property
    def token(self) -> str:
        """A name that no other claim has: it tells two processes apart that work on the same run."""
        ...

    @property
    def owner(self) -> Mapping[str, Value]:
        """The mark of this process (`connectors.commits.run_owner`)."""
        ...

    @property
    def renewals(self) -> Renewals:
        """Renews the leases of this process, while it works on the run."""
        ...

    def check(self) -> None:
        """Raises a `RunError` if another process has taken the run over."""
