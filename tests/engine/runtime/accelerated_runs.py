"""Runs random jobs with Comet and without it in one Spark session, and prints what differs, as JSON lines.

    python -m tests.engine.runtime.accelerated_runs COUNT [SEED]

Rows, the counts of rows read, written, filtered and rejected, and errors with their codes and places have to be equal.
The last line says how many jobs ran, how many of them failed, how many operators were native, and what
`explain --connect` says of a job with a rule and a NOT NULL column.
"""

import io
import json
import random
import re
import sys
import tempfile
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, PenstockError
from engine.cli import main as main_of_penstock
from engine.compile import compile_job
from engine.job.model.job import Accelerator
from engine.job.model.settings import Settings
from engine.runtime.counting.native_share import NativeShare, together
from engine.runtime.execute import run_job
from engine.runtime.results import JobResult
from engine.runtime.run_request import RunRequest, new_run_id
from engine.spark.session import open_session

ROWS = 4_000
LINES = f"""
    select id, cast(id * 7919 % 997 as int) as k, cast(id % 13 as smallint) as small, cast(id % 5 as tinyint) as tiny,
      if(id % 11 = 0, null, cast(id * 31 % 10007 as decimal(12, 2)) / 4) as amount,
      cast(id * 1.7 as decimal(38, 10)) as huge,
      case when id % 97 = 0 then double('NaN') when id % 89 = 0 then double('Infinity') when id % 83 = 0 then -0.0d
           when id % 7 = 0 then null else id * 0.1d - 200 end as x,
      cast(id % 50 as float) / 3 as y,
      if(id % 9 = 0, null,
         concat(element_at(array('ä', 'Straße', 'x', 'Ünï🙂', '', 'a b', 'Z'), int(id % 7) + 1), id % 23)) as name,
      date_add(date'1999-12-20', cast(id % 4000 - 2000 as int)) as day,
      timestamp_seconds(id * 86413 - 900000000) as at,
      cast(timestamp_seconds(id * 3607) as timestamp_ntz) as ntz,
      id % 3 = 0 as flag, if(id % 17 = 0, null, array(int(id % 4), null, int(id % 6))) as numbers,
      named_struct('a', int(id % 8), 'b', cast(id % 9 as string)) as pair
    from range({ROWS})
"""
PARTS = """
    select cast(id as int) as part, if(id % 6 = 0, null, cast(id % 40 as decimal(10, 2))) as price,
      concat('n', id % 23) as label, date_add(date'2000-01-01', cast(id % 100 as int)) as since, id % 10 as grade
    from range(700)
"""
CONDITIONS = (
    "amount > 500", "k % 3 = 1", "name like 'S%'", "x > 10 or x is null", "day >= date'2001-03-04'", "flag",
    "not flag and tiny <> 2", "k in (1, 5, 9, 100, 400)", "amount between 10 and 900", "length(name) > 3", "y < 7.5",
    "at > timestamp'2000-01-01 00:00:00'", "numbers[0] = 2", "pair.a > 3", "x = 0", "isnan(x)", "name is not null",
    "upper(name) <> 'X4'", "coalesce(amount, 0) > 100", "size(numbers) = 3", "amount / 3 > 20",
    "date_trunc('MONTH', at) > at - interval 4 days",
)  # fmt: skip
VALUES = (
    "amount * 2 as v", "x + y as v", "concat(name, '-', k) as v", "year(day) as v",
    "case when k > 500 then 'a' else name end as v", "cast(amount as int) as v", "cast(k as string) as v",
    "round(x, 1) as v", "date_add(day, tiny) as v", "hour(at) as v", "substring(name, 2, 3) as v",
    "hash(k, name) as v", "xxhash64(id) as v", "numbers[2] as v", "pair.b as v", "md5(name) as v",
    "cast(at as date) as v", "unix_timestamp(at) as v", "nullif(k, 3) as v", "greatest(k, tiny) as v",
    "regexp_replace(name, '[0-9]', '#') as v", "cast(x as decimal(20, 3)) as v", "try_divide(amount, tiny) as v",
    "split(name, ' ')[0] as v", "array_contains(numbers, 1) as v", "date_format(at, 'yyyy-MM') as v",
    "from_unixtime(id) as v", "cast(y as string) as v", "cast(huge as double) as v", "trim(name) as v",
    "lower(name) as v", "reverse(name) as v", "months_between(day, date'2000-01-31') as v",
    "cast(day as timestamp) as v", "abs(x) as v", "huge * 1.01 as v", "amount % 7 as v", "pmod(k, 7) as v",
    "cast(ntz as string) as v", "to_json(pair) as v", "floor(amount) as v",
    "from_utc_timestamp(at, 'America/New_York') as v", "to_utc_timestamp(at, 'Asia/Kathmandu') as v",
    "convert_timezone('UTC', 'Europe/Berlin', ntz) as v", "cast(at as string) as v",
)  # fmt: skip
AGGREGATES = (
    "count(*) as n", "sum(amount) as s", "min(name) as least", "max(day) as latest", "count(distinct tiny) as d",
    "avg(amount) as mean", "max(x) as top", "min(x) as low", "sum(k) as total", "count(amount) as m",
    "bool_and(flag) as a", "max(at) as last", "first(tiny) as f", "sum(huge) as h", "count_if(flag) as c",
    "max(struct(id, name)) as newest", "bit_xor(k) as b", "avg(k) as kk", "sum(distinct small) as ds",
    "min(ntz) as nn",
)  # fmt: skip
KEYS = ("k", "tiny", "small", "name", "day", "flag", "year(day)", "x", "substring(name, 1, 1)")
FAILING = (
    "cast(name as int) as v", "k / (tiny - 2) as v", "element_at(numbers, 9) as v", "cast(amount as tinyint) as v",
    "cast(x as int) as v", "to_date(name, 'yyyy-MM-dd') as v", "k % (small - 5) as v", "cast(k as tinyint) as v",
    "id * 9223372036854775807 as v", "cast(huge * 1e30 as decimal(38, 10)) as v", "numbers[7] as v",
    "cast(name as timestamp) as v", "-(k - 2147483647 - 500) as v", "cast(name as date) as v",
)  # fmt: skip
"""Values that are an error of ANSI SQL in some of the rows."""
SINKS = ("parquet", "parquet", "parquet", "json", "delta")
SOURCES = ("parquet", "parquet", "parquet", "csv", "json", "orc", "delta")
PART_COLUMNS = (
    ("part", "int"), ("price", "decimal(10,2)"), ("label", "string"), ("since", "date"), ("grade", "bigint"),
)  # fmt: skip

