"""Reads the description of a table from the database: columns, types, keys and comments as a `CatalogTable`."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from catalog.diagnostics.diagnostic import run_error
from catalog.patterns import user_pattern
from catalog.tables.table import (
    CatalogTable,
    Column,
    ConstraintKey,
    ConstraintType,
    PrimaryKey,
    TablePath,
    TableSchema,
)
from catalog.types.datatypes import BOOLEAN, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Decimal
from connectors.jdbc.database import Database
from connectors.jdbc.dialect import Dialect
from connectors.jdbc.table_names import relative_to

_COLUMN_FIELDS: Final = (
    "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "REMARKS",
    "COLUMN_DEF", "IS_GENERATEDCOLUMN", "IS_AUTOINCREMENT",
)  # fmt: skip
_TABLE_TYPES: Final = ("TABLE", "BASE TABLE", "PARTITIONED TABLE", "VIEW", "MATERIALIZED VIEW", "FOREIGN TABLE")
_DECIMALS: Final = ("numeric", "decimal", "number", "decimal_text", "dec")
_TEXTUAL: Final = re.compile(r"char|text|clob", re.IGNORECASE)


def describe_table(database: Database, name: tuple[str, ...]) -> CatalogTable | None:
    """The table of that name, or None if there is none."""
    catalog, schema, table = _address(database, name)
    fields = database.rows_of(database.metadata.getColumns(catalog, _literal(schema), _literal(table), "%"),
                              _COLUMN_FIELDS)  # fmt: skip
    fields = [row for row in fields if "\\" not in table or row["TABLE_NAME"] == table]
    if not fields:
        return None
    columns = tuple(_column(column, database.dialect) for column in fields)
    refuse_like_names(columns, ".".join(name))
    schema_of_table = TableSchema(columns, _primary_key(database, catalog, schema, table),
                                  _unique_keys(database, catalog, schema, table, columns))  # fmt: skip
    path = TablePath(table, schema, catalog)
    return CatalogTable(path, schema_of_table, comment=_comment(database, catalog, schema, table))


def describe_query(database: Database, query: str) -> CatalogTable:
    """The columns of a query, with the types that they have as columns of a table."""
    found = database.columns_of(f"select * from ({query}) penstock_read where 1 = 0")
    columns = (
        Column(name, native_type(database.dialect, type, size, digits), source_type=type)
        for name, type, size, digits in found
    )
    described = tuple(columns)
    refuse_like_names(described, "query")
    return CatalogTable.of("query", described)


def refuse_like_names(columns: Iterable[Column], table: str) -> None:
    """Raise PEN5004 at columns that Spark would take for one."""
    names: dict[str, str] = {}
    for column in columns:
        if (other := names.get(column.name.lower())) is not None:
            both = f"two columns `{other}`" if other == column.name else f"the columns `{other}` and `{column.name}`"
            message = f"`{table}` has {both}: Spark takes names that differ only in case for one"
            help = "a `query` gives them different names: `select t.*, …` without one of them, or with `as`"
            raise run_error("PEN5004", message, None, help)
        names[column.name.lower()] = column.name


def tables_like(database: Database, pattern: str) -> tuple[tuple[str, ...], ...]:
    """The names of the tables and views of which `schema.table` or `database.schema.table` matches a regular
    expression."""
    catalog, _ = database.namespace
    found = []
    results = database.metadata.getTables(catalog, None, "%", None)
    for row in database.rows_of(results, ("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE")):
        if row["TABLE_TYPE"] not in _TABLE_TYPES or row["TABLE_SCHEM"] in ("information_schema", "pg_catalog"):
            continue
        full = tuple(part for part in (row["TABLE_CAT"], row["TABLE_SCHEM"], row["TABLE_NAME"]) if part)
        if any(user_pattern(pattern).fullmatch(".".join(full[start:])) for start in range(len(full))):
            found.append(full)
    return tuple(sorted(found))


def folded_columns(database: Database, name: tuple[str, ...]) -> frozenset[str]:
    """Text columns, in lower case, that the database does not compare byte by byte: `a` may equal `A`, or `a `."""
    query = database.dialect.folded_columns
    if query is None:
        return frozenset()
    catalog, schema, table = _address(database, name)
    text = database.dialect.text
    rows = database.query(query.format(schema=text(schema or catalog or ""), table=text(table)))
    return frozenset(str(row[0]).lower() for row in rows)


def exact_text(database: Database) -> str | None:
    """SQL that compares a text `{}` by its bytes; None where the server has no collation that does, as MySQL 5.7."""
    template, listed = (
        database.dialect.exact_text,
        ", ".join(map(database.dialect.text, database.dialect.exact_collations)),
    )
    if template is None:
        return None
    asked = f"select min(collation_name) from information_schema.collations where collation_name in ({listed})"
    collation = database.value(asked)
    return template.replace("{collation}", collation) if collation else None


def native_type(dialect: Dialect, name: str, size: int | None, digits: int | None) -> DataType:
    """The type of Spark for a column of the database; STRING if no type of Spark holds every value."""
    lowered = re.sub(r"\s+", " ", name.lower()).strip()
    plain = re.sub(r"\s*\([^)]*\)", "", lowered)
    plain = plain.removesuffix(" zerofill")
    plain = plain if plain in dialect.native else plain.removesuffix(" unsigned")
    if plain in _DECIMALS:
        return _decimal(size, digits)
    if plain == "bit" and size is not None and size > 1 and dialect.quotes == "``":
        return Decimal(20, 0)
    if plain == "bit" and dialect.native.get("bit") is None:
        return BOOLEAN if size == 1 else STRING
    if plain == "tinyint" and size == 1 and "mediumint" in dialect.native:
        return dialect.native["boolean"]  # MySQL's BOOLEAN is TINYINT(1)
    return dialect.native.get(lowered) or dialect.native.get(plain) or STRING


def _decimal(size: int | None, digits: int | None) -> DataType:
    if size is None or size == 0 or size > 1000:
        return Decimal(38, 18)  # as Spark reads a numeric without precision
    if size > 38 or digits is None or not 0 <= digits <= size:
        return STRING
    return Decimal(size, digits)


def _column(fields: Mapping[str, str | None], dialect: Dialect) -> Column:
    name, size = str(fields["TYPE_NAME"] or ""), _number(fields["COLUMN_SIZE"])
    digits = _number(fields["DECIMAL_DIGITS"])
    if dialect.scheme == "sqlite" and size is not None and digits is not None:
        size -= digits  # its driver gives the sum of precision and scale
    is_given = fields["IS_GENERATEDCOLUMN"] == "YES" or fields["IS_AUTOINCREMENT"] == "YES"
    type = native_type(dialect, name, size, digits)
    default = fields["COLUMN_DEF"] if fields["COLUMN_DEF"] not in (None, "NULL") else None
    return Column(
        str(fields["COLUMN_NAME"]),
        type,
        nullable=fields["NULLABLE"] != "0",
        default="generated" if is_given and default is None else default,
        comment=fields["REMARKS"] or None,
        length=size if _TEXTUAL.search(name) and size is not None and size < 1_000_000 else None,
        scale=_scale(type, size, digits, dialect),
        source_type=name or None,
    )


def _scale(type: DataType, size: int | None, digits: int | None, dialect: Dialect) -> int | None:
    """The digits of a decimal, or those of a timestamp's seconds."""
    if type in (TIMESTAMP, TIMESTAMP_NTZ):
        if dialect.quotes == "``":  # MySQL's drivers give the width of the text: 19, or 26 with six digits
            return max(size - 20, 0) if size is not None else None
        return digits if dialect.scheme != "sqlite" else None  # its columns hold any text
    return digits if isinstance(type, Decimal) and type.precision == size else None


