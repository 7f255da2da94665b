"""Processes that start at once copy jars into Ivy's cache one by one, and do not wait once the jars are there."""

import threading

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("fcntl")

JAR = "org.postgresql:postgresql:42.7.8"


def is_entered_meanwhile(cache, jars: str) -> bool:
    """Whether a second process may resolve its jars while one does."""
    from engine.spark.starting.jars import resolving

    entered = threading.Event()

    def second():
        with resolving(jars, str(cache)):
            entered.set()

    other = threading.Thread(target=second)
    with resolving(JAR, str(cache)):
        other.start()
        was_entered = entered.wait(0.5)
    other.join(10)
    assert entered.is_set()
    return was_entered


def test_jars_that_are_missing_are_copied_by_one_process_at_a_time(tmp_path):
    assert not is_entered_meanwhile(tmp_path / "ivy", JAR)


def test_jars_that_are_there_are_waited_for_by_none(tmp_path):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "org.postgresql_postgresql-42.7.8.jar").touch()
    assert is_entered_meanwhile(tmp_path, JAR)
    assert not is_entered_meanwhile(tmp_path, f"{JAR},com.mysql:mysql-connector-j:9.4.0")


def test_a_cache_that_cannot_be_written_is_left_to_spark(tmp_path):
    from engine.spark.starting.jars import resolving

    (tmp_path / "file").touch()
    with resolving(JAR, str(tmp_path / "file" / "ivy")):
        pass