RULED = """
env { job.name = "ruled", accelerator = comet }
source {
  LocalFile {
    plugin_output = "lines", path = "${data}/lines-parquet", file_format_type = parquet
    expectations = [{ condition = "k >= 3", on_violation = DROP }, { condition = "amount > 2", on_violation = DROP }]
  }
  LocalFile {
    plugin_output = "parts", path = "${data}/parts-parquet", file_format_type = parquet
    schema { columns = [
      { name = part, type = int, nullable = false }, { name = price, type = "decimal(10,2)" },
      { name = label, type = string }, { name = since, type = date }, { name = grade, type = bigint, nullable = false },
    ] }
  }
}
transform {
  Sql {
    plugin_input = [lines, parts], plugin_output = "q"
    query = "select grade, sum(price) as total, count(*) as n from lines join parts on k = part group by grade"
  }
}
sink { LocalFile { path = "${data}/ruled", file_format_type = parquet } }
"""


@dataclass(frozen=True)
class RandomJob:
    """A job of some queries, each over the one before it."""

    seed: int
    text: str

    @classmethod
    def of(cls, seed: int, data: Path) -> "RandomJob":
        choose = random.Random(seed)
        steps, name = list[str](), "lines"
        for number in range(choose.randint(1, 3)):
            query, is_last = _query(choose, name)
            inputs = f"{name}, parts" if " parts" in query else name
            steps.append(f'Sql {{ plugin_input = [{inputs}], plugin_output = "q{number}", query = """{query}""" }}')
            name = f"q{number}"
            if is_last:
                break
        parts = _parts(choose, data) if any("parts]" in step for step in steps) else ""
        lines = _source("lines", choose.choice(("parquet", "parquet", "delta")), data, _rules(choose))
        sink, path = choose.choice(SINKS), "${out}"
        written = (
            f'Delta {{ path = "{path}", data_save_mode = DROP_DATA }}' if sink == "delta"
            else f'LocalFile {{ path = "{path}", file_format_type = {sink}, data_save_mode = DROP_DATA }}'
        )  # fmt: skip
        text = f"""env {{ job.name = "random", accelerator = comet, job.retry.times = 0 }}
source {{
  {lines}
  {parts}
}}
transform {{
  {"".join(f"{step}{chr(10)}  " for step in steps)}
}}
sink {{ {written} }}
"""
        return cls(seed, text)


