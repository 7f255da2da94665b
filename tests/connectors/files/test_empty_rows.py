"""Rows of only NULLs and of blank texts are written and read again, between other rows and at the end."""

import os
from itertools import product
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.table import CatalogTable, Column
from catalog.types.typenames import parse_type
from connectors.files.formats.read_files import read_files
from connectors.files.formats.scanned_files import may_hold_blank_rows
from connectors.files.formats.write_files import write_files
from connectors.local_file import connector
from tests.connectors.given_options import options_of
from tests.sampling import pairwise

TABLES = {
    "text": ("a string", [(None,), ("x",), (None,), ("  ",), (None,)]),
    "number": ("a int", [(None,), (1,), (None,), (2,), (None,)]),
    "two": ("a string, b int", [(None, None), ("x", 1), (None, None), (" ", None), (None, None)]),
}
HEADER = {"enable_header_write": True}
SKIPPED = {"skip_header_row_number": 1}


def written_and_read(spark, folder: Path, table: str, kind: str, sink, source) -> list[tuple]:
    ddl, rows = TABLES[table]
    fields = dict(part.split(" ") for part in ddl.split(", "))
    given = {"path": str(folder), "file_format_type": kind}
    df = spark.createDataFrame(rows, ddl).coalesce(1)
    write_files(spark, df, str(folder), (), options_of(connector.sink_options, **given, **sink))
    options = options_of(connector.source_options, **given, schema={"fields": fields}, **source)
    columns = [Column(name, parse_type(type)) for name, type in fields.items()]
    return [tuple(row) for row in read_files(spark, options, columns, ()).collect()]


def is_kept(before: object, after: object) -> bool:
    """NULL may become an empty text; Spark's xml reader trims texts."""
    blank = None if before is None or not str(before).strip() else before
    return after == before or (blank is None and after == "")


VARIANTS = [
    ("csv", {}, {}),
    ("csv", HEADER, {"csv_use_header_line": True}),
    ("csv", {"quote_char": "'"}, {"quote_char": "'"}),
    ("csv", {"field_delimiter": "\t"}, {"field_delimiter": "\t"}),
    ("csv", {"field_delimiter": "\x01"} | HEADER, {"field_delimiter": "\x01"} | SKIPPED),
    ("csv", {"csv_string_quote_mode": "NONE"}, {}),
    ("json", {}, {}),
    ("xml", {}, {"xml_row_tag": "RECORD"}),
    ("excel", {}, SKIPPED),
    ("text", {}, {}),
    ("text", {"field_delimiter": "|"}, {"field_delimiter": "|"}),
    (
        "text",
        {"field_delimiter": "\t", "row_delimiter": "\r\n"},
        {"field_delimiter": "\t", "row_delimiter": "\r\n"},
    ),
]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("table", "kind", "sink", "source"),
    [
        pytest.param(table, *variant, marks=pytest.mark.soak if table == "number" and variant[1] else ())
        for table in TABLES
        for variant in VARIANTS
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value) or "plain",
)
def test_rows_without_values_come_back(spark, tmp_path, table, kind, sink, source):
    rows = written_and_read(spark, tmp_path / "rows", table, kind, sink, source)
    expected = TABLES[table][1]
    assert len(rows) == len(expected), rows
    assert all(is_kept(*pair) for before, after in zip(expected, rows, strict=True)
               for pair in zip(before, after, strict=True)), rows  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize(
    ("encoding", "delimiter", "header", "end"),
    pairwise(list(product(("utf-8", "iso-8859-1", "utf-16le"), ("\x01", "\t", "|"), (0, 1, 2), ("\n", "\r\n")))),
)
def test_lines_of_text_without_values_are_rows(spark, tmp_path, encoding, delimiter, header, end):
    lines = ["name"] * header + [delimiter, f"x{delimiter}1", delimiter, f"y{delimiter}2", delimiter]
    (tmp_path / "a.txt").write_bytes("".join(line + end for line in lines).encode(encoding))
    options = options_of(
        connector.source_options, path=str(tmp_path), file_format_type="text", field_delimiter=delimiter,
        skip_header_row_number=header, encoding=encoding,
    )  # fmt: skip
    columns = [Column("a", parse_type("string")), Column("b", parse_type("int"))]
    rows = [tuple(row) for row in read_files(spark, options, columns, ()).collect()]
    assert rows == [(None, None), ("x", 1), (None, None), ("y", 2), (None, None)]


