"""`penstock init`: creates a small project that runs: a job, its data, a test and the files that CI needs."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

SUMMARY = "make a small project that runs: a job, its data and a test"

FILES: Final = {
    "penstock.conf": """\
# The project. `penstock ls` lists its jobs, `penstock build` runs their tests and then the jobs, in dependency order.
jobs = ["jobs"]

environments {
  dev { default = true }
}
""",
    "data/orders.csv": """\
id,customer,region,amount,ordered
1,10,north,120.50,2024-01-30
2,11,south,80.00,2024-01-31
3,10,north,19.99,2024-02-01
4,12,west,240.00,2024-02-01
""",
    "jobs/orders.sql": """\
-- Revenue by region. Check it with `penstock validate jobs`, run it with `penstock run jobs/orders.sql`.
CREATE TABLE orders (id INT, customer INT, region STRING, amount DECIMAL(10,2), ordered DATE)
WITH ('connector' = 'LocalFile', 'path' = 'data/orders.csv', 'file_format_type' = 'csv',
      'csv_use_header_line' = true);

CREATE TABLE revenue
WITH ('connector' = 'LocalFile', 'path' = 'out/revenue', 'file_format_type' = 'parquet',
      'data_save_mode' = 'DROP_DATA');

INSERT INTO revenue
SELECT region, count(*) AS orders, sum(amount) AS amount
FROM orders
WHERE amount >= ${least:20}
GROUP BY region;
""",
    "jobs/orders.test.sql": """\
TEST 'small orders are left out';
GIVEN orders AS SELECT * FROM VALUES ('north', 120.50), ('north', 5.00) AS t(region, amount);
EXPECT revenue AS SELECT 'north' AS region, 1L AS orders, 120.50 AS amount;
""",
    ".gitignore": "out/\n.penstock/\n",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="the folder to create it in (default: the current one)",
    )


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import job_error
    from engine.terminal.output_file import refuse_link

    for name in FILES:
        refuse_link(arguments.folder / name)
    there = [name for name in FILES if (arguments.folder / name).exists()]
    if there:
        raise job_error(
            "PEN1006", f"`{arguments.folder / there[0]}` exists: nothing was written", None, "use a new folder"
        )
    for name, text in FILES.items():
        path = arguments.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    where = "" if arguments.folder == Path() else f"cd {arguments.folder} && "
    print(f"\nnext: {where}penstock validate && penstock build")
    return 0
