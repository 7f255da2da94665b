"""Excel workbooks: read by calamine in Spark's tasks, written by xlsxwriter from Arrow batches."""

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from catalog.options import Options
from catalog.quoting import quote
from catalog.tables.table import Column
from connectors.files.formats.readers import load
from connectors.files.values.delimited import Formats, to_text

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, DataFrameReader

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


def workbook_rows(
    reader: "DataFrameReader", paths: Sequence[str], options: Options, columns: Sequence[Column]
) -> "DataFrame":
    """The cells of a sheet as texts, by the declared columns in their order; the columns of directories follow.

    An empty row is a row of NULLs, as where SeaTunnel finds a row without values. The sheet ends with its last cell
    that holds something, be it an empty text: cells that only have a format are none.
    """
    files = load(reader, paths).drop("path", "modificationTime", "length")
    parts = [name for name in files.columns if name != "content"]
    names = [column.name for column in columns]
    sheet, skipped = options.optional_string("sheet_name"), options.integer("skip_header_row_number")

    def parse(batches: "Iterable[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        import pyarrow as pa

        for batch in batches:
            for row in batch.to_pylist():
                cells = _cells(row["content"], sheet, skipped, len(names))
                arrays = [pa.array([line[i] for line in cells], pa.string()) for i in range(len(names))]
                arrays += [pa.array([row[part]] * len(cells), batch.schema.field(part).type) for part in parts]
                yield pa.RecordBatch.from_arrays(arrays, names=[*names, *parts])

    fields = [f"{quote(name)} string" for name in names]
    fields += [f"{quote(name)} {files.schema[name].dataType.simpleString()}" for name in parts]
    return files.mapInArrow(parse, ", ".join(fields))


def write_workbook(df: "DataFrame", file: str, options: Options, columns: Sequence[Column]) -> None:
    """Write all rows as one sheet with a header; numbers and booleans keep their type, other values become text."""
    import xlsxwriter

    formats = Formats.of(options)
    values = [
        quote(column.name)
        if str(column.type) in (*_NUMBERS, "boolean")
        else f"{to_text(quote(column.name), column.type, formats)} as {quote(column.name)}"
        for column in columns
    ]
    workbook = xlsxwriter.Workbook(
        file, {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    )
    sheet = workbook.add_worksheet(options.optional_string("sheet_name") or "Sheet0")
    sheet.write_row(0, 0, [column.name for column in columns])
    for number, row in enumerate(df.selectExpr(*values).toLocalIterator(prefetchPartitions=True), 1):
        for index, value in enumerate(row):
            if value is not None:
                _write_cell(sheet, number, index, value)
        if all(value is None for value in row):
            sheet.write_string(number, 0, "")  # else the sheet would end before it
    workbook.close()


def _write_cell(sheet: Any, row: int, column: int, value: Any) -> None:
    is_exact = not isinstance(value, int) or abs(value) < 2**53
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float) and is_exact and math.isfinite(value):
        sheet.write_number(row, column, value)
    else:
        sheet.write_string(row, column, str(value))


def _cells(content: bytes, sheet: str | None, skipped: int, width: int) -> list[list[str | None]]:
    from python_calamine import CalamineWorkbook

    workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
    name = sheet or workbook.sheet_names[0]
    rows = workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)[skipped:]
    texts = ([_text(cell) for cell in row[:width]] for row in rows)
    return [row + [None] * (width - len(row)) for row in texts]


def _text(cell: Any) -> str | None:
    match cell:
        case None | "":
            return None
        case bool():
            return str(cell).lower()
        case float() if cell.is_integer():
            return str(int(cell))
        case datetime():
            return cell.isoformat(sep=" ")
        case date() | time():
            return cell.isoformat()
        case timedelta():
            return str(cell)
    return str(cell)
