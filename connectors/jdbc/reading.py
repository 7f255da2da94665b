"""Reads a table or query of a database through Spark's own data source, so that Spark pushes down columns and filters,
and limits and aggregates if it knows the dialect.

A table is read through a catalog of its own; a query, and a table with columns that
Spark's reader would truncate (a numeric of 50 digits, MySQL's TIME), as a subquery in which they are cast to text. Text
that MySQL would compare ignoring case is read with a binary collation, so that a pushed filter selects Spark's rows.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote as percent_encoded
from urllib.parse import urlencode

from catalog.diagnostics.diagnostic import run_error
from catalog.quoting import quote, quote_text
from catalog.tables.checked_cast import checked_cast
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import (
    DATE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    Time,
)
from catalog.types.typenames import to_ddl
from connectors.jdbc.connection import Connection
from connectors.jdbc.database import Database, connected
from connectors.jdbc.describe import describe_query, describe_table, exact_text, folded_columns, refuse_like_names
from connectors.jdbc.old_times import is_sure
from connectors.jdbc.partitions import Partitioning, Partitions, partitions_of
from connectors.jdbc.table_names import relative_to
from connectors.shared.java_names import java_named
from connectors.shared.spark_types import columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LENGTH: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""What Spark notes of a column that is `char(n)` or `varchar(n)`."""
_MYSQL_CASTS: Final = {"string": "char", "int": "signed", str(Decimal(20, 0)): "unsigned"}
_TIMES: Final = {"``": (DATE, TIMESTAMP_NTZ), '""': (DATE, TIMESTAMP, TIMESTAMP_NTZ)}
"""Types that are read as texts where the job asks for it. The text of a `timestamp` of MySQL is in the zone of the
connection, and it begins in 1970."""
_WITHOUT_FILTERS: Final = {"pushDownPredicate": "false", "pushDownAggregate": "false"}
_CATALOG_CLASS: Final = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"


@dataclass(frozen=True, slots=True)
class Reading:
    """One read: of a table by its name, or of a query in the database's own SQL; `where` (SQL) holds for its rows."""

    connection: Connection
    table: tuple[str, ...] | None
    query: str | None = None
    where: str | None = None
    fetch_size: int = 10_000
    partitioning: Partitioning | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    times_as_text: bool = False

    def as_query(self, database: Database, columns: Iterable[str] = ()) -> str:
        where = f" where {self.where}" if self.where else ""
        return f"select {', '.join(columns) or '*'} from {self._from_item(database)}{where}"

    def _from_item(self, database: Database) -> str:
        if self.query is not None:
            return f"({self.query.strip().rstrip(';')}) penstock_query"
        assert self.table is not None
        return database.dialect.quote_path(relative_to(database.dialect, database.namespace[0], self.table))


def describe(spark: "SparkSession", reading: Reading) -> CatalogTable:
    """The table as the database describes it; of a query, the columns that Spark reads. Raises PEN5004 without it."""
    with connected(spark, reading.connection) as database:
        return _described(spark, database, reading)


def read(spark: "SparkSession", reading: Reading, declared: CatalogTable, *, is_lossless: bool = True) -> "DataFrame":
    """The rows with the columns and types of `declared`, or of the database if that table is open. `is_lossless`: a
    value that a declared type or the driver changes is an error."""
    with connected(spark, reading.connection) as database:
        table = _described(spark, database, reading)
        wanted = table if declared.is_open else declared
        partitions = Partitions()
        if (by := reading.partitioning) is not None:
            partitions = partitions_of(database, reading.as_query(database), by, table.column(by.column))
        with _without_padding(spark):
            folded = folded_columns(database, reading.table) if reading.table else frozenset()
            folded &= {column.name.lower() for column in wanted.columns}
            df = None
            if _can_read_by_catalog(reading) and not partitions.predicates and not folded:
                df = _by_catalog(spark, database, reading, partitions)
            if df is None or _to_cast(df, table, reading):
                df = _by_query(spark, database, reading, table, wanted, partitions=partitions, folded=folded)
    natural = CatalogTable.of("natural", columns_of(df.schema))
    if is_lossless and database.dialect.quotes == "``":
        named = (natural.column(column.name) for column in wanted.columns)
        if condition := is_sure((column for column in named if column is not None), database.dialect.name):
            df = df.where(condition)
    own = {column.name.lower(): column.type for column in table.columns}  # the driver may read them as other ones
    df = df.selectExpr(
        *(
            _selected(column, natural, reading, is_lossless and own.get(column.name.lower()) != column.type)
            for column in wanted.columns
        )
    )
    return _without_lengths(df)


