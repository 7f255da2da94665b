"""What all tests share: `--update` for golden files, and one Spark session for those that are marked `spark`."""

import os
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.services.clickhouse import clickhouse  # noqa: F401 (fixture)
from tests.services.databases import mariadb, postgres, sqlite  # noqa: F401 (fixtures)
from tests.services.file_servers import ftp, sftp  # noqa: F401 (fixtures)
from tests.services.kafka import kafka  # noqa: F401 (fixture)
from tests.services.opensearch import elasticsearch, opensearch  # noqa: F401 (fixtures)
from tests.services.redis import redis  # noqa: F401 (fixture)
from tests.services.s3 import s3, s3_spark  # noqa: F401 (fixtures)
from tests.services.schema_registry import registry  # noqa: F401 (fixture)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC")
"""Without Java's optimizing compiler, which takes most of the CPU time where code runs once; options of a command win.
With one compiler, Java would have a cache for 48 MB of code, fill it, and compile all code again and again. The serial
collector has no threads that work beside the tests."""
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Where an image sets that variable, each process would compile what changed since `.ci/venv`, and each of the tests'
processes would rewrite the assertions of all test files."""
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it for its workers: tables would be cut to the terminal's width
settings.register_profile("any_speed", deadline=None)  # several processes share the cores
settings.load_profile("any_speed")
SIGINT_AT_START = signal.getsignal(signal.SIGINT)
"""Ignored where a script started the tests in the background."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write golden files and reference pages anew")


LONGEST = (
    "engine/runtime/test_submit.py",
    "engine/runtime/streaming/test_streams.py",
    "connectors/storage/test_s3.py",
    "sql/test_agreement.py",
    "sql/test_query_cases.py",
    "connectors/delta/test_delta_modes.py",
    "connectors/jdbc/test_sink.py",
    "connectors/paimon/test_paimon.py",
    "connectors/paimon/test_paimon_modes.py",
    "connectors/jdbc/test_sink_suite.py",
    "connectors/kafka/test_change_targets.py",
    "connectors/delta/test_delta.py",
    "test_wheel.py",
    "connectors/paimon/test_paimon_spanning_keys.py",
    "connectors/kafka/test_source.py",
    "seatunnel/test_jobs.py",
    "engine/runtime/test_run.py",
    "test_examples.py",
    "engine/spark/test_messages_of_sources.py",
    "engine/runtime/streaming/test_same_rows.py",
    "engine/runtime/test_accelerated.py",
    "test_pages.py",
    "connectors/test_kill.py",
    "ownership/test_explorer.py",
    "ownership/test_processes.py",
)
"""Files that take half a minute or more, and need to begin early."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, then the others that need Spark, then those that take seconds: one process of
    pytest-xdist, which takes a file at a time, does not wait for a long file of the other at the end."""
    first = {Path(__file__).parent / name: number - len(LONGEST) for number, name in enumerate(LONGEST)}
    on_spark = {item.path for item in items if item.get_closest_marker("spark")}
    items.sort(key=lambda item: first.get(item.path, item.path not in on_spark))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skipped test is a failure in CI: what it needs was not installed. Without pyspark, skips are expected."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or "CI" not in os.environ or find_spec("pyspark") is None:
        return
    if skipped := reporter.stats.get("skipped"):
        reporter.write_line(f"{len(skipped)} tests were skipped, which is a failure in CI", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written instead of compared."""
    return bool(request.config.getoption("--update"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """A session as `penstock run` makes it, on two cores, with the jars of the connectors and of databases; with
    `PENSTOCK_TEST_ACCELERATOR=comet`, accelerated."""
    pytest.importorskip("pyspark")
    from connectors.delta.connector import connector as delta
    from connectors.iceberg.connector import connector as iceberg
    from connectors.jdbc.known_dialects import DIALECTS
    from connectors.kafka.connector import connector as kafka_connector
    from connectors.shared.spark_jars import spark_jar
    from engine.job.model.job import Accelerator, Env
    from engine.spark.session import open_session

    warehouse = tmp_path_factory.mktemp("warehouse")
    settings = {
        "spark.master": os.environ.get("PENSTOCK_TEST_MASTER", "local[2]"),
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.databricks.delta.snapshotPartitions": "2",  # 50 tasks for each look at a table of two files, else
        "spark.ui.enabled": "false",
        "spark.sql.ui.explainMode": "simple",  # of the text that Spark keeps of each plan for its pages
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={warehouse} -Xmn384m",
    }
    drivers = (dialect.maven for dialect in DIALECTS if dialect.is_tested)
    jars = (*delta.maven, *iceberg.maven, *kafka_connector.maven, spark_jar("avro"), *drivers)
    accelerator = Accelerator(os.environ.get("PENSTOCK_TEST_ACCELERATOR", "none"))
    if accelerator is Accelerator.COMET:  # also for jobs that do not ask for it
        Env.session_settings = property(lambda env: env.spark)
        settings.pop("spark.sql.ui.explainMode")  # how much of a plan is native is read there
    session = open_session("tests", settings, jars, delta.session_settings, accelerator=accelerator)
    yield session
    session.stop()
