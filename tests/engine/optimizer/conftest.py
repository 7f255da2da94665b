"""The random jobs read the tests' own connector, too."""

from tests.engine.plan.conftest import _pushing

__all__ = ["_pushing"]
