"""Real drivers of several hosts over every kind of target, stopped and killed at chosen changes: exact rows.

In `make soak`; the suite has the same on files, in processes without Spark (`test_processes`).
`PENSTOCK_OWNERSHIP_DRIVERS=70` runs so many schedules, and so many trials of paused drivers, from the seed
`PENSTOCK_OWNERSHIP_SEED` on; `PENSTOCK_OWNERSHIP_KINDS=postgres,s3` chooses the targets. A schedule is run again by its
seed: what is wrong names it.
"""

import os

import pytest

from connectors.delta.connector import connector as delta
from connectors.iceberg.connector import connector as iceberg
from connectors.jdbc.known_dialects import MARIADB, POSTGRESQL
from tests.ownership.schedules import KINDS, World, drivers_in, paused_driver, run_all
from tests.services.s3 import JARS

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.soak]
COUNT = int(os.environ.get("PENSTOCK_OWNERSHIP_DRIVERS", "7"))
FIRST = int(os.environ.get("PENSTOCK_OWNERSHIP_SEED", "0"))
CHOSEN = tuple(os.environ.get("PENSTOCK_OWNERSHIP_KINDS", ",".join(KINDS)).split(","))


@pytest.fixture
def world(postgres, mariadb, s3):
    for database in (postgres, mariadb):
        database.clear()
    return World(postgres, mariadb, s3.bucket())


@pytest.fixture
def drivers(tmp_path, s3):
    """The jars of S3, which are big, only where they are needed."""
    settings = {f"spark.hadoop.{name}": value for name, value in s3.settings.items()}
    jars = (*delta.maven, *iceberg.maven, POSTGRESQL.maven, MARIADB.maven, *(JARS if "s3" in CHOSEN else ()))
    with drivers_in(tmp_path, {**settings, "jars": jars}, 3) as found:
        yield found


def test_seeded_schedules_of_drivers(tmp_path, world, drivers):
    assert run_all(world, tmp_path, drivers, range(FIRST, FIRST + COUNT), CHOSEN) == []


def test_a_paused_driver_that_was_taken_over_commits_nothing(tmp_path, world, drivers):
    seeds = range(FIRST + 100_000, FIRST + 100_000 + COUNT)
    assert run_all(world, tmp_path, drivers, seeds, CHOSEN, run=paused_driver) == []
