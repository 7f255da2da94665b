"""The supported databases. `Dialect.is_tested`: the tests of Penstock run against it."""

import re
from dataclasses import replace
from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    DataType,
    Decimal,
)
from connectors.jdbc.dialect import Dialect, RunLock, Updates

_STANDARD: Final[dict[str, str]] = {
    "boolean": "boolean",
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "date": "date",
    "timestamp_ntz": "timestamp(6)",
}
_STANDARD_NATIVE: Final[dict[str, DataType]] = {
    "boolean": BOOLEAN, "bool": BOOLEAN, "tinyint": TINYINT, "smallint": SMALLINT, "int": INT, "integer": INT,
    "bigint": BIGINT, "real": FLOAT, "float": DOUBLE, "double": DOUBLE, "double precision": DOUBLE,
    "char": STRING, "varchar": STRING, "nchar": STRING, "nvarchar": STRING, "text": STRING, "clob": STRING,
    "blob": BINARY, "binary": BINARY, "varbinary": BINARY, "date": DATE, "timestamp": TIMESTAMP_NTZ, "json": STRING,
}  # fmt: skip

_HOST: Final = r"(?:\[[\da-f:.%]+\]|[^/:,?@\[\]]*)(?::\d+)?"
_POSTGRESQL_URL: Final = re.compile(rf"jdbc:postgresql:(?://{_HOST}(?:,{_HOST})*/[^/?]*|[^/:?@]+)(?:\?.*)?", re.I)
_MYSQL_URL: Final = re.compile(rf"jdbc:\w+:(?:\w+:)*//(?:{_HOST}(?:,{_HOST})*|[^/]*\(.*\))(?:/[^?]*)?(?:\?.*)?", re.I)
_SQLITE_URL: Final = re.compile(r"jdbc:sqlite:(?!:memory:|file::memory:)[^?].*", re.I)
"""A file: each connection to `:memory:` is a database of its own."""

POSTGRESQL: Final = Dialect(
    name="PostgreSQL",
    name_bytes=63,
    scheme="postgresql",
    example="jdbc:postgresql://host:5432/database",
    url_shape=_POSTGRESQL_URL,
    driver="org.postgresql.Driver",
    maven="org.postgresql:postgresql:42.7.8",
    types={
        **_STANDARD, "string": "text", "binary": "bytea", "timestamp": "timestamptz", "timestamp_ntz": "timestamp",
        "time": "time({})", "variant": "jsonb",
    },
    native={
        "bool": BOOLEAN, "int2": SMALLINT, "smallserial": SMALLINT, "int4": INT, "serial": INT, "int8": BIGINT,
        "bigserial": BIGINT, "float4": FLOAT, "float8": DOUBLE, "oid": Decimal(20, 0), "text": STRING,
        "varchar": STRING, "bpchar": STRING, "char": STRING, "name": STRING, "uuid": STRING, "json": STRING,
        "jsonb": STRING, "xml": STRING, "inet": STRING, "cidr": STRING, "macaddr": STRING, "interval": STRING,
        "time": STRING, "timetz": STRING, "bytea": BINARY, "date": DATE, "timestamp": TIMESTAMP_NTZ,
        "timestamptz": TIMESTAMP, "_bool": Array(BOOLEAN), "_int2": Array(SMALLINT), "_int4": Array(INT),
        "_int8": Array(BIGINT), "_float4": Array(FLOAT),
        "_float8": Array(DOUBLE), "_text": Array(STRING), "_varchar": Array(STRING), "_date": Array(DATE),
        "_timestamptz": Array(TIMESTAMP), "_timestamp": Array(TIMESTAMP_NTZ),
    },
    decimal="numeric({},{})",
    arrays=True,
    json="jsonb",
    properties={"ApplicationName": "penstock"},
    write_properties={"reWriteBatchedInserts": "true", "stringtype": "unspecified"},
    has_transactional_ddl=True,
    truncates_in_transaction=True,
    renames_staging=True,
    has_not_a_number=True,
    casts_text=True,
    updates=Updates.UPDATE_FROM,
    distinct="{0} is distinct from {1}",
    lock_timeout="set local lock_timeout = {milliseconds}",
    ddl_timeout="set local lock_timeout = 3000",
    check_deferred="set constraints all immediate",
    incarnation="select cast(cast(to_regclass({table}) as oid) as varchar)",
    run_lock=RunLock(
        acquire="select pg_try_advisory_xact_lock({key})",
        holder="select pid from pg_locks where locktype = 'advisory' and granted and objsubid = 1 and pid is not null "
        "and database = (select oid from pg_database where datname = current_database()) "
        "and ((classid::bigint << 32) | objid::bigint) = {key}",
        end="select pg_terminate_backend({session})",
        is_of_transaction=True,
    ),
    hash_bucket="mod(abs(hashtext({column}::text)::bigint), {buckets})",
    is_tested=True,
)  # fmt: skip