def _primary_key(database: Database, catalog: str | None, schema: str | None, table: str) -> PrimaryKey | None:
    results = database.metadata.getPrimaryKeys(catalog, schema, table)
    rows = database.rows_of(results, ("COLUMN_NAME", "KEY_SEQ", "PK_NAME"))
    ordered = sorted(rows, key=lambda row: int(row["KEY_SEQ"] or 0))
    return PrimaryKey(tuple(str(row["COLUMN_NAME"]) for row in ordered), ordered[0]["PK_NAME"]) if ordered else None


def _unique_keys(
    database: Database, catalog: str | None, schema: str | None, table: str, columns: tuple[Column, ...]
) -> tuple[ConstraintKey, ...]:
    results = database.metadata.getIndexInfo(catalog, schema, table, True, True)
    names = {column.name for column in columns}
    keys: dict[str, list[str]] = {}
    for row in database.rows_of(results, ("INDEX_NAME", "COLUMN_NAME", "ORDINAL_POSITION")):
        if row["INDEX_NAME"] is not None:
            keys.setdefault(row["INDEX_NAME"], []).append(str(row["COLUMN_NAME"]))
    return tuple(
        ConstraintKey(name, ConstraintType.UNIQUE_KEY, tuple((column, "ASC") for column in indexed))
        for name, indexed in keys.items()
        if set(indexed) <= names  # an index over an expression has no columns
    )


def is_referenced(database: Database, name: tuple[str, ...]) -> bool:
    """Whether foreign keys of other tables refer to the table."""
    catalog, schema, table = _address(database, name)
    results = database.metadata.getExportedKeys(catalog, schema, table)
    rows = database.rows_of(results, ("FKTABLE_SCHEM", "FKTABLE_NAME"))
    return any((row["FKTABLE_SCHEM"] or schema, row["FKTABLE_NAME"]) != (schema, table) for row in rows)


def _comment(database: Database, catalog: str | None, schema: str | None, table: str) -> str | None:
    results = database.metadata.getTables(catalog, _literal(schema), _literal(table), None)
    rows = database.rows_of(results, ("REMARKS",))
    return (rows[0]["REMARKS"] or None) if rows else None


def _address(database: Database, name: tuple[str, ...]) -> tuple[str | None, str | None, str]:
    """Catalog, schema and table as arguments of the driver's metadata methods."""
    catalog, schema = database.namespace
    parts = relative_to(database.dialect, catalog, name)
    if database.dialect.quotes == "``":
        return (parts[0] if len(parts) > 1 else catalog), None, parts[-1]
    if len(parts) == 3:
        return parts[0], parts[1], parts[2]
    return catalog, (parts[0] if len(parts) > 1 else schema), parts[-1]


def _literal(name: str | None) -> str | None:
    """A name as a metadata pattern, with the wildcards `_` and `%` escaped. Drivers do not agree on how a backslash is
    escaped: the pattern has any character in its place."""
    if name is None:
        return None
    return "".join("_" if char == "\\" else f"\\{char}" if char in "_%" else char for char in name)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None
