"""Syntax that some versions of Spark have, and the versions."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from catalog.spark_version import SparkVersion, Versions

_NONE_YET: Final = Versions(until=SparkVersion(0, 0))
"""Of none of the versions that queries can be checked for."""


class Feature(Enum):
    """What a query may use."""

    UNION_BY_NAME = "UNION BY NAME"


_VERSIONS: Final[Mapping[Feature, Versions]] = {Feature.UNION_BY_NAME: _NONE_YET}


def has(spark: SparkVersion, feature: Feature) -> bool:
    """Whether this version of Spark has the feature."""
    return spark in _VERSIONS[feature]
