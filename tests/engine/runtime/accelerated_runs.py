"""Runs random jobs with Comet and without it in one Spark session, and prints what differs, as JSON lines.

    python -m tests.engine.runtime.accelerated_runs COUNT [SEED]

Rows, and the counts of rows read, written, filtered and rejected, have to be equal. The last line says how many jobs
ran, and how many operators were native.
"""

import json
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import Diagnostics, PenstockError
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
)  # fmt: skip
AGGREGATES = (
    "count(*) as n", "sum(amount) as s", "min(name) as least", "max(day) as latest", "count(distinct tiny) as d",
    "avg(amount) as mean", "max(x) as top", "min(x) as low", "sum(k) as total", "count(amount) as m",
    "bool_and(flag) as a", "max(at) as last", "first(tiny) as f", "sum(huge) as h", "count_if(flag) as c",
    "max(struct(id, name)) as newest", "bit_xor(k) as b", "avg(k) as kk", "sum(distinct small) as ds",
    "min(ntz) as nn",
)  # fmt: skip
KEYS = ("k", "tiny", "small", "name", "day", "flag", "year(day)", "x", "substring(name, 1, 1)")
SINKS = ("parquet", "parquet", "parquet", "json", "delta")


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
        part = f'LocalFile {{ plugin_output = "parts", path = "{data}/parts", file_format_type = parquet }}'
        parts = part if any("parts]" in step for step in steps) else ""
        sink, path = choose.choice(SINKS), "${out}"
        written = (
            f'Delta {{ path = "{path}", data_save_mode = DROP_DATA }}' if sink == "delta"
            else f'LocalFile {{ path = "{path}", file_format_type = {sink}, data_save_mode = DROP_DATA }}'
        )  # fmt: skip
        text = f"""env {{ job.name = "random", accelerator = comet, job.retry.times = 0 }}
source {{
  LocalFile {{ plugin_output = "lines", path = "{data}/lines", file_format_type = parquet{_rules(choose)} }}
  {parts}
}}
transform {{
  {"".join(f"{step}{chr(10)}  " for step in steps)}
}}
sink {{ {written} }}
"""
        return cls(seed, text)


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
    match choose.randint(0, 11):
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
        case _:
            return f"select distinct tiny, small, name from {source} where {where}", True


def tables(spark: SparkSession, data: Path) -> None:
    for name, query in (("lines", LINES), ("parts", PARTS)):
        spark.sql(query).repartition(3, "k" if name == "lines" else "part").write.parquet(f"{data}/{name}")


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
        shares = [_compare(spark, RandomJob.of(number, work), work) for number in range(seed, seed + count)]
        native = together(shares) or NativeShare()
        print(json.dumps({"jobs": count, "native": native.native, "operators": native.operators}), flush=True)
        spark.stop()


def _compare(spark: SparkSession, job: RandomJob, work: Path) -> NativeShare | None:
    ends = {kind: _end(spark, job, kind, work) for kind in (Accelerator.NONE, Accelerator.COMET)}
    none, comet = ends[Accelerator.NONE], ends[Accelerator.COMET]
    if isinstance(none[0], list):
        print(json.dumps({"refused": none[0], "job": job.text}), flush=True)
    if none[0] != comet[0]:
        print(json.dumps({"seed": job.seed, "job": job.text, "none": none[0], "comet": comet[0]}), flush=True)
    return comet[1]


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
        return [f"{item.code} {item.message}" for item in diagnostics], None
    try:
        result = run_job(spark, compiled, RunRequest(new_run_id(), True))
    except PenstockError as error:
        return [f"{item.code} {item.message}" for item in error.diagnostics], None
    return {**_counts(result), "rows": _rows(spark, job, out, result)}, result.native


def _counts(result: JobResult) -> dict[str, Any]:
    return {
        "errors": [f"{item.code} {item.message}" for item in result.diagnostics],
        "warnings": [f"{item.code} {item.message}" for item in result.warnings],
        "reads": {read.source: read.rows for read in result.reads},
        "writes": [[write.rows, write.filtered, write.rejected] for write in result.writes],
    }


def _rows(spark: SparkSession, job: RandomJob, out: Path, result: JobResult) -> list[str]:
    """The written rows as texts, sorted; at most twenty are shown of those that differ."""
    if result.diagnostics:
        return []
    kind = "delta" if "Delta {" in job.text else "json" if "= json" in job.text else "parquet"
    session = spark.newSession()
    session.conf.set("spark.comet.enabled", "false")
    return sorted(map(str, session.read.format(kind).load(str(out)).collect()))


if __name__ == "__main__":
    main()
