"""Work out the flights jobs' figures without Spark: the same questions asked of SQLite, over the same files.

    python examples/flights/figures.py            every table, as JSON
    python examples/flights/figures.py --summary  the totals that the jobs' Assert sinks hold

Only Python's standard library is used, so that nothing of Penstock's, Spark's or sqlglot's can make both sides
wrong in the same way. `tests/test_examples.py` compares every row that the jobs write with what is worked out here.
"""

import csv
import gzip
import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

DATA = Path(__file__).parent / "data"
TABLES = ("airlines", "airports", "planes", "weather", "flights")
NUMBERS = {"year", "month", "day", "hour", "dep_time", "dep_delay", "arr_delay", "distance", "visib", "seats"}

QUESTIONS = {
    "delays_by_carrier": """
        select f.carrier, a.name as airline, count(*) as flights, sum(dep_time is null) as cancelled,
               sum(dep_delay) as departure_delay, sum(arr_delay) as arrival_delay, sum(arr_delay > 15) as late
        from flights f join airlines a on f.carrier = a.carrier
        group by f.carrier, a.name order by f.carrier""",
    "delays_by_route": """
        select f.origin, f.dest, p.name as airport, count(*) as flights, sum(dep_time is null) as cancelled,
               sum(arr_delay) as arrival_delay, max(arr_delay) as worst_arrival_delay
        from flights f left join airports p on f.dest = p.faa
        group by f.origin, f.dest, p.name order by f.origin, f.dest""",
    "delays_by_weather": """
        select f.origin, cast(f.hour as integer) as hour,
               case when w.time_hour is null then 'unknown' when w.visib < 3 then 'poor'
                    when w.visib < 10 then 'fair' else 'good' end as visibility,
               count(*) as flights, sum(dep_delay) as departure_delay, count(dep_delay) as departed
        from flights f left join weather w on f.origin = w.origin and f.time_hour = w.time_hour
        group by 1, 2, 3 order by 1, 2, 3""",
    "flights_by_month": """
        select f.month, count(*) as flights, sum(f.distance) as distance, count(p.tailnum) as known_planes,
               sum(p.seats) as seats
        from flights f left join planes p on f.tailnum = p.tailnum
        group by f.month order by f.month""",
}


def load(connection: sqlite3.Connection, table: str) -> None:
    """Load one file; `NA` is null, the columns of `NUMBERS` are numbers and the others text."""
    with gzip.open(DATA / f"{table}.csv.gz", "rb") as packed:
        rows = csv.reader(io.TextIOWrapper(packed, "utf-8", newline=""))
        names = next(rows)
        columns = ", ".join(f"{name} {'numeric' if name in NUMBERS else 'text'}" for name in names)
        connection.execute(f"create table {table} ({columns})")
        marks = ", ".join("?" * len(names))
        connection.executemany(
            f"insert into {table} values ({marks})", ([None if cell == "NA" else cell for cell in row] for row in rows)
        )


def work_out() -> dict[str, list[dict[str, object]]]:
    """The rows of every table, by its name."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        for table in TABLES:
            load(connection, table)
        connection.execute("create index weather_at on weather (origin, time_hour)")
        return {name: [dict(row) for row in connection.execute(query)] for name, query in QUESTIONS.items()}


def summary(tables: dict[str, list[dict[str, object]]]) -> dict[str, object]:
    """Rows of each table and the sums of its counting columns."""
    return {
        name: {"rows": len(rows)}
        | {
            column: sum(value for row in rows if isinstance(value := row[column], int))
            for column in rows[0]
            if column not in ("month", "hour", "worst_arrival_delay")
            and all(isinstance(row[column], int | None) for row in rows)
        }
        for name, rows in tables.items()
    }


if __name__ == "__main__":
    tables = work_out()
    print(json.dumps(summary(tables) if "--summary" in sys.argv else tables, indent=2))