def _source(name: str, kind: str, data: Path, more: str = "") -> str:
    if kind == "delta":
        return f'Delta {{ plugin_output = "{name}", path = "{data}/{name}-delta"{more} }}'
    return f'LocalFile {{ plugin_output = "{name}", path = "{data}/{name}-{kind}", file_format_type = {kind}{more} }}'


def _parts(choose: random.Random, data: Path) -> str:
    """The smaller table, of any format, with declared columns or not; a `price` that is NOT NULL is an error."""
    kind = choose.choice(SOURCES)
    if kind not in ("csv", "json") and (kind == "delta" or choose.random() < 0.5):
        return _source("parts", kind, data)
    not_null = {"part": 0.5, "label": 0.5, "price": 0.1}
    columns = ", ".join(
        f'{{ name = {name}, type = "{type_}", nullable = {str(choose.random() > not_null.get(name, 0)).lower()} }}'
        for name, type_ in PART_COLUMNS
    )
    return _source("parts", kind, data, f", schema {{ columns = [{columns}] }}")


def _rules(choose: random.Random) -> str:
    if choose.random() < 0.75:
        return ""
    rules = (
        f'{{ condition = "{condition}", on_violation = {choose.choice(("DROP", "WARN"))} }}'
        for condition in choose.sample(CONDITIONS[:6], choose.randint(1, 2))
    )
    return f", expectations = [{', '.join(rules)}]"


def _query(choose: random.Random, source: str) -> tuple[str, bool]:
    """A query over `source`; whether it has other columns than `lines`, so that no other can follow."""
    where = " and ".join(f"({condition})" for condition in choose.sample(CONDITIONS, choose.randint(1, 2)))
    match choose.randint(0, 13):
        case 0 | 1:
            return f"select * from {source} where {where}", False
        case 2 | 3:
            return f"select id, k, {choose.choice(VALUES)} from {source} where {where}", True
        case 4 | 5:
            key, aggregates = choose.choice(KEYS), ", ".join(choose.sample(AGGREGATES, 3))
            return f"select {key} as g, {aggregates} from {source} where {where} group by 1", True
        case 6:
            kind = choose.choice(("join", "left join", "left semi join", "left anti join"))
            columns = "l.*" if "semi" in kind or "anti" in kind else "l.*, p.price, p.label"
            return (
                f"select {columns} from {source} l {kind} parts p on l.k = p.part and p.grade < 8 where {where}",
                True,
            )
        case 7:
            return (
                f"select p.grade, {', '.join(choose.sample(AGGREGATES, 2))} from {source} join parts p on k = part "
                f"where {where} group by p.grade having count(*) > 3"
            ), True
        case 8:
            order = choose.choice(("id", "x desc nulls last, id", "name, id desc"))
            return (
                f"select * from (select *, row_number() over (partition by {choose.choice(KEYS[:4])} order by {order}) "
                f"as place from {source}) where place <= {choose.randint(1, 4)} and ({where})"
            ), True
        case 9:
            return f"select id, name, amount from {source} where {where} order by x, name, id limit 50", True
        case 10:
            return (
                f"select k, name from {source} where {where} union all select part, label from parts where grade > 4",
                True,
            )
        case 11:
            return f"select id, {choose.choice(FAILING)} from {source} where {where}", True
        case 12:
            return (
                f"select name collate {choose.choice(('UTF8_LCASE', 'UNICODE', 'DE_CI'))} as g, count(*) as n, "
                f"min(id) as first from {source} where {where} group by 1"
            ), True
        case _:
            return f"select distinct tiny, small, name from {source} where {where}", True


def tables(spark: SparkSession, data: Path) -> None:
    for name, query in (("lines", LINES), ("parts", PARTS)):
        rows = spark.sql(query).repartition(3, "k" if name == "lines" else "part").cache()
        rows.write.format("delta").save(f"{data}/{name}-delta")
        for kind in ("parquet",) if name == "lines" else ("parquet", "csv", "json", "orc"):
            rows.write.format(kind).save(f"{data}/{name}-{kind}")
        rows.unpersist()


