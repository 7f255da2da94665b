"""Java's archive of Spark's classes: with it a session starts in about half of the CPU time.

Java can write the classes that a process has loaded to a file that later processes map into memory (application class
data sharing, JEP 350). `penstock warm` has it written, and later sessions use it. Java does not use an archive of
another version or class path.
"""

import hashlib
import os
import re
import shlex
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.find_spark_home import _find_spark_home

JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
VARIABLE: Final = "PENSTOCK_CACHE_DIR"
"""The environment variable of the folder of the archives; `off` for none."""

_MAGIC: Final = ((0xF00BABA8).to_bytes(4, "little"), (0xF00BABA8).to_bytes(4, "big"))
"""The first bytes of an archive. Java writes its header last, so that an incomplete one begins otherwise."""

_BYTES_NEEDED: Final = 1 << 30
"""Free disk space without which no archive, of about 150 MB, is written."""

_SECONDS_TO_WRITE: Final = 24 * 3600.0
"""A session that was to write the archive and has not done so after this time was killed."""

_SECONDS_UNUSED: Final = 30 * 24 * 3600.0
"""An archive that no session has used for this time is removed: it is of another Java or Spark."""

_QUIET: Final = "-Xlog:cds*=off"
_CHOSEN: Final = re.compile(r"-Xshare:|-XX:[+-]?(?:SharedArchiveFile|ArchiveClassesAtExit|AutoCreateSharedArchive)")
"""Options of Java with which users choose an archive themselves."""


def archive_options(java: Path, settings: Mapping[str, str], *, writes: bool = False) -> str:
    """Java's options to use the archive or, with `writes`, to write it; empty where neither can be done.

    `java` is the program, `settings` are the session's `spark.*` settings. There is no archive where its folder cannot
    be written to, or where the user has chosen one.
    """
    if _CHOSEN.search(settings.get(JAVA_OPTIONS, "") + os.environ.get("JAVA_TOOL_OPTIONS", "")):
        return ""
    try:
        archive = ClassArchive.of(java, settings)
        return "" if archive is None else archive.options_to_write() if writes else archive.options()
    except OSError:
        return ""


@dataclass(frozen=True)
class ClassArchive:
    """The archive of one Java, one Spark and one class path."""

    folder: Path
    key: str

    @classmethod
    def of(cls, java: Path, settings: Mapping[str, str]) -> "ClassArchive | None":
        """The archive for a session; None if the user wants none. Raises `OSError` if its folder cannot be made."""
        given = os.environ.get(VARIABLE)
        if given == "off":
            return None
        shared = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        folder = Path(given) if given else Path(shared, "penstock")
        if not folder.is_absolute():  # there is no home directory
            return None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(folder, _key(java, settings))

    def find(self) -> Path | None:
        """The complete archive, also one that an earlier session has written meanwhile."""
        self._adopt()
        for archive in self.folder.glob(f"{self.key}-*.jsa"):
            if archive == self._named(archive.stat().st_size):
                return archive
            archive.unlink(missing_ok=True)  # it was cut off, and Java crashes on such a one
        return None

    def options(self) -> str:
        """Java's options to use the archive; empty where there is none."""
        archive = self.find()
        if archive is None:
            return ""
        os.utime(archive)
        return f"{shlex.quote(f'-XX:SharedArchiveFile={archive}')} -XX:+VerifySharedSpaces {_QUIET}"

    def options_to_write(self) -> str:
        """Java's options to write the archive at its end; empty where another session writes it, or no disk is left."""
        return f"{shlex.quote(f'-XX:ArchiveClassesAtExit={self._written}')} {_QUIET}" if self._claim() else ""

    @property
    def _written(self) -> Path:
        return self.folder / f"{self.key}.writing"

    def _named(self, size: int) -> Path:
        return self.folder / f"{self.key}-{size}.jsa"

    def _adopt(self) -> None:
        """Give the archive its name once it is complete, and remove those that are no longer used."""
        try:
            with self._written.open("rb") as file:
                if file.read(4) not in _MAGIC:
                    return
            self._written.rename(self._named(self._written.stat().st_size))
        except FileNotFoundError:  # not written yet, or another session was faster
            return
        for old in self.folder.glob("*.jsa"):
            if time.time() - old.stat().st_mtime > _SECONDS_UNUSED:
                old.unlink(missing_ok=True)

    def _claim(self) -> bool:
        """Whether this session is the one that writes the archive."""
        if shutil.disk_usage(self.folder).free < _BYTES_NEEDED:
            return False
        try:
            if time.time() - self._written.stat().st_mtime < _SECONDS_TO_WRITE:
                return False
            self._written.unlink(missing_ok=True)
        except FileNotFoundError:
            pass
        try:
            self._written.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def _key(java: Path, settings: Mapping[str, str]) -> str:
    """What an archive belongs to: Java, the jars of Spark, and what changes the class path."""
    home = Path(_find_spark_home())  # type: ignore[no-untyped-call]
    program = Path(os.path.realpath(java))
    parts = [program, program.stat().st_mtime_ns, home, (home / "jars").stat().st_mtime_ns]
    parts += [settings.get("spark.driver.extraClassPath")]
    parts += [os.environ.get(name) for name in ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "SPARK_DIST_CLASSPATH")]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
