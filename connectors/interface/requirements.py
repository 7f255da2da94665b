"""Which of the Python packages that a connector needs are not installed."""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Final

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[\w\s,.-]*\])?\s*((?:[<>=!~].*)?)\Z")
_CONDITION: Final = re.compile(r"\s*(>=|<=|==|!=|~=|>|<)\s*([\w.*+!-]+)\s*\Z")


def unmet_requirements(requirements: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Each requirement (`pyarrow>=17,<20`) that is not met, with the version that is installed (None: none).

    Raises ValueError for a text that is not one, or that has an environment marker.
    """
    for requirement in requirements:
        found = _REQUIREMENT.match(requirement)
        if found is None:
            raise ValueError(f"`{requirement}` is not a requirement such as `pyarrow>=17,<20`")
        conditions = [_condition(text, requirement) for text in found[2].split(",") if text.strip()]
        try:
            installed = version(found[1])
        except PackageNotFoundError:
            yield requirement, None
            continue
        if not all(_holds(installed, operator, wanted) for operator, wanted in conditions):
            yield requirement, installed


def _condition(text: str, requirement: str) -> tuple[str, str]:
    found = _CONDITION.match(text)
    if found is None:
        raise ValueError(f"`{text}` of `{requirement}` is not a condition such as `>=17`")
    return found[1], found[2]


def _holds(installed: str, operator: str, wanted: str) -> bool:
    has, needs = _numbers(installed), _numbers(wanted)
    width = max(len(has), len(needs))
    padded, least = has + (0,) * (width - len(has)), needs + (0,) * (width - len(needs))
    is_prefix = has[: len(needs)] == needs
    match operator:
        case "==":
            return is_prefix if wanted.endswith(".*") else padded == least
        case "!=":
            return not (is_prefix if wanted.endswith(".*") else padded == least)
        case "~=":
            return padded >= least and has[: len(needs) - 1] == needs[:-1]
        case ">=":
            return padded >= least
        case "<=":
            return padded <= least
        case ">":
            return padded > least
    return padded < least


def _numbers(text: str) -> tuple[int, ...]:
    """The release of a version: that of `17.0.1rc1+cpu` is 17, 0, 1."""
    release = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, release[0].split("."))) if release else ()
