"""Runs queries with Comet and without it in one Spark session, and prints those whose rows differ, as JSON lines.

    python -m tests.engine.runtime.accelerated_queries tpch | tpcds | cases | random [COUNT]

The tables are Parquet files with NULL, NaN, -0.0, extreme numbers, old dates and Unicode. Rows are compared as sets,
floating-point numbers to eleven digits, errors by Spark's condition.
"""

import json
import math
import re
import sys
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from catalog.types.typenames import to_ddl
from engine.job.model.job import Accelerator
from engine.spark.session import open_session
from tests.oracle.queries import QueryGenerator
from tests.oracle.tables import ALL
from tests.oracle.tpc import benchmark
from tests.sql.query_cases import TABLES, all_cases

VALUES = {
    "boolean": ("id % 2 = 0", "true"),
    "tinyint": ("id % 128", "127Y"),
    "smallint": ("id * 331 % 32767", "-32768S"),
    "int": ("id * 7919 % 1000 - 300", "2147483647"),
    "bigint": ("id * 104729 - 5000", "-9223372036854775808L"),
    "float": ("id / 3 - 10", "float('NaN')"),
    "double": ("id / 7 - 3", "-0.0d"),
    "string": (
        "element_at(array('a', 'Straße', '', 'Ünï🙂', 'a b', '12', '2020-02-29', ' x '), int(id % 8) + 1)",
        "'Z'",
    ),
    "binary": ("cast(concat('b', id) as binary)", "X'00FF'"),
    "date": ("date_add(date'1999-12-25', int(id * 13))", "date'0001-01-01'"),
    "timestamp": ("timestamp_seconds(id * 86399 - 86400)", "timestamp'1900-01-01 00:00:00Z'"),
    "timestamp_ntz": (
        "cast(timestamp_seconds(id * 3607) as timestamp_ntz)",
        "timestamp_ntz'1969-12-31 23:59:59.999999'",
    ),
    "array<int>": ("array(int(id % 4), null, int(id))", "array()"),
    "array<string>": ("array('x', cast(id as string), null)", "array()"),
    "map<string,int>": ("map('a', int(id), 'b', null)", "map()"),
}
"""By type: a value of a row, and the one of every seventh row."""
UNSTABLE = re.compile(
    r"\b(?:any_value|first|first_value|last|last_value|rand|randn|uuid|shuffle|limit|row_number|ntile|lag|lead"
    r"|monotonically_increasing_id|collect_list|collect_set|mode|sample|tablesample|now|current_timestamp)\b",
    re.IGNORECASE,
)
"""What gives other rows where rows come in another order, so that there is no right answer."""


def value(type_: str, name: str) -> str:
    plain, extreme = VALUES.get(type_, ("null", "null"))
    if type_.startswith("decimal"):
        plain, extreme = "(id - 20) / 8", "0"
    if type_.startswith("struct<a"):
        plain, extreme = "named_struct('a', int(id), 'b', concat('s', id), 'c', array(1, int(id)))", "null"
    null = "" if name.endswith("_nn") else "when id % 5 = 1 then null "
    return f"cast(case {null}when id % 7 = 3 then {extreme} else {plain} end as {type_})"


def write_tables(spark: SparkSession, work: Path, tables: Any) -> None:
    """Each table of 40 rows as a view over Parquet."""
    for table in tables:
        columns = ", ".join(f"{value(to_ddl(c.type).lower(), c.name)} as `{c.name}`" for c in table.columns)
        path = f"{work}/{table.path.table}"
        try:
            spark.sql(f"select {columns} from range(0, 40, 1, 1)").write.parquet(path)
        except PySparkException as error:
            print(json.dumps({"table": table.path.table, "error": str(error)[:300]}), flush=True)
            continue
        spark.read.parquet(path).createOrReplaceTempView(table.path.table)


