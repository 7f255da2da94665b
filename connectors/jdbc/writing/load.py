"""Spark's tasks load rows into a staging table: by PostgreSQL's COPY if its Arrow driver is installed,
else in batches."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode, urlsplit

from connectors.jdbc.connection import Connection
from connectors.jdbc.writing.ledger import partition_statement

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

_PARTITION: Final = "<partition>"
_LIBPQ: Final[Mapping[str, str]] = {
    # pgjdbc's properties that libpq has too -> libpq's names
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "ApplicationName": "application_name",
    "password": "password",
    "user": "user",
}


def loads_by_copy(connection: Connection) -> bool:
    """Whether rows are loaded by PostgreSQL's COPY: its driver is installed and has all properties of the URL."""
    if connection.dialect.scheme != "postgresql" or find_spec("adbc_driver_postgresql") is None:
        return False
    return libpq_uri(connection) is not None


def load(df: "DataFrame", connection: Connection, table: tuple[str, ...], batch_size: int) -> int:
    """Append the rows to an existing table, whose columns have their names and types; returns how many they are."""
    if loads_by_copy(connection):
        return _copy(df, connection, table)
    return _insert(df, connection, table, batch_size)


def _insert(df: "DataFrame", connection: Connection, table: tuple[str, ...], batch_size: int) -> int:
    """Batches of INSERTs by Spark's own writer."""
    from pyspark.sql import Observation
    from pyspark.sql.functions import count, lit

    options = {**connection.spark_options(writes=True), "batchsize": str(batch_size)}
    # a failed task rolls its rows back, unless that would block every other writer
    options["isolationLevel"] = "NONE" if connection.dialect.one_writer else "READ_COMMITTED"
    rows = df.coalesce(1) if connection.dialect.one_writer else df
    name = connection.dialect.quote_path(table)
    sent = Observation()
    observed = rows.observe(sent, count(lit(1)).alias("rows"))
    observed.write.format("jdbc").options(**options).option("dbtable", name).mode("append").save()
    return int(sent.get["rows"])


def libpq_uri(connection: Connection) -> str | None:
    """The connection as a libpq URI; None if it has a property that libpq lacks."""
    try:
        parts = urlsplit(connection.url.removeprefix("jdbc:"))
    except ValueError:  # PostgreSQL's driver takes more than Python does
        return None
    in_url = [parameter.partition("=") for parameter in parts.query.split("&") if parameter]
    given = {name: value for name, _, value in in_url} | dict(connection.properties) | dict(connection.secrets)
    given |= {"user": connection.user} if connection.user is not None else {}
    if not parts.netloc or any(name not in _LIBPQ for name in given):
        return None
    named = {_LIBPQ[name]: value for name, value in given.items()}
    named.setdefault("application_name", "penstock")
    return f"postgresql://{parts.netloc}{parts.path}?{urlencode(named, quote_via=quote)}"


def _copy(df: "DataFrame", connection: Connection, table: tuple[str, ...]) -> int:
    """One COPY in one transaction for each partition; a retried task finds it done."""
    uri = libpq_uri(connection)
    schema, name = (table[-2] if len(table) > 1 else None), table[-1]
    columns = df.columns
    recording = partition_statement(connection.dialect, table, _PARTITION)  # executors need not have this package

    def copy(given: "Iterable[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        import adbc_driver_postgresql.dbapi as adbc
        import pyarrow
        from pyspark import TaskContext

        batches = iter(given)
        first = next(batches, None)
        if first is None:
            return
        context = TaskContext.get()
        assert context is not None, "runs in a task of Spark's"
        record = recording.replace(_PARTITION, str(context.partitionId()))
        sent = 0

        def counted() -> "Iterator[pyarrow.RecordBatch]":
            nonlocal sent
            batch = first
            while batch is not None:
                sent += batch.num_rows
                yield pyarrow.RecordBatch.from_arrays(batch.columns, names=columns)
                batch = next(batches, None)

        with adbc.connect(uri) as database, database.cursor() as cursor:
            named = pyarrow.schema([(column, field.type) for column, field in zip(columns, first.schema, strict=True)])
            reader = pyarrow.RecordBatchReader.from_batches(named, counted())
            cursor.execute(record)
            if cursor.fetchall():
                cursor.adbc_ingest(name, reader, mode="append", db_schema_name=schema)
            else:  # an earlier try of this task has loaded the partition
                for _ in reader:
                    pass
            database.commit()
        yield pyarrow.RecordBatch.from_pydict({"sent": [sent]})

    plain = df.toDF(*(f"c{index}" for index in range(len(columns))))  # mapInArrow refuses names with a backtick
    return sum(row.sent for row in plain.mapInArrow(copy, "sent bigint").collect())