_MYSQL_TYPES: Final[dict[str, str]] = {
    **_STANDARD, "tinyint": "tinyint", "float": "float", "double": "double", "string": "longtext", "binary": "longblob",
    "timestamp": "datetime(6)", "timestamp_ntz": "datetime(6)", "time": "time({})", "variant": "json",
}  # fmt: skip
_MYSQL_NATIVE: Final[dict[str, DataType]] = {
    **_STANDARD_NATIVE, "bit": BOOLEAN, "mediumint": INT, "tinyint unsigned": SMALLINT, "smallint unsigned": INT,
    "mediumint unsigned": INT, "int unsigned": BIGINT, "integer unsigned": BIGINT, "bigint unsigned": Decimal(20, 0),
    "float": FLOAT, "tinytext": STRING, "mediumtext": STRING, "longtext": STRING, "enum": STRING, "set": STRING,
    "tinyblob": BINARY, "mediumblob": BINARY, "longblob": BINARY, "datetime": TIMESTAMP_NTZ, "timestamp": TIMESTAMP,
    "time": STRING, "year": INT, "inet6": STRING, "inet4": STRING, "uuid": STRING,
}  # fmt: skip
_MYSQL_FOLDED: Final = (
    "select column_name from information_schema.columns where table_schema = {schema} and table_name = {table} "
    "and collation_name is not null and collation_name not in ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin', 'binary')"
)
_MYSQL_HASH: Final = "mod(crc32(cast({column} as char)), {buckets})"
_MYSQL_SET_TYPE: Final = "alter table {table} modify column {name} {type}"

MARIADB: Final = Dialect(
    name="MariaDB",
    name_characters=64,
    scheme="mariadb",
    example="jdbc:mariadb://host:3306/database",
    url_shape=_MYSQL_URL,
    driver="org.mariadb.jdbc.Driver",
    maven="org.mariadb.jdbc:mariadb-java-client:3.5.6",
    types=_MYSQL_TYPES,
    native=_MYSQL_NATIVE,
    quotes="``",
    max_precision=65,
    key_types={"string": "varchar(255)", "binary": "varbinary(255)"},
    json="longtext",
    spark_scheme="mysql",  # Spark recognizes only MySQL's URLs
    properties={
        "permitMysqlScheme": "true",
        "connectionTimeZone": "UTC",
        "forceConnectionTimeZoneToSession": "true",
        "preserveInstants": "true",
    },
    write_properties={"useBulkStmts": "true"},
    stages_like_target=True,
    times_as_text=True,
    updates=Updates.UPDATE_JOIN,
    distinct="not ({0} <=> {1} and cast({0} as binary) <=> cast({1} as binary))",  # a collation takes a for A
    set_type=_MYSQL_SET_TYPE,
    lock_timeout="set session innodb_lock_wait_timeout = {seconds}",
    ddl_timeout="set session lock_wait_timeout = 3",
    id_type="varchar(255) character set utf8mb4 collate utf8mb4_bin",
    run_lock=RunLock(
        acquire="select get_lock({name}, 0)",
        holder="select is_used_lock({name})",
        end="kill {session}",
        release="select release_lock({name})",
    ),
    prepare="prepare penstock from {}",
    syntax_error=1064,
    hash_bucket=_MYSQL_HASH,
    exact_text="convert({} using utf8mb4) collate {collation}",
    exact_collations=("utf8mb4_nopad_bin", "utf8mb4_0900_bin"),
    folded_columns=_MYSQL_FOLDED,
    is_tested=True,
)

