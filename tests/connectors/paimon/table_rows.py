"""The rows of a Paimon table, by pypaimon's own reader."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from connectors.paimon.paimon_table import opened
from connectors.paimon.table_files import latest_schema


def rows_of_table(folder: Path, names: Sequence[str] | None = None) -> list[tuple[Any, ...]]:
    """All rows, sorted; `names`: of these columns, in this order."""
    builder = opened(str(folder), latest_schema(str(folder))).new_read_builder()
    table = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    columns = (table.column(name).to_pylist() for name in names or table.column_names)
    return sorted(zip(*columns, strict=True), key=repr)