def main() -> None:
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        work = Path(folder)
        from connectors.delta.connector import connector as delta

        settings = {
            "spark.master": "local[2]", "spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2",
            "spark.databricks.delta.snapshotPartitions": "2", "spark.sql.warehouse.dir": f"{work}/warehouse",
        }  # fmt: skip
        spark = open_session(
            "accelerated", settings, delta.maven, delta.session_settings, accelerator=Accelerator.COMET
        )
        tables(spark, work)
        ends = [_compare(spark, RandomJob.of(number, work), work) for number in range(seed, seed + count)]
        native = together(share for _, share in ends) or NativeShare()
        summary = {
            "jobs": count, "failed": sum(isinstance(found, list) or bool(found["errors"]) for found, _ in ends),
            "native": native.native, "operators": native.operators, "explained": _explained(work),
        }  # fmt: skip
        print(json.dumps(summary), flush=True)
        spark.stop()


def _explained(work: Path) -> Any:
    """What `explain --connect` says of the operators of a job."""
    shown, file = io.StringIO(), work / "ruled.conf"
    file.write_text(RULED)
    with redirect_stdout(shown):
        main_of_penstock(
            ["explain", "--connect", "--format", "json", "--allow-outside", "-i", f"data={work}",
             "--state-dir", f"{work}/state", str(file)]
        )  # fmt: skip
    return json.loads(shown.getvalue())["native"]


def _compare(spark: SparkSession, job: RandomJob, work: Path) -> tuple[Any, NativeShare | None]:
    ends = {kind: _end(spark, job, kind, work) for kind in (Accelerator.NONE, Accelerator.COMET)}
    none, comet = ends[Accelerator.NONE], ends[Accelerator.COMET]
    if isinstance(none[0], list) and not any(code in item for item in none[0] for code in ("PEN5", "PEN4")):
        print(json.dumps({"refused": none[0], "job": job.text}), flush=True)
    if none[0] != comet[0]:
        print(json.dumps({"seed": job.seed, "job": job.text, "none": none[0], "comet": comet[0]}), flush=True)
    return comet


def _end(spark: SparkSession, job: RandomJob, kind: Accelerator, work: Path) -> tuple[Any, NativeShare | None]:
    """Its rows and counts, or its errors."""
    file, out = work / f"{job.seed}.conf", work / f"{job.seed}-{kind.value}"
    file.write_text(job.text)
    diagnostics = Diagnostics()
    settings = Settings(
        variables={"out": str(out)}, accelerator=kind, state_dir=str(work / "state"), allows_outside=True
    )
    compiled = compile_job(file, settings, diagnostics)
    if compiled is None:
        return list(map(_said, diagnostics)), None
    try:
        result = run_job(spark, compiled, RunRequest(new_run_id(), True))
    except PenstockError as error:
        return list(map(_said, error.diagnostics)), None
    return {**_counts(result), "rows": _rows(spark, job, out, result)}, result.native


def _said(item: Diagnostic) -> str:
    """An error's code and place, and what it says; not which of the values it met first."""
    return f"{item.code} {item.span} {_VALUE.sub('…', item.message)}"


_VALUE = re.compile(r"'[^']*'|-?\d[\d.E]*[A-Z]*")


def _counts(result: JobResult) -> dict[str, Any]:
    return {
        "errors": list(map(_said, result.diagnostics)),
        "warnings": [f"{item.code} {item.span} {item.message}" for item in result.warnings],
        "reads": {read.source: read.rows for read in result.reads},
        "writes": [[write.rows, write.filtered, write.rejected] for write in result.writes],
    }


def _rows(spark: SparkSession, job: RandomJob, out: Path, result: JobResult) -> list[str]:
    """The written rows as texts, sorted; at most twenty are shown of those that differ."""
    if result.diagnostics:
        return []
    sink = job.text.rpartition("sink {")[2]
    kind = "delta" if "Delta {" in sink else "json" if "= json" in sink else "parquet"
    session = spark.newSession()
    session.conf.set("spark.comet.enabled", "false")
    return sorted(map(str, session.read.format(kind).load(str(out)).collect()))


if __name__ == "__main__":
    main()
