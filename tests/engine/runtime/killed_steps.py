"""Kills a run in this process before or after one of its steps."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from engine.runtime import job_execution
from tests.connectors.killed_commits import Killed


class Step(NamedTuple):
    """A function that a run calls, by its owner and name, and whether it has been done when the run is killed."""

    owner: object
    name: str
    is_after: bool


def kill(monkeypatch: pytest.MonkeyPatch, step: Step, count: int, do: Callable[[], int]) -> bool:
    """Do something that is killed at a step, when it comes to it for the `count`-th time; whether it was."""
    real, seen = getattr(step.owner, step.name), [0]

    def killed(*arguments, **named):
        seen[0] += 1
        if seen[0] != count:
            return real(*arguments, **named)
        if step.is_after:
            real(*arguments, **named)
        raise Killed(step)

    with monkeypatch.context() as patched:
        patched.setattr(step.owner, step.name, killed)
        patched.setattr(job_execution, "abort_all", lambda *_: ())
        try:
            assert do() == 0
        except Killed:
            return True
    return False


def processes_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connectors.commits.run_owner.is_alive", lambda mark: False)
    monkeypatch.setattr("connectors.commits.run_owner.has_died", lambda mark: True)
