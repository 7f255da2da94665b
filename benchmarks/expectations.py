"""Ten row-level expectations: a write without them, with them, and great-expectations' own run.

    python benchmarks/expectations.py [lineitem|orders [ROUNDS [ROWS]]]

`lineitem` is the table of TPC-H, sixteen columns, as `duckdb` generates it; `orders` has seven short columns.

Seconds by the clock, and of CPU, to which another's load on the machine adds less: of all of Spark's JVM, and of its
tasks alone (the rest is planning and Java's own compiler, which a longer write does not take more of). Least and median
of the rounds, which are interleaved.
"""

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


@dataclass(frozen=True)
class Subject:
    """A table, ten rules that hold for each of its rows, the same demands for great-expectations, and its rows."""

    columns: str
    rules: tuple[str, ...]
    demands: tuple[tuple[str, dict[str, object]], ...]
    write_csv: Callable[[Any, int, str], None]


def write_orders(spark: Any, rows: int, folder: str) -> None:
    spark.sql(
        f"""SELECT id, CAST(id % 999 + 1 AS INT), CAST(id % 7777 / 3 AS DECIMAL(10,2)), CAST(id % 1000 + 1 AS INT),
            date_add(DATE '2020-01-01', CAST(id % 999 AS INT)),
            element_at(array('new', 'paid', 'sent'), CAST(1 + id % 3 AS INT)),
            lpad(CAST(id % 99999999 AS STRING), 8, '0') FROM range(0, {rows}, 1, {FILES})"""
    ).write.csv(folder)


