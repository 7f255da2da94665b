"""Whether a commit checks that the staged files still exist."""

from collections.abc import Mapping
from typing import Any, Final

from connectors.commits import run_owner

_ALWAYS: Final = 64


def are_checked(count: int, owner: Mapping[str, Any]) -> bool:
    """Few files are checked before every commit; many only if another process staged them (`owner`: its mark)."""
    return count <= _ALWAYS or not run_owner.is_this_process(owner)
