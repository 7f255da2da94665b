"""The version of Spark that a job is checked for and runs on; what differs between versions is a table by it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, order=True, slots=True)
class SparkVersion:
    """A version without its patch: `4.1`."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> "SparkVersion":
        """The version of `4.1` or `4.1.4`. Raises `ValueError` for another text."""
        major, minor = text.split(".")[:2]
        return cls(int(major), int(minor))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions from `since` and before `until`; None: of all known ones."""

    since: SparkVersion | None = None
    until: SparkVersion | None = None

    def __contains__(self, version: SparkVersion) -> bool:
        return (self.since is None or self.since <= version) and (self.until is None or version < self.until)


SPARK_4_1: Final = SparkVersion(4, 1)
SUPPORTED: Final = (SPARK_4_1,)
"""The versions that queries can be checked for, the oldest first."""
NEWEST: Final = SUPPORTED[-1]

JAVA_VERSIONS: Final[Mapping[SparkVersion, tuple[int, ...]]] = {SPARK_4_1: (17, 21)}
"""The versions of Java that each runs on."""
