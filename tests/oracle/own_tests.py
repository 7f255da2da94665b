"""The queries of Spark's own SQL tests, from its test jar: how many of their columns have a type that is not known.

`python -m tests.oracle.own_tests` prints the share, and the queries whose columns are unknown. It needs the jar
`org.apache.spark:spark-sql_2.13:jar:tests` in the local Maven cache (`make soak` fetches it).
"""

import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Severity
from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable
from connectors.shared.spark_types import table_of
from engine.validation.analyzer_answers import Accepted
from engine.validation.spark_analyzer import SparkAnalyzer
from sql.analyze import analyze
from tests.oracle.tpc import benchmark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JARS: Final = Path.home() / ".m2/repository/org/apache/spark/spark-sql_2.13"
_INPUTS: Final = "sql-tests/inputs/"
_TEST_TABLES: Final = {
    "testdata": "key int not null, value string",
    "arraydata": "arraycol array<int>, nestedarraycol array<array<int>>",
    "mapdata": "mapcol map<int,string>",
    "aggtest": "a int, b float",
    "tenk1": "unique1 int, unique2 int, two int, four int, ten int, twenty int, hundred int, thousand int, twothousand "
    "int, fivethous int, tenthous int, odd int, even int, stringu1 string, stringu2 string, string4 string",
}
"""The tables that Spark's test suite makes before its files are run; `onek` is as `tenk1`."""
_MAKES: Final = re.compile(
    r"\s*create\s+(or\s+replace\s+)?((global\s+)?(temporary|temp)\s+)?(view|table)\s+(if\s+not\s+exists\s+)?"
    r"(?P<name>[\w.`]+)",
    re.IGNORECASE,
)
_QUERY: Final = re.compile(r"\s*(\(|select|with|values|from|table)\b|\s*\(", re.IGNORECASE)
_SETTING: Final = re.compile(r"\s*(set|reset)\b", re.IGNORECASE)


@dataclass
class Share:
    """Columns of the queries that Spark and `analyze` accept; `unknown`: the queries with columns of unknown type."""

    queries: int = 0
    columns: int = 0
    unknown_columns: int = 0
    unknown: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        share = self.unknown_columns / max(self.columns, 1)
        return f"{self.queries} queries, {self.columns} columns, {self.unknown_columns} of unknown type ({share:.3%})"

    def count(self, query: str, expected: Accepted, tables: Mapping[str, CatalogTable], where: str) -> None:
        found = analyze(PlacedText.bare(query), tables)
        if any(diagnostic.severity is Severity.ERROR for diagnostic in found.diagnostics):
            return
        self.queries += 1
        self.columns += len(expected.columns)
        names = [column.name for column in found.columns if "unknown" in str(column.type)]
        count = len(expected.columns) if found.table.is_open else len(names)
        if count:
            self.unknown_columns += count
            self.unknown.append(f"{where}: {', '.join(names) or '*'} :: {' '.join(query.split())[:300]}")


def own_tests() -> Iterator[tuple[str, list[str]]]:
    """The files of Spark's SQL tests, each with its statements."""
    jars = sorted(JARS.glob("*/spark-sql_2.13-*-tests.jar"))
    assert jars, f"no test jar of Spark is in {JARS}: `make soak` fetches it"
    with zipfile.ZipFile(jars[-1]) as jar:
        for name in sorted(jar.namelist()):
            if name.startswith(_INPUTS) and name.endswith(".sql"):
                yield name.removeprefix(_INPUTS), statements(jar.read(name).decode())


def statements(text: str) -> list[str]:
    """The statements of a file, each ended by a semicolon at the end of a line, without lines that are comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in re.split(r";\s*(?:--.*)?$", "\n".join(lines), flags=re.MULTILINE) if part.strip()]


def share_of_own_tests(spark: "SparkSession") -> Share:
    """Asks all queries of Spark's own tests. What makes views and tables is executed, in a session for each file."""
    result = Share()
    for file, listed in own_tests():
        session = _session(spark)
        tables = {}
        for name, columns in {**_TEST_TABLES, "onek": _TEST_TABLES["tenk1"]}.items():
            session.createDataFrame([], columns).createOrReplaceTempView(name)
            tables[name] = table_of(name, session.table(name).schema)
        asked = SparkAnalyzer(session, {})
        made: list[str] = []
        for statement in listed:
            if makes := _MAKES.match(statement):
                name = makes["name"].replace("`", "")
                made.append(name)
                if _executed(session, statement) and (table := _table(session, name)) is not None:
                    tables[name.rpartition(".")[2]] = table
            elif _QUERY.match(statement) and not _SETTING.match(statement):
                answer = asked.ask(statement)
                if isinstance(answer, Accepted):
                    result.count(statement, answer, tables, file)
        for name in made:
            _executed(session, f"drop view if exists {name}")
            _executed(session, f"drop table if exists {name}")
    return result


def share_of_benchmarks(spark: "SparkSession") -> Share:
    """Asks all queries of TPC-DS and TPC-H."""
    result = Share()
    for name in ("tpch", "tpcds"):
        tables, queries = benchmark(name)
        inputs = {table.path.table: table for table in tables}
        asked = SparkAnalyzer(_session(spark), inputs)
        for number, query in queries:
            answer = asked.ask(query)
            assert isinstance(answer, Accepted), (name, number, answer)
            result.count(query, answer, inputs, f"{name} {number}")
    return result


def _session(spark: "SparkSession") -> "SparkSession":
    session = spark.newSession()
    session.conf.set("spark.sql.timeType.enabled", "true")
    return session


def _executed(session: "SparkSession", statement: str) -> bool:
    try:
        session.sql(statement)
    except Exception:  # noqa: BLE001 (tests of errors, of settings and of formats that are not there)
        return False
    return True


def _table(session: "SparkSession", name: str) -> CatalogTable | None:
    """None for what has another name, such as a global view, or is dropped by the statement."""
    try:
        return table_of(name, session.table(name).schema)
    except Exception:  # noqa: BLE001 (whatever Spark says)
        return None


def main() -> None:
    import logging

    from pyspark.sql import SparkSession

    logging.getLogger("SQLQueryContextLogger").disabled = True
    warehouse = tempfile.mkdtemp(prefix="penstock-own-tests-")
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.sql.warehouse.dir", warehouse)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    for what, share in (
        ("TPC-DS and TPC-H", share_of_benchmarks(session)),
        ("Spark's own tests", share_of_own_tests(session)),
    ):
        print("\n".join(share.unknown))
        print(f"{what}: {share}")
    shutil.rmtree(warehouse)


if __name__ == "__main__":
    sys.exit(main())