def _without_lengths(df: "DataFrame") -> "DataFrame":
    """The columns without the database's limits of their lengths, which Delta would take over for a new table, and hold
    for ever; of `text` in SQLite it is 0."""
    from pyspark.sql.functions import col

    limited = [field.name for field in df.schema.fields if _LENGTH in field.metadata]
    return df.withColumns({name: col(quote(name)).alias(name, metadata={}) for name in limited}) if limited else df


def converted(value: str, source: DataType, target: DataType) -> str:
    """Spark SQL that converts a value from the type as which it was read to another."""
    if str(source) == str(target):
        return value
    if source == STRING and isinstance(target, Array | Map | Struct):
        return f"from_json({value}, {quote_text(to_ddl(target))}, map('mode', 'FAILFAST'))"
    if source == STRING and target == VARIANT:
        return f"parse_json({value})"
    if source == STRING and isinstance(target, Time):
        return f"to_time({value})"
    return f"cast({value} as {to_ddl(target)})"


def _stored(value: str, source: DataType, column: Column, is_lossless: bool) -> str:
    """The same, with an error for a value that the declared type would change."""
    plain = converted(value, source, column.type)
    if not is_lossless or not plain.startswith("cast("):
        return plain
    return checked_cast(value, column.name, source, Column(column.name, column.type), is_declared=True)


def _described(spark: "SparkSession", database: Database, reading: Reading) -> CatalogTable:
    if reading.table is not None:
        table = describe_table(database, reading.table)
        if table is None:
            message = f"`{reading.connection.place}` has no table `{'.'.join(reading.table)}` that this user can see"
            raise run_error("PEN5004", message)
        return table
    if database.dialect.quotes == "``":  # Spark takes BIT for text and YEAR for a date, each driver in its own way
        return describe_query(database, reading.as_query(database))
    source = f"({reading.as_query(database)}) penstock_read"
    df = spark.read.format("jdbc").options(**_options(reading)).option("dbtable", source).load()
    columns = columns_of(df.schema)
    refuse_like_names(columns, "query")
    return CatalogTable.of("query", columns)


def _selected(column: Column, natural: CatalogTable, reading: Reading, is_lossless: bool) -> str:
    there = natural.column(column.name)
    if there is None:
        known = "known: " + ", ".join(f"`{name}`" for name in natural.schema.names)
        raise run_error("PEN5004", f"`{reading.connection.place}` yields no column `{column.name}`", None, known)
    return f"{_stored(quote(there.name), there.type, column, is_lossless)} as {quote(column.name)}"


def _can_read_by_catalog(reading: Reading) -> bool:
    return reading.table is not None and reading.where is None and reading.connection.dialect.reads_by_catalog


def _by_catalog(spark: "SparkSession", database: Database, reading: Reading, partitions: Partitions) -> "DataFrame":
    """The table of a catalog that this read alone has: settings of the session, which would hold the password, are
    shown in Spark's event log, and a name in a text would be subject to Spark's substitution of variables."""
    from pyspark.sql import DataFrame

    jvm: Any = spark.sparkContext._jvm
    options = {**reading.connection.spark_options(), **reading.settings, "preferTimestampNTZ": "true"}
    texts = java_named(jvm, "org.apache.spark.sql.util.CaseInsensitiveStringMap")
    catalog = java_named(jvm, _CATALOG_CLASS)()
    catalog.initialize("jdbc", texts(options))
    *levels, name = _full_name(database, reading)
    namespace = spark.sparkContext._gateway.new_array(jvm.java.lang.String, len(levels))  # type: ignore[union-attr]
    for index, level in enumerate(levels):
        namespace[index] = level
    identifier = java_named(jvm, "org.apache.spark.sql.connector.catalog.Identifier").of(namespace, name)
    option = java_named(jvm, "scala.Option")
    relation = java_named(jvm, "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation").create(
        catalog.loadTable(identifier),
        option.apply(catalog),
        option.apply(identifier),
        texts({"fetchsize": str(reading.fetch_size), **partitions.settings}),
        option.empty(),  # no time travel
    )
    of_rows = java_named(jvm, "org.apache.spark.sql.classic.Dataset.ofRows")
    return DataFrame(of_rows(spark._jsparkSession, relation), spark)


@contextmanager
def _without_padding(spark: "SparkSession") -> Iterator[None]:
    """Spark pads CHAR columns to their length when a read is analyzed, also MySQL's ENUM to its longest value."""
    name = "spark.sql.readSideCharPadding"
    before = str(spark.conf.get(name))
    spark.conf.set(name, "false")
    try:
        yield
    finally:
        spark.conf.set(name, before)


