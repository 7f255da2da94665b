"""Processor time of analyzing each query of TPC-DS: names, types, nullability and lineage, `duckdb` giving the texts.

Garbage is collected as rarely as `penstock validate` does.

python -m benchmarks.validate.tpcds
"""

from collections.abc import Mapping
from statistics import mean, median
from time import process_time

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable
from engine.terminal.rare_collections import rare_collections
from sql.analyze import analyze
from tests.oracle.tpc import benchmark

RUNS = 5
TARGET_MS = 8


def main() -> None:
    tables, queries = benchmark("tpcds")
    inputs = {table.path.table: table for table in tables}
    with rare_collections():
        fastest = {number: min(milliseconds(query, inputs) for _ in range(RUNS)) for number, query in queries}
    slow = {number: millis for number, millis in fastest.items() if millis > TARGET_MS}
    print(f"mean {mean(fastest.values()):.1f} ms, median {median(fastest.values()):.1f} ms")
    print(
        f"over {TARGET_MS} ms:",
        ", ".join(f"query {number} {millis:.1f} ms" for number, millis in slow.items()) or "none",
    )


def milliseconds(query: str, inputs: Mapping[str, CatalogTable]) -> float:
    start = process_time()
    analyze(PlacedText.bare(query), inputs)
    return (process_time() - start) * 1000


if __name__ == "__main__":
    main()
