"""What tests of the Jdbc connector share; they are collected only where there is pyspark."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.services.databases import Database

collect_ignore = [] if find_spec("pyspark") else [path.name for path in Path(__file__).parent.glob("test_*.py")]


@pytest.fixture(params=["postgres", "mariadb", "sqlite"])
def database(request: pytest.FixtureRequest) -> Database:
    """Each database that the connector is tested on, empty."""
    found: Database = request.getfixturevalue(request.param)
    found.clear()
    return found