def queries(what: str, count: int, spark: SparkSession, work: Path) -> Iterator[tuple[str, str]]:
    if what in ("tpch", "tpcds"):
        load(spark, work, what)
        yield from ((f"q{number}", query) for number, query in benchmark(what)[1])
    elif what == "cases":
        write_tables(spark, work, TABLES.values())
        yield from ((str(case), case.query) for case in all_cases() if not case.expected.startswith("! "))
    else:
        write_tables(spark, work, ALL)
        yield from ((str(seed), QueryGenerator(seed).query()) for seed in range(count))


def load(spark: SparkSession, work: Path, name: str) -> None:
    """The data of a benchmark at a hundredth of its smallest size."""
    import duckdb

    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    connection.execute(f"load {name}")
    connection.execute(f"call {'dbgen' if name == 'tpch' else 'dsdgen'}(sf=0.01)")
    for (table,) in connection.execute("select table_name from information_schema.tables").fetchall():
        connection.execute(f"copy {table} to '{work}/{table}.parquet' (format parquet)")
        spark.read.parquet(f"{work}/{table}.parquet").createOrReplaceTempView(table)


def main() -> None:
    what, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        settings = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
        spark = open_session("accelerated", settings, accelerator=Accelerator.COMET)
        compare(spark, what, count, Path(folder))
        spark.stop()


def compare(spark: SparkSession, what: str, count: int, work: Path) -> None:
    asked = failed = native = 0
    for name, query in queries(what, count, spark, work):
        ends = [end(spark, query, is_on=is_on) for is_on in (False, True)]
        asked += 1
        failed += isinstance(ends[0], str)
        native += "Comet" in (plan(spark, query) if not isinstance(ends[1], str) else "")
        if not equal(*ends) and not UNSTABLE.search(query):
            shown = [item if isinstance(item, str) else [str(row) for row in item][:60] for item in ends]
            print(json.dumps({"name": name, "query": query, "spark": shown[0], "comet": shown[1]}), flush=True)
    print(json.dumps({"queries": asked, "errors": failed, "native": native}), flush=True)


def plan(spark: SparkSession, query: str) -> str:
    return str(spark.sql(query)._jdf.queryExecution().executedPlan().toString())


def end(spark: SparkSession, query: str, *, is_on: bool) -> list[Any] | str:
    """The rows of a query in an order of their own, or the condition of its error."""
    spark.conf.set("spark.comet.enabled", str(is_on).lower())
    try:
        return sorted((plain(tuple(row)) for row in shown(spark.sql(query)).collect()), key=str)
    except PySparkException as error:
        return f"{error.getCondition() or type(error).__name__}: {str(error)[:200]}"
    except Py4JError as error:
        found = re.search(r"\[([A-Z0-9_.]+)\]", str(error))  # PySpark does not know all classes of Comet's errors
        return f"{found[1] if found else 'Java'}: {str(error)[:600]}"


def shown(df: DataFrame) -> DataFrame:
    """Intervals, times and variants as texts, since Python has no values for them."""
    odd = ("interval", "variant", "time(")
    if not any(word in kind for _, kind in df.dtypes for word in odd):
        return df
    names = [f"c{index}" for index in range(len(df.columns))]
    renamed = df.toDF(*names)
    texts = (f"cast({name} as string)" if any(word in kind for word in odd) else name
             for name, (_, kind) in zip(names, renamed.dtypes, strict=True))  # fmt: skip
    return renamed.selectExpr(*texts)


def plain(found: Any) -> Any:
    match found:
        case float() if math.isnan(found):
            return "NaN"
        case float():
            return float(f"{found:.10e}") + 0.0 if math.isfinite(found) else str(found)
        case Decimal():
            return str(found)
        case tuple() | list():
            return tuple(plain(item) for item in found)
        case dict():
            return tuple(sorted((str(key), plain(item)) for key, item in found.items()))
        case _:
            return found


def equal(spark: list[Any] | str, comet: list[Any] | str) -> bool:
    if isinstance(spark, str) or isinstance(comet, str):
        return isinstance(spark, str) and isinstance(comet, str) and spark.split(":")[0] == comet.split(":")[0]
    return spark == comet


if __name__ == "__main__":
    main()
