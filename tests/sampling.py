"""Which cases of a product of parameters, and which tests of a shared suite, run by default; `make soak` runs all."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from types import FunctionType
from typing import Any

import pytest


def pairwise(cases: Sequence[tuple[Any, ...]], parameters: int | None = None) -> list[Any]:
    """The cases as parameters; those whose pairs of values are in other cases too are left to `make soak`, so that by
    default each value of a parameter meets each value of another that it meets in any case. `parameters`: how many of
    a case's first values are parameters; the others are what is expected."""
    pairs = [{(i, case[i], j, case[j]) for i, j in combinations(range(len(case[:parameters])), 2)} for case in cases]
    holders = Counter(pair for several in pairs for pair in several)
    found = []
    for case, several in zip(reversed(cases), reversed(pairs), strict=True):
        is_covered = all(holders[pair] > 1 for pair in several)
        if is_covered:
            holders.subtract(several)
        found.append(pytest.param(*case, marks=pytest.mark.soak if is_covered else ()))
    return found[::-1]


def sampled(suite: type, *names: str) -> Callable[[type], type]:
    """Of the tests of a shared suite, those of these names run by default; the others are left to `make soak`."""

    def decorate(tests: type) -> type:
        for name in dir(suite):
            if name.startswith("test_") and name not in names and name not in vars(tests):
                setattr(tests, name, soaked(getattr(tests, name)))
        return tests

    return decorate


def soaked(test: FunctionType) -> Any:
    """A copy that only `make soak` runs."""
    return pytest.mark.soak(_copied(test))


def paired(test: Any) -> Any:
    """A copy of a test of a shared suite that has a product of parameters: by default it meets their pairs."""
    copied = _copied(test)
    [product] = [mark for mark in test.pytestmark if mark.name == "parametrize"]
    copied.pytestmark = [mark for mark in test.pytestmark if mark is not product]
    names, cases = product.args
    return pytest.mark.parametrize(names, pairwise(cases))(copied)


def _copied(test: FunctionType) -> FunctionType:
    copied = FunctionType(test.__code__, test.__globals__, test.__name__, test.__defaults__, test.__closure__)
    copied.__dict__.update(test.__dict__)
    copied.__kwdefaults__ = test.__kwdefaults__
    return copied