@pytest.mark.spark
@pytest.mark.parametrize("header", [0, 1, 2])
def test_an_empty_line_is_the_null_of_a_single_column_of_text(spark, tmp_path, header):
    (tmp_path / "a.txt").write_text("name\n" * header + "\n1\n\n2\n\n")
    options = options_of(
        connector.source_options, path=str(tmp_path), file_format_type="text", skip_header_row_number=header
    )
    rows = read_files(spark, options, [Column("a", parse_type("int"))], ()).collect()
    assert [row[0] for row in rows] == [None, 1, None, 2, None]


@pytest.mark.spark
def test_empty_rows_of_a_workbook_are_rows_up_to_its_last_value(spark, tmp_path):
    import xlsxwriter

    workbook = xlsxwriter.Workbook(os.fspath(tmp_path / "a.xlsx"))
    sheet = workbook.add_worksheet()
    sheet.write_row(0, 0, ["a", "b"])
    sheet.write_number(2, 1, 7)
    sheet.write_blank(9, 0, None, workbook.add_format({"bold": True}))
    workbook.close()
    options = options_of(connector.source_options, path=str(tmp_path), file_format_type="excel", **SKIPPED)
    columns = [Column("a", parse_type("string")), Column("b", parse_type("int"))]
    assert [tuple(row) for row in read_files(spark, options, columns, ()).collect()] == [(None, None), (None, 7)]


@pytest.mark.parametrize(
    ("content", "delimiter", "is_text", "answer"),
    [
        ("a\tb\n1\t2\n", "\t", False, False),
        ("a\tb\n\t2\n", "\t", False, False),
        ("a\tb\n\t\n", "\t", False, True),
        ("\t\n1\t2\n", "\t", False, True),
        ("a\tb\r\n\t", "\t", False, True),
        ("a\x01b\r\n \x01\r\n", "\x01", False, True),
        ("a,b\n,\n", ",", False, False),
        ("a\n  \nb\n", ",", True, True),
        ("a\n  x\n\nb\n", ",", True, False),
    ],
)
def test_blank_rows_are_looked_for(tmp_path, content, delimiter, is_text, answer):
    (tmp_path / "a.csv").write_text(content, newline="")
    options = options_of(
        connector.source_options, path=str(tmp_path), file_format_type="csv", field_delimiter=delimiter
    )
    assert may_hold_blank_rows([str(tmp_path)], options, is_text=is_text) is answer
    assert may_hold_blank_rows(["s3a://bucket/a.csv"], options, is_text=is_text) is (is_text or delimiter != ",")


@pytest.mark.parametrize(
    ("column", "given", "codes"),
    [
        ("a string", {"enable_header_write": True}, ["PEN4034"]),
        ("a int", {"encoding": "iso-8859-1"}, ["PEN4034"]),
        ("a int not null", {"encoding": "iso-8859-1"}, []),
        ("a int", {"null_format": "-", "enable_header_write": True}, []),
        ("a string", {}, []),
        ("a string, b int", {"enable_header_write": True}, []),
    ],
)
def test_a_text_sink_that_would_lose_rows_says_so(tmp_path, column, given, codes):
    columns = [
        Column(name, parse_type(type), not rest)
        for name, type, *rest in (part.split(" ") for part in column.split(", "))
    ]
    diagnostics = Diagnostics()
    options = options_of(connector.sink_options, path=str(tmp_path), file_format_type="text", **given)
    connector.validate(options, CatalogTable.of("t", columns), diagnostics)
    assert [diagnostic.code for diagnostic in diagnostics] == codes
