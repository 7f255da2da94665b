"""The journal's record of a write to a database, and how its connection is restored."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from connectors.commits.micro_batches import MicroBatch
from connectors.jdbc.connection import PASSWORD_VARIABLE, Connection
from connectors.jdbc.known_dialects import dialect_of
from connectors.shared.staged import Credentials, Staged, secret_mapping


@dataclass(frozen=True, slots=True)
class JdbcStaged(Staged):
    """A staging table and the statements of its commit.

    `before`: idempotent DDL, run first, that the database commits at once. `added`: columns to add to the target if it
    lacks them, by name. `widened`: DDL that gives its columns a wider type. `statements`: those of the transaction.
    `rows`: the row count of the staging table. `owner`: the mark of the process, as JSON. `attempt` names what this
    attempt of the run has staged; `work`: what its row in the ledger stands for.
    """

    url: str
    driver: str
    user: str | None
    properties: Mapping[str, str]
    target: tuple[str, ...]
    staging: tuple[str, ...]
    identity: str
    run_id: str
    journal: str
    owner: str
    actions: tuple[str, ...]
    lock_timeout_seconds: int
    isolation: str | None = None
    before: tuple[str, ...] = ()
    added: Mapping[str, str] | None = None
    widened: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    is_loaded: bool = False
    rows: int | None = None
    attempt: str = ""
    work: str = ""
    batch: int | None = None
    secrets: Mapping[str, str] = secret_mapping()

    @property
    def micro_batch(self) -> MicroBatch | None:
        return MicroBatch.of(self.run_id, self.identity, self.batch)

    @property
    def credentials_key(self) -> str:
        return _key(self.url, self.user)

    @property
    def entry(self) -> str:
        """The key of the write's row in `penstock_staging`."""
        return self.attempt or self.identity

    @property
    def target_name(self) -> str:
        return ".".join(self.target)

    @property
    def connection(self) -> Connection:
        """The connection; its password from this process, a job that this session has read, or the environment."""
        dialect = dialect_of(self.url)
        assert dialect is not None, self.url
        known = self.secrets
        if not known and PASSWORD_VARIABLE in os.environ:
            known = {"password": os.environ[PASSWORD_VARIABLE]}
        killed_run = None if known else self.run_id
        return Connection(self.url, self.driver, self.user, dialect, self.properties, known, killed_run)


def credentials_of(connection: Connection) -> Credentials:
    """The secrets of a connection, for killed runs in the same database: their journals contain no password."""
    return {_key(connection.url, connection.user): connection.secrets} if connection.secrets else {}


def _key(url: str, user: str | None) -> str:
    return f"{user or ''}@{url}"
