"""Kills a commit in this process before one of its changes to a store."""

import threading
from collections.abc import Iterable

import pytest


class Killed(BaseException):
    """What a kill is to the process that it meets: nothing after it is done."""


def kill_at(number: int, monkeypatch: pytest.MonkeyPatch, changes: Iterable[tuple[type, str]]) -> list[int]:
    """Kill before the change of that number, of these methods; gives the count of those that were asked for.

    What renews a lease meanwhile, in a thread of its own, is no step of the commit.
    """
    asked = [0]

    def counted(change):
        def do(*arguments):
            is_lease = threading.current_thread().name == "penstock leases"
            asked[0] += not is_lease
            if asked[0] == number and not is_lease:
                raise Killed
            return change(*arguments)

        return do

    for kind, name in changes:
        monkeypatch.setattr(kind, name, counted(getattr(kind, name)))
    return asked