def _full_name(database: Database, reading: Reading) -> tuple[str, ...]:
    """The table's name with the schema that a catalog of Spark's needs."""
    assert reading.table is not None
    catalog, schema = database.namespace
    parts = relative_to(database.dialect, catalog, reading.table)
    default = catalog if database.dialect.quotes == "``" else schema
    return parts if len(parts) > 1 or default is None else (default, *parts)


def _by_query(
    spark: "SparkSession",
    database: Database,
    reading: Reading,
    table: CatalogTable,
    wanted: CatalogTable,
    *,
    partitions: Partitions,
    folded: frozenset[str],
) -> "DataFrame":
    exact = exact_text(database) if folded else None
    own = _WITHOUT_FILTERS if folded and exact is None else {}
    reader = spark.read.format("jdbc").options(**_options(reading), **own)
    columns: Sequence[str] = ()
    schema = ""
    if not database.dialect.reads_by_catalog:
        schema = columns_to_ddl(_as_stored(column) for column in wanted.columns)
        reader = reader.option("customSchema", schema)
    elif reading.table is not None or database.dialect.quotes == "``" or reading.times_as_text:
        plain = reader.option("dbtable", f"({reading.as_query(database)}) penstock_read").load()
        if (to_cast := _to_cast(plain, table, reading)) or reading.table is not None:
            columns = tuple(_cast_columns(database, table, to_cast, folded, exact))
    source = f"({reading.as_query(database, columns)}) penstock_read"
    if not partitions.predicates:
        return reader.options(**partitions.settings).option("dbtable", source).load()
    options = {**_options(reading), **own, **({"customSchema": schema} if schema else {})}
    url = _with_properties(options.pop("url"), reading)
    return spark.read.jdbc(url, source, predicates=list(partitions.predicates), properties=options)


def _with_properties(url: str, reading: Reading) -> str:
    """The URL with the properties that are no secrets: Spark gives those of a read by predicates to the driver in lower
    case, and MySQL's does not know `connectiontimezone`."""
    if reading.connection.dialect.quotes != "``":
        return url
    given = {parameter.partition("=")[0] for parameter in re.split(r"[?&]", url)[1:]}
    properties = {**reading.connection.dialect.properties, **reading.connection.properties}
    further = {name: value for name, value in properties.items() if name not in given}
    return url + ("&" if "?" in url else "?") + urlencode(further, quote_via=percent_encoded) if further else url


def _options(reading: Reading) -> dict[str, str]:
    own = {"preferTimestampNTZ": "true", "fetchsize": str(reading.fetch_size)}
    return {**reading.connection.spark_options(), **reading.settings, **own}


def _to_cast(df: "DataFrame", table: CatalogTable, reading: Reading) -> Mapping[str, str]:
    """Columns, in lower case, whose values do not all fit the type of Spark's reader, and a database type that holds
    them."""
    natural = CatalogTable.of("natural", columns_of(df.schema))
    differing = [
        column for column in table.columns if (there := natural.column(column.name)) and there.type != column.type
    ]
    dates = {column.name.lower() for column in natural.columns if column.type == DATE}
    times = _TIMES.get(reading.connection.dialect.quotes, ()) if reading.times_as_text else ()
    return {column.name.lower(): str(STRING) for column in natural.columns if column.type in times} | {
        column.name.lower(): str(column.type)
        for column in differing
        if column.type in (STRING, Decimal(20, 0)) or (column.type == INT and column.name.lower() in dates)
    }


def _cast_columns(
    database: Database, table: CatalogTable, to_cast: Mapping[str, str], folded: frozenset[str], exact: str | None
) -> Iterable[str]:
    for column in table.columns:
        name = database.dialect.quote(column.name)
        if exact is not None and column.name.lower() in folded:
            yield f"{exact.format(name)} as {name}"
        elif column.name.lower() not in to_cast:
            yield name
        elif database.dialect.quotes == "``":
            yield f"cast({name} as {_MYSQL_CASTS[to_cast[column.name.lower()]]}) as {name}"
        else:
            yield f"cast({name} as {database.dialect.types['string']}) as {name}"


def _as_stored(column: Column) -> Column:
    """The column as stored by a database with few types: a type that it lacks becomes text."""
    is_text = column.type in (DATE, TIMESTAMP, TIMESTAMP_NTZ, VARIANT)
    is_text |= isinstance(column.type, Decimal | Time | Array | Map | Struct)
    return replace(column, type=STRING, nullable=True) if is_text else replace(column, nullable=True)
