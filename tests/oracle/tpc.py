"""The texts and tables of TPC-DS and TPC-H, from the generators that DuckDB's wheel carries."""

import re
from functools import cache

from catalog.tables.table import CatalogTable, Column
from catalog.types.typetext import parse_type

_GENERATORS = {"tpcds": "dsdgen", "tpch": "dbgen"}
_NAMES = {"INTEGER": "int", "VARCHAR": "string"}
_QUOTED_ALIAS = re.compile(r'"([^"\n]*)"')


@cache
def benchmark(name: str) -> tuple[tuple[CatalogTable, ...], tuple[tuple[int, str], ...]]:
    """Tables and numbered queries of `tpcds` or `tpch`; money is decimal, aliases are quoted as Spark quotes them."""
    import duckdb

    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    connection.execute(f"load {name}")
    connection.execute(f"call {_GENERATORS[name]}(sf=0)")
    columns: dict[str, list[Column]] = {}
    for table, column, type_, nullable in connection.execute(
        "select table_name, column_name, data_type, is_nullable from information_schema.columns"
        " order by table_name, ordinal_position"
    ).fetchall():
        columns.setdefault(table, []).append(
            Column(column, parse_type(_NAMES.get(type_, type_).lower()), nullable=nullable == "YES")
        )
    queries = connection.execute(f"select query_nr, query from {name}_queries() order by query_nr").fetchall()
    return (
        tuple(CatalogTable.of(table, each) for table, each in columns.items()),
        tuple((number, _QUOTED_ALIAS.sub(r"`\1`", text.strip().rstrip(";"))) for number, text in queries),
    )
