"""SQL dialects of databases: driver, quotes, types and the statements that change rows.

A dialect is data from which `statements.py` builds statements: a new database is a new entry of `known_dialects.py`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from catalog.types.datatypes import Array, Atomic, DataType, Decimal, Interval, Map, Struct, Time


class Updates(str, Enum):
    """The syntax that changes rows of one table by those of another."""

    UPDATE_FROM = "UPDATE … FROM"
    UPDATE_JOIN = "UPDATE … JOIN"
    UPDATE_ALIAS_FROM = "UPDATE alias … FROM … JOIN"
    MERGE = "MERGE"


@dataclass(frozen=True, slots=True)
class RunLock:
    """Statements for a lock of the database that one session holds: `{name}` is a text, `{key}` a number for it.

    `acquire` does not wait. `holder`: the session that has the lock; `end` ends it. `is_of_transaction`: the end of the
    transaction releases it.
    """

    acquire: str
    holder: str
    end: str
    release: str = ""
    is_of_transaction: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """A kind of database.

    `scheme`: how its URLs begin after `jdbc:`. `example`: a URL; `url_shape`: what its URLs match as a whole.
    `reads_by_catalog`: Spark knows the dialect, so that limits and aggregates are pushed into it too. `types`: Spark's
    names of types without parts -> names in DDL; `decimal` is a format. `key_types`: the types that differ for columns
    of a key, where only texts of bounded length can be indexed. `native`: names of the database's types -> types of
    Spark (`describe.py` knows those with parameters). `exact_text`: compares a text by its bytes, as Spark does, with
    one of the `exact_collations`, of which a server may have none; `folded_columns`: a query for the columns of a table
    that the database compares otherwise. `stages_like_target`: a staging table takes its columns from the target,
    collations among them. `renames_staging`: a transaction can rename a staging table to a new target and add its
    primary key. `ddl_timeout`: limits how long DDL waits for other sessions. `check_deferred`: checks the constraints
    that are deferred to COMMIT. `id_type`: of run ids, which differ by case. `incarnation`: a query for what identifies
    a `{table}` until it is dropped. `run_lock`: a lock by which one process at a time commits a run. `times_as_text`:
    dates and times are loaded as texts. `undoes_created_tables`: a failed commit can take back that it has created a
    table or changed one. `name_bytes`, `name_characters`: how long names may be. `merges_with_where`: the condition of
    a MERGE's update follows it. `tested_as`: the database that its driver is tested with. `is_tested`: the tests of
    Penstock run against it.
    """

    name: str
    scheme: str
    example: str
    driver: str
    maven: str
    types: Mapping[str, str]
    native: Mapping[str, DataType]
    quotes: str = '""'
    decimal: str = "decimal({},{})"
    max_precision: int = 38
    varchar: str = "varchar({})"
    key_types: Mapping[str, str] = field(default_factory=dict)
    arrays: bool = False
    json: str | None = None
    spark_scheme: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    write_properties: Mapping[str, str] = field(default_factory=dict)
    reads_by_catalog: bool = True
    has_transactional_ddl: bool = False
    truncates_in_transaction: bool = False
    has_not_a_number: bool = False
    has_schemas: bool = True
    casts_text: bool = False
    updates: Updates = Updates.MERGE
    distinct: str = "({0} <> {1} or ({0} is null and {1} is not null) or ({0} is not null and {1} is null))"
    add_column: str = "alter table {table} add column {column}"
    set_type: str | None = "alter table {table} alter column {name} type {type}"
    lock_timeout: str | None = None
    ddl_timeout: str | None = None
    check_deferred: str | None = None
    undoes_created_tables: bool = True
    merges_with_where: bool = False
    id_type: str = "varchar(255)"
    incarnation: str | None = None
    run_lock: RunLock | None = None
    hash_bucket: str | None = None
    isolation_levels: tuple[str, ...] = ("READ_UNCOMMITTED", "READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE")
    exact_text: str | None = None
    exact_collations: tuple[str, ...] = ()
    folded_columns: str | None = None
    prepare: str | None = None
    syntax_error: int | None = None
    one_writer: bool = False
    stages_like_target: bool = False
    renames_staging: bool = False
    times_as_text: bool = False
    is_tested: bool = False
    tested_as: str | None = None
    name_bytes: int | None = None
    name_characters: int | None = None
    url_shape: re.Pattern[str] = re.compile(".*", re.DOTALL)

    def quote(self, name: str) -> str:
        """A name as a quoted identifier; the closing quote is doubled within it."""
        opening, closing = self.quotes[0], self.quotes[1]
        return opening + name.replace(closing, closing * 2) + closing

    def quote_path(self, path: tuple[str, ...]) -> str:
        return ".".join(self.quote(part) for part in path)

    def text(self, value: str) -> str:
        """A value as a string literal."""
        escaped = value.replace("\\", "\\\\") if self.quotes == "``" else value
        return "'" + escaped.replace("'", "''") + "'"

    def column_type(self, type: DataType, length: int | None = None, is_key: bool = False) -> str | None:
        """The type of a new column that holds values of a type of Spark; None if there is none."""
        match type:
            case Decimal(precision, scale):
                return self._decimal(precision, scale)
            case Atomic("string") if length is not None:
                return self.varchar.format(length)
            case Atomic(name):
                return (self.key_types.get(name) if is_key else None) or self.types.get(name)
            case Time(precision):
                return self.types["time"].format(precision) if "time" in self.types else None
            case Array(element) if self.arrays and not isinstance(element, Array | Map | Struct):
                inner = self.column_type(element)
                return None if inner is None else f"{inner}[]"
            case Array() | Map() | Struct():
                return self.json
            case Interval():
                return None

    def holds_as_text(self, type: DataType) -> bool:
        """Whether values of the type are stored as JSON text."""
        is_array = self.arrays and isinstance(type, Array) and not isinstance(type.element, Array | Map | Struct)
        return isinstance(type, Array | Map | Struct) and not is_array

    def _decimal(self, precision: int, scale: int) -> str | None:
        exact = self.types.get("exact decimal")
        if precision > self.max_precision:
            return exact.format(precision, scale) if exact else None
        return self.decimal.format(precision, scale)