def write_lineitem(spark: Any, rows: int, folder: str) -> None:
    import duckdb

    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    connection.execute("load tpch")
    connection.execute(f"call dbgen(sf={rows / 6_000_000 * 1.01})")  # a scale factor of 1 has 6,001,215 rows
    Path(folder).mkdir()
    part = -(-rows // FILES)
    for number in range(FILES):
        span = f"LIMIT {min(part, rows - number * part)} OFFSET {number * part}"
        connection.execute(f"COPY (SELECT * FROM lineitem {span}) TO '{folder}/{number}.csv' (HEADER false)")


FILES = 4
NOT_NULL, BETWEEN = "ExpectColumnValuesToNotBeNull", "ExpectColumnValuesToBeBetween"
IN, LENGTH = "ExpectColumnValuesToBeInSet", "ExpectColumnValueLengthsToEqual"
SUBJECTS = {
    "orders": Subject(
        "id BIGINT, customer INT, amount DECIMAL(10,2), quantity INT, day DATE, status STRING, code STRING",
        (
            "id IS NOT NULL", "customer IS NOT NULL", "amount IS NOT NULL", "day IS NOT NULL", "amount >= 0",
            "quantity BETWEEN 1 AND 1000", "day >= DATE '2020-01-01'", "status IN ('new', 'paid', 'sent')",
            "length(code) = 8", "customer > 0",
        ),
        (
            *((NOT_NULL, {"column": name}) for name in ("id", "customer", "amount", "day")),
            (BETWEEN, {"column": "amount", "min_value": 0}),
            (BETWEEN, {"column": "quantity", "min_value": 1, "max_value": 1000}),
            (BETWEEN, {"column": "day", "min_value": date(2020, 1, 1)}),
            (IN, {"column": "status", "value_set": ["new", "paid", "sent"]}),
            (LENGTH, {"column": "code", "value": 8}),
            (BETWEEN, {"column": "customer", "min_value": 1}),
        ),
        write_orders,
    ),
    "lineitem": Subject(
        "l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber BIGINT, l_quantity DECIMAL(15,2),"
        " l_extendedprice DECIMAL(15,2), l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag STRING,"
        " l_linestatus STRING, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING,"
        " l_shipmode STRING, l_comment STRING",
        (
            "l_orderkey IS NOT NULL", "l_partkey IS NOT NULL", "l_suppkey IS NOT NULL", "l_shipdate IS NOT NULL",
            "l_extendedprice >= 0", "l_quantity BETWEEN 1 AND 50", "l_shipdate >= DATE '1992-01-01'",
            "l_returnflag IN ('A', 'N', 'R')", "length(l_linestatus) = 1", "l_linenumber > 0",
        ),
        (
            *((NOT_NULL, {"column": f"l_{name}"}) for name in ("orderkey", "partkey", "suppkey", "shipdate")),
            (BETWEEN, {"column": "l_extendedprice", "min_value": 0}),
            (BETWEEN, {"column": "l_quantity", "min_value": 1, "max_value": 50}),
            (BETWEEN, {"column": "l_shipdate", "min_value": date(1992, 1, 1)}),
            (IN, {"column": "l_returnflag", "value_set": ["A", "N", "R"]}),
            (LENGTH, {"column": "l_linestatus", "value": 1}),
            (BETWEEN, {"column": "l_linenumber", "min_value": 1}),
        ),
        write_lineitem,
    ),
}  # fmt: skip
JOB = """
CREATE TABLE rows ({columns}{rules})
  WITH ('connector' = 'LocalFile', 'path' = '{folder}/rows', 'file_format_type' = 'csv');
CREATE TABLE out WITH ('connector' = 'LocalFile', 'path' = '{folder}/out', 'file_format_type' = 'parquet',
                       'data_save_mode' = 'DROP_DATA');
INSERT INTO out SELECT * FROM rows;
"""


def main(subject: Subject, rounds: int, rows: int) -> None:
    from catalog.diagnostics.diagnostic import Diagnostics
    from engine.compile import Settings, compile_job
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest, new_run_id
    from engine.spark.session import open_session

    with tempfile.TemporaryDirectory() as folder:
        os.environ["PENSTOCK_STATE_DIR"] = f"{folder}/state"
        spark = open_session("benchmark", {"spark.master": "local[2]"})
        subject.write_csv(spark, rows, f"{folder}/rows")
        rules = "".join(f", CONSTRAINT r{i} EXPECT ({rule})" for i, rule in enumerate(subject.rules))
        jobs = {}
        for name, text in (("without", ""), ("with", rules)):
            path = Path(folder, f"{name}.sql")
            path.write_text(JOB.format(columns=subject.columns, rules=text, folder=folder))
            diagnostics = Diagnostics()
            jobs[name] = compile_job(path, Settings(), diagnostics)
            diagnostics.raise_errors()
        taken: dict[str, list[tuple[float, ...]]] = {"without": [], "with": [], "great-expectations": []}
        for number in range(rounds + 2):  # two to warm up
            for name, job in jobs.items():
                assert job is not None
                before = spent(spark)
                assert run_job(spark, job, RunRequest(new_run_id())).state.value == "FINISHED"
                taken[name].append(since(before, spent(spark)))
            if number < 3:
                before = spent(spark)
                by_great_expectations(spark.read.schema(subject.columns).csv(f"{folder}/rows"), subject.demands)
                taken["great-expectations"].append(since(before, spent(spark)))
    for kind, what in enumerate(("clock", "CPU of the JVM", "CPU of its tasks")):
        own = {name: [run[kind] for run in seconds[2:]] for name, seconds in taken.items()}
        for name, seconds in own.items():
            least, middle = min(seconds) / min(own["without"]), median(seconds) / median(own["without"])
            added = f"{100 * least - 100:+.1f} % {100 * middle - 100:+.1f} %" if name == "with" else ""
            print(f"{what:16} {name:20} least {min(seconds):6.2f} s  median {median(seconds):6.2f} s  {added}")


def since(before: tuple[float, ...], after: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(new - old for old, new in zip(before, after, strict=True))


def spent(spark: object) -> tuple[float, ...]:
    """Seconds on the clock, and of CPU that Spark's JVM has used, and those of the threads that run its tasks."""
    process = Path(f"/proc/{spark._jvm.java.lang.ProcessHandle.current().pid()}")  # type: ignore[attr-defined]
    threads = [_used(path / "stat", "Executor task") for path in (process / "task").iterdir()]
    return time.perf_counter(), _used(process / "stat", ""), sum(threads)


def _used(stat: Path, named: str) -> float:
    try:
        name, _, rest = stat.read_text().rpartition(")")
    except OSError:  # a thread that has ended
        return 0.0
    fields = rest.split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if named in name else 0.0


def by_great_expectations(df: object, demands: Sequence[tuple[str, dict[str, object]]]) -> None:
    """The same ten demands, put to great-expectations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import great_expectations as gx
        from great_expectations import expectations

        suite = [getattr(expectations, name)(**options) for name, options in demands]
        context = gx.get_context(mode="ephemeral")
        asset = context.data_sources.add_spark("spark").add_dataframe_asset("rows")
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch(batch_parameters={"dataframe": df})
        assert batch.validate(gx.ExpectationSuite(name="ten", expectations=suite)).success


if __name__ == "__main__":
    given = sys.argv[1:]
    name, rounds, rows = (*given, *("lineitem", 7, 1_000_000)[len(given) :])
    main(SUBJECTS[name], int(rounds), int(rows))
