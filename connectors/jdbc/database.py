"""Runs statements from Spark's driver process through the JDBC driver that Spark has loaded, for every database.

Only metadata, bounds and the ledger pass here. Rows of tables are read and written by Spark's tasks.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.secret_names import redacted
from connectors.jdbc.connection import Connection
from connectors.jdbc.dialect import Dialect
from connectors.jdbc.missing_driver import missing_driver
from connectors.jdbc.server_messages import server_message, without_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ISOLATION_LEVELS: Final = {
    "READ_UNCOMMITTED": 1,
    "READ_COMMITTED": 2,
    "REPEATABLE_READ": 4,
    "SERIALIZABLE": 8,
}
"""`java.sql.Connection`'s constants."""

_DENIED: Final = re.compile(r"permission denied|command denied|access denied|must be owner", re.IGNORECASE)
_PRIVILEGES: Final = (
    "grant it to the user of the job: a write creates a staging table next to its target, and reads and writes "
    "`penstock_commits` and `penstock_staging`, where it is recorded"
)
_LOST: Final = re.compile(
    r"terminating connection|connection has been closed|connection is closed|I/O error occurred while sending"
    r"|Communications link failure|Socket (?:error|fail)|Connection reset|Broken pipe|Connection\.close\(\) has been"
    r"|unexpected end of stream, read"
    r"|the database system is (?:starting up|shutting down|in recovery mode|not yet accepting)",
    re.IGNORECASE,
)
"""What drivers say of a server that has gone while a statement ran."""
_UNREADABLE_URL: Final = re.compile(r"IndexOutOfBoundsException|NumberFormatException|NullPointerException")


class Database:
    """An open connection; every statement is committed by itself, except in `transaction`."""

    def __init__(self, jvm: Any, handle: Any, connection: Connection) -> None:
        self._jvm = jvm
        self._handle = handle
        self.connection = connection

    @property
    def dialect(self) -> Dialect:
        return self.connection.dialect

    @property
    def metadata(self) -> Any:
        """`java.sql.DatabaseMetaData`."""
        return self._handle.getMetaData()

    @property
    def namespace(self) -> tuple[str | None, str | None]:
        """The catalog and schema in which names without them are looked up."""
        return self._handle.getCatalog(), self._handle.getSchema() if self.dialect.has_schemas else None

    def execute(self, statement: str) -> int:
        """Run a statement without a result; returns how many rows it changed, -1 if the driver does not report it."""
        with self._closing(self._handle.createStatement()) as prepared, self._errors(statement):
            if prepared.execute(statement):
                return -1
            return int(prepared.getUpdateCount())

    def check_syntax(self, statement: str) -> None:
        """Raise PEN5013 for a statement that the database cannot parse, where the dialect has a way to ask."""
        from py4j.protocol import Py4JError

        if self.dialect.prepare is None:
            return
        asked = self.dialect.prepare.format(self.dialect.text(statement))
        try:
            with self._closing(self._handle.createStatement()) as prepared:
                prepared.execute(asked)
        except Py4JError as error:  # else it names a table that the run has yet to create
            if any(code == self.dialect.syntax_error for code in _codes(error)):
                raise _failed(self.connection, error, statement) from error

    def query(self, statement: str, *, most: int = 0) -> list[tuple[str | None, ...]]:
        """The rows of a query, their values as texts; at most so many, where that is not 0."""
        with self._closing(self._handle.createStatement()) as prepared, self._errors(statement):
            prepared.setMaxRows(most)
            return list(_rows(prepared.executeQuery(statement)))

    def columns_of(self, statement: str) -> list[tuple[str, str, int, int]]:
        """The columns of a query as the driver describes them: name, type, precision and scale."""
        with self._closing(self._handle.createStatement()) as prepared, self._errors(statement):
            results = prepared.executeQuery(statement)
            of = results.getMetaData()
            return [
                (
                    str(of.getColumnLabel(place)),
                    str(of.getColumnTypeName(place)),
                    int(of.getPrecision(place)),
                    int(of.getScale(place)),
                )
                for place in range(1, of.getColumnCount() + 1)
            ]

    def value(self, statement: str) -> str | None:
        """The first value of a query's first row."""
        rows = self.query(statement)
        return rows[0][0] if rows else None

    def rows_of(self, results: Any, names: Sequence[str]) -> list[dict[str, str | None]]:
        """The named columns of a `java.sql.ResultSet` of metadata."""
        found = []
        while results.next():
            found.append({name: results.getString(name) for name in names})
        results.close()
        return found

    @contextmanager
    def transaction(self, isolation: str | None = None) -> Iterator[None]:
        """Run the block as one transaction, rolled back if it raises."""
        self.begin(isolation)
        with self.ended_transaction():
            yield

    @contextmanager
    def ended_transaction(self) -> Iterator[None]:
        """Commit the transaction that was begun after the block, or roll it back if that raises."""
        try:
            yield
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def begin(self, isolation: str | None = None) -> None:
        if isolation is not None:
            self._handle.setTransactionIsolation(ISOLATION_LEVELS[isolation.upper()])
        self._handle.setAutoCommit(False)

    def commit(self) -> None:
        with self._errors("commit"):
            self._handle.commit()
        self._handle.setAutoCommit(True)

    def rollback(self) -> None:
        with suppress(Exception):  # the connection itself may have failed
            self._handle.rollback()
            self._handle.setAutoCommit(True)

    def close(self) -> None:
        with suppress(Exception):  # a connection that was lost cannot be closed either
            self._handle.close()

    @contextmanager
    def _closing(self, resource: Any) -> Iterator[Any]:
        try:
            yield resource
        finally:
            with suppress(Exception):
                resource.close()

    @contextmanager
    def _errors(self, statement: str) -> Iterator[None]:
        from py4j.protocol import Py4JError

        try:
            yield
        except Py4JError as error:
            raise _failed(self.connection, error, statement) from error