MYSQL: Final = replace(
    MARIADB,
    name="MySQL",
    scheme="mysql",
    example="jdbc:mysql://host:3306/database",
    driver="com.mysql.cj.jdbc.Driver",
    maven="com.mysql:mysql-connector-j:9.4.0",
    json="json",
    spark_scheme=None,
    properties={
        "connectionTimeZone": "UTC", "forceConnectionTimeZoneToSession": "true", "preserveInstants": "true",
        "yearIsDateType": "false", "useCursorFetch": "true",
    },
    write_properties={"rewriteBatchedStatements": "true"},
    tested_as="MariaDB",
    is_tested=False,
)  # fmt: skip

SQLITE: Final = Dialect(
    name="SQLite",
    scheme="sqlite",
    example="jdbc:sqlite:/path/to/file.db",
    url_shape=_SQLITE_URL,
    driver="org.sqlite.JDBC",
    maven="org.xerial:sqlite-jdbc:3.50.3.0",
    types={
        **_STANDARD, "tinyint": "tinyint", "int": "int", "string": "text", "binary": "blob", "timestamp": "timestamp",
        "timestamp_ntz": "datetime", "time": "time", "variant": "json", "exact decimal": "decimal_text({},{})",
    },
    native={
        **_STANDARD_NATIVE, "integer": BIGINT, "int": INT, "tinyint": TINYINT, "time": STRING,
        "datetime": TIMESTAMP_NTZ, "timestamp": TIMESTAMP, "float": DOUBLE, "real": FLOAT, "": STRING,
    },
    max_precision=15,  # SQLite keeps decimals as 64-bit floats
    json="json",
    reads_by_catalog=False,
    has_transactional_ddl=True,
    has_schemas=False,
    updates=Updates.UPDATE_FROM,
    distinct="{0} is not {1}",
    set_type=None,
    lock_timeout="pragma busy_timeout = {milliseconds}",
    one_writer=True,
    times_as_text=True,
    properties={"busy_timeout": "30000"},
    is_tested=True,
)  # fmt: skip

SQL_SERVER: Final = Dialect(
    name="SQL Server",
    name_characters=128,
    scheme="sqlserver",
    example="jdbc:sqlserver://host:1433;databaseName=database",
    driver="com.microsoft.sqlserver.jdbc.SQLServerDriver",
    maven="com.microsoft.sqlserver:mssql-jdbc:12.10.1.jre11",
    types={
        **_STANDARD, "boolean": "bit", "int": "int", "double": "float(53)", "string": "nvarchar(max)",
        "binary": "varbinary(max)", "timestamp": "datetimeoffset(6)", "timestamp_ntz": "datetime2(6)",
        "time": "time({})",
    },
    native={
        **_STANDARD_NATIVE, "bit": BOOLEAN, "tinyint": SMALLINT, "ntext": STRING, "uniqueidentifier": STRING,
        "image": BINARY, "datetime": TIMESTAMP_NTZ, "datetime2": TIMESTAMP_NTZ, "smalldatetime": TIMESTAMP_NTZ,
        "datetimeoffset": TIMESTAMP, "money": Decimal(19, 4), "smallmoney": Decimal(10, 4), "time": STRING,
        "xml": STRING,
    },
    quotes="[]",
    key_types={"string": "nvarchar(255)", "binary": "varbinary(255)"},
    varchar="nvarchar({})",
    json="nvarchar(max)",
    has_transactional_ddl=True,
    truncates_in_transaction=True,
    updates=Updates.UPDATE_ALIAS_FROM,
    add_column="alter table {table} add {column}",
    set_type="alter table {table} alter column {name} {type}",
    lock_timeout="set lock_timeout {milliseconds}",
    hash_bucket="abs(cast(checksum({column}) as bigint)) % {buckets}",
)  # fmt: skip

