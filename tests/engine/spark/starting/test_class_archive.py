"""Java's archive of Spark's classes: who writes it, when it is used, and what is never used."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.spark.session import find_java
from engine.spark.starting.class_archive import VARIABLE, ClassArchive, archive_options

HEADER = (0xF00BABA8).to_bytes(4, "little")


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "a folder"))
    java = tmp_path / "java"
    java.write_text("")
    return java


def options(java: Path) -> str:
    return archive_options(java, {})


def writing(java: Path) -> Path:
    (path,) = (java.parent / "a folder").glob("*.writing")
    return path


def warm(java: Path) -> str:
    return archive_options(java, {}, writes=True)


def test_only_warm_writes_what_later_sessions_use(java):
    assert [options(java), options(java), options(java)] == ["", "", ""]
    assert list((java.parent / "a folder").iterdir()) == []
    assert warm(java).startswith("'-XX:ArchiveClassesAtExit=")
    assert warm(java) == ""  # another one is writing it
    writing(java).write_bytes(b"incomplete: the header is written last")
    assert options(java) == ""
    writing(java).write_bytes(HEADER + b"classes")
    used = options(java)
    assert used.startswith(f"'-XX:SharedArchiveFile={java.parent}/a folder/")
    assert used == options(java)


def test_an_archive_that_was_cut_off_is_removed(java):
    """Java ends with SIGBUS when it maps one."""
    archive = ClassArchive.of(java, {})
    assert "ArchiveClassesAtExit" in archive.options_to_write()
    writing(java).write_bytes(HEADER + b"classes")
    path = archive.find()
    path.write_bytes(HEADER)
    assert archive.find() is None
    assert not path.exists()


def test_a_session_that_was_killed_gives_up_its_turn_after_a_day(java):
    warm(java)
    yesterday = time.time() - 25 * 3600
    os.utime(writing(java), (yesterday, yesterday))
    assert "ArchiveClassesAtExit" in warm(java)


def test_unused_archives_are_removed(java):
    warm(java)
    old = writing(java).with_name("0-4.jsa")
    old.write_bytes(HEADER)
    long_ago = time.time() - 40 * 24 * 3600
    os.utime(old, (long_ago, long_ago))
    writing(java).write_bytes(HEADER)
    assert "SharedArchiveFile" in options(java)
    assert not old.exists()


def test_another_java_or_class_path_has_its_own(java):
    first = ClassArchive.of(java, {}).key
    assert ClassArchive.of(java, {"spark.driver.extraClassPath": "more.jar"}).key != first
    os.utime(java, (0, 0))
    assert ClassArchive.of(java, {}).key != first


@pytest.mark.parametrize("value", ["off", "relative", "/proc/nothing"])
def test_no_folder_no_archive(java, monkeypatch, value):
    monkeypatch.setenv(VARIABLE, value)
    assert [options(java), warm(java)] == ["", ""]


def test_the_users_own_archive_wins(java):
    own = {"spark.driver.extraJavaOptions": "-Xmn100m -XX:SharedArchiveFile=own.jsa"}
    assert [archive_options(java, own), archive_options(java, own, writes=True)] == ["", ""]


@pytest.mark.spark
@pytest.mark.slow
def test_warm(tmp_path):
    """`penstock warm` writes the archive, as `.ci/dev` does for the tests, and Spark's classes of the next session come
    from it."""
    environment = {**os.environ, VARIABLE: str(tmp_path / "cache")}
    warm = [sys.executable, "-m", "engine.cli", "warm"]
    (tmp_path / "cache").mkdir()
    if (written := ClassArchive.of(find_java(), {}).find()) is not None:
        shutil.copy(written, tmp_path / "cache" / written.name)
    first = subprocess.run(warm, env=environment, capture_output=True, text=True, check=True)
    (archive,) = (tmp_path / "cache").glob("*.jsa")
    assert first.stdout == f"Spark starts faster with {archive} ({archive.stat().st_size >> 20} MB)\n"
    log = tmp_path / "classes.log"
    code = (
        "from engine.spark.session import open_session\n"
        f"open_session('x', {{'spark.driver.extraJavaOptions': '-Xlog:class+load:file={log}'}}).stop()\n"
    )
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    (context,) = (line for line in log.read_text().splitlines() if " org.apache.spark.SparkContext source: " in line)
    assert context.endswith("shared objects file (top)")


@pytest.mark.spark
def test_warm_without_a_folder(monkeypatch, capsys):
    from engine.cli import main

    monkeypatch.setenv(VARIABLE, "off")
    assert main(["warm"]) == 1
    assert f"{VARIABLE} is `off`" in capsys.readouterr().err