def connect(spark: "SparkSession", connection: Connection) -> Database:
    """A connection of the driver; raises `RunError`: PEN5033 if Spark lacks the JDBC driver, PEN5012 if none opens."""
    from py4j.protocol import Py4JError

    jvm: Any = spark.sparkContext._jvm
    try:
        return Database(jvm, _open(jvm, connection), connection)
    except Py4JError as error:
        if missing := missing_driver(str(error)):
            raise missing from error
        help = "check `url`, `user` and `password`, and that the database can be reached from here"
        if connection.killed_run is not None:
            help = without_password(connection.killed_run)
        cause = cause_of(error)
        if _UNREADABLE_URL.search(str(error)):
            cause = f"its driver cannot read the URL ({cause})"
            help = f'check `url`: "{connection.dialect.example}" is an example'
        raise run_error("PEN5012", f"`{connection.place}` cannot be reached: {cause}", None, help) from error


def without_password(run_id: str) -> str:
    """How to end a killed run from whose journal alone its database cannot be reached."""
    return (
        "the journal of a run keeps no password: only its own job can end it, by "
        f"`penstock run --resume {run_id} JOB` with the job's file and variables, or by its next run; if the job has "
        "no password, check that the database can be reached from here"
    )


@contextmanager
def connected(spark: "SparkSession", connection: Connection) -> Iterator[Database]:
    """A connection of the driver, closed after the block."""
    database = connect(spark, connection)
    try:
        yield database
    finally:
        database.close()


def _open(jvm: Any, connection: Connection) -> Any:
    jdbc = jvm.org.apache.spark.sql
    given = {**connection.spark_options(), "dbtable": "none"}
    options = jdbc.execution.datasources.jdbc.JDBCOptions(jvm.PythonUtils.toScalaMap(given))
    return jdbc.jdbc.JdbcDialects.get(given["url"]).createConnectionFactory(options).apply(-1)


def cause_of(error: BaseException) -> str:
    """The innermost message of a Java exception, in one line, without secrets: the server's error with its detail."""
    text = _innermost(error)
    said = server_message(text)
    return str(redacted(said.text if said else re.sub(r"\s*\n\s*", " ", without_values(text).strip())))


def _innermost(error: BaseException) -> str:
    text = str(error)
    for java in _thrown(error):
        kind = java.getClass().getSimpleName()
        text = java.getMessage() or kind
        if kind == "UnknownHostException":
            text = f"unknown host `{text}`"
    return text


def _failed(connection: Connection, error: BaseException, statement: str) -> RunError:
    if _LOST.search(_innermost(error)):
        message = f"the connection to the database was lost: {cause_of(error)} (`{connection.place}`)"
        return run_error("PEN5012", message, None, "check that the server is running")
    shown = statement if len(statement) <= 300 else f"{statement[:300]} …"
    message = f"`{connection.place}` refused a statement: {cause_of(error)}"
    said = server_message(_innermost(error))
    help = _PRIVILEGES if _DENIED.search(message) else said.hint if said else None
    return run_error("PEN5013", message, None, help, [f"the statement was: {redacted(shown)}"])


def _codes(error: BaseException) -> Iterator[int]:
    """The database's own codes of an error."""
    for java in _thrown(error):
        if java.getClass().getSimpleName().startswith("SQL"):
            yield int(java.getErrorCode())


def _thrown(error: BaseException) -> Iterator[Any]:
    """The exceptions of Java behind an error, outermost first."""
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while java is not None:
        yield java
        java = java.getCause()


def _rows(results: Any) -> Iterator[tuple[str | None, ...]]:
    count = results.getMetaData().getColumnCount()
    while results.next():
        yield tuple(results.getString(index + 1) for index in range(count))
    results.close()