ORACLE: Final = Dialect(
    name="Oracle",
    name_bytes=128,
    scheme="oracle",
    id_type="varchar2(255)",
    example="jdbc:oracle:thin:@//host:1521/service",
    driver="oracle.jdbc.OracleDriver",
    maven="com.oracle.database.jdbc:ojdbc11:23.9.0.25.07",
    types={
        "boolean": "number(1)", "tinyint": "number(3)", "smallint": "number(5)", "int": "number(10)",
        "bigint": "number(19)", "float": "binary_float", "double": "binary_double", "string": "clob", "binary": "blob",
        "date": "date", "timestamp": "timestamp(6) with time zone", "timestamp_ntz": "timestamp(6)",
    },
    native={
        "varchar2": STRING, "nvarchar2": STRING, "char": STRING, "nchar": STRING, "clob": STRING, "nclob": STRING,
        "blob": BINARY, "raw": BINARY, "binary_float": FLOAT, "binary_double": DOUBLE, "float": DOUBLE,
        "date": TIMESTAMP_NTZ, "timestamp(6)": TIMESTAMP_NTZ, "timestamp(6) with time zone": TIMESTAMP,
    },
    decimal="number({},{})",
    varchar="varchar2({} char)",
    key_types={"string": "varchar2(255 char)", "binary": "raw(255)"},
    json="clob",
    has_not_a_number=True,
    add_column="alter table {table} add ({column})",
    set_type="alter table {table} modify ({name} {type})",
    hash_bucket="ora_hash({column}, {buckets} - 1)",
    isolation_levels=("READ_COMMITTED", "SERIALIZABLE"),
    undoes_created_tables=False,
    merges_with_where=True,
)  # fmt: skip

DUCKDB: Final = Dialect(
    name="DuckDB",
    scheme="duckdb",
    example="jdbc:duckdb:/path/to/file.duckdb",
    driver="org.duckdb.DuckDBDriver",
    maven="org.duckdb:duckdb_jdbc:1.4.0.0",
    types={
        **_STANDARD, "tinyint": "tinyint", "double": "double", "string": "varchar", "binary": "blob",
        "timestamp": "timestamptz", "timestamp_ntz": "timestamp", "time": "time",
    },
    native={**_STANDARD_NATIVE, "timestamp with time zone": TIMESTAMP, "uuid": STRING, "time": STRING},
    json="json",
    reads_by_catalog=False,
    has_transactional_ddl=True,
    has_not_a_number=True,
    updates=Updates.UPDATE_FROM,
    distinct="{0} is distinct from {1}",
    hash_bucket="hash({column}) % {buckets}",
    isolation_levels=("REPEATABLE_READ",),
    one_writer=True,
)  # fmt: skip

DB2: Final = Dialect(
    name="Db2",
    name_bytes=128,
    scheme="db2",
    example="jdbc:db2://host:50000/database",
    driver="com.ibm.db2.jcc.DB2Driver",
    maven="com.ibm.db2:jcc:12.1.2.0",
    types={**_STANDARD, "double": "double", "string": "clob", "binary": "blob", "timestamp": "timestamp(6)"},
    native={**_STANDARD_NATIVE, "char () for bit data": BINARY, "graphic": STRING, "vargraphic": STRING, "xml": STRING},
    max_precision=31,
    key_types={"string": "varchar(255)", "binary": "varbinary(255)"},
    json="clob",
    has_transactional_ddl=True,
    set_type="alter table {table} alter column {name} set data type {type}",
)

DIALECTS: Final = (POSTGRESQL, MARIADB, MYSQL, SQLITE, SQL_SERVER, ORACLE, DUCKDB, DB2)


def dialect_of(url: str) -> Dialect | None:
    """The dialect of a JDBC URL; None if Penstock does not know the database."""
    lowered = url.strip().lower()
    return next((dialect for dialect in DIALECTS if lowered.startswith(f"jdbc:{dialect.scheme}:")), None)
