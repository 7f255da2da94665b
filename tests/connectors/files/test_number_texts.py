"""Decimals in files of texts, and rows that do not fit."""

import json
from decimal import Decimal

import pytest

from catalog.diagnostics.diagnostic import RunError
from engine.cli import main
from tests.connectors.files.test_local_file import read

pytestmark = pytest.mark.spark

SCHEMA = {"fields": {"id": "int", "amount": "decimal(10,2)"}}
SOURCE = """
source {{ LocalFile {{ plugin_output = orders, path = "{path}", file_format_type = {kind}
  schema {{ fields {{ id = int, amount = "decimal(10,2)" }} }}{more} }} }}
sink {{ LocalFile {{ path = "{out}", file_format_type = parquet, data_save_mode = DROP_DATA }} }}
"""
TEXTS = {  # what a decimal says with `.` and with `,` before its fraction; None: malformed
    "1.10": ("1.10", None), "1,10": (None, "1.10"), "1,234.50": ("1234.50", None), "1.234,50": (None, "1234.50"),
    "1,234": ("1234.00", None), "1.234": (None, "1234.00"), "12,34": (None, "12.34"), "1,2345": (None, None),
    "1,234,567": ("1234567.00", None), "-1,234": ("-1234.00", None), ",5": (None, "0.50"), "7": ("7.00", "7.00"),
    "1e2": ("100.00", "100.00"), " 5 ": ("5.00", "5.00"), "x": (None, None), "123456789,0": (None, None),
    "1.500": ("1.50", "1500.00"), "15e-1": ("1.50", "1.50"), "15e-3": (None, None), "1.5000000": ("1.50", None),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "text", "xml"])
def test_1_10_as_a_decimal_is_not_110(spark, tmp_path, kind):
    """Groups have three digits; `decimal_separator` changes the meaning; what fits neither is malformed."""
    given = {"field_delimiter": ";"} if kind != "xml" else {"xml_row_tag": "r"}
    rows = [
        f"<r><id>{number}</id><amount>{text}</amount></r>" if kind == "xml" else f"{number};{text}"
        for number, text in enumerate(TEXTS)
    ]
    (tmp_path / "in").write_text("<rs>" + "".join(rows) + "</rs>" if kind == "xml" else "\n".join(rows) + "\n")
    source = {"path": str(tmp_path / "in"), "file_format_type": kind, "schema": SCHEMA, **given}
    for index, separator in enumerate((".", ",")):
        expected = [parsed[index] for parsed in TEXTS.values()]
        df = read(spark, **source, decimal_separator=separator, on_malformed="null")
        assert [row.amount and str(row.amount) for row in df.orderBy("id").collect()] == expected
        df = read(spark, **source, decimal_separator=separator, on_malformed="drop")
        assert [str(row.amount) for row in df.orderBy("id").collect()] == [text for text in expected if text]
        assert df.count() == len([text for text in expected if text])


def test_a_decimal_that_does_not_fit_fails_with_line_and_column(spark, tmp_path, capsys):
    (tmp_path / "in.csv").write_text('1,1.5\n2,"1,234"\n3,"1,10"\n4,"1,10"\n')
    job = tmp_path / "job.conf"
    job.write_text(SOURCE.format(path=tmp_path / "in.csv", kind="csv", more="", out=tmp_path / "out"))
    assert main(["run", str(job), "--quiet"]) == 1
    err = capsys.readouterr().err
    place = f"{tmp_path}/in.csv:3:4: "
    assert f"line 3 of `{tmp_path}/in.csv` of `orders` does not fit the schema: `amount` is `1,10`" in err
    assert f"{place}1,10\n" in err
    assert "^^^^" in err.split(place)[1]
    assert '`decimal_separator = ","` reads it as a fraction' in err


@pytest.mark.parametrize(
    ("kind", "rows", "place"),
    [
        ("csv", "1,1.5\n2,1.505\n", "in.csv:2:3: 1.505"),
        ("json", '{"id": 1, "amount": 1.5}\n{"id": 2, "amount": 1.505}\n', "in.json:2:21: 1.505"),
    ],
)
def test_a_decimal_is_not_rounded_to_the_digits_of_its_column(spark, tmp_path, capsys, kind, rows, place):
    file = tmp_path / f"in.{kind}"
    file.write_text(rows)
    job = tmp_path / "job.conf"
    job.write_text(SOURCE.format(path=file, kind=kind, more="", out=tmp_path / "out"))
    assert main(["run", str(job), "--quiet"]) == 1
    err = capsys.readouterr().err
    assert "`amount` is `1.505`, and not decimal(10,2)" in err
    assert f"{tmp_path}/{place}" in err
    assert "declare a decimal with more digits behind the point, and round it in the query" in err


NESTED = {
    "list": ("array<decimal(10,2)>", "[1.5, {}]", [Decimal("1.50"), Decimal("1.25")]),
    "part": ("struct<a:decimal(10,2),b:array<struct<c:decimal(4,1)>>>", '{{"a": {}, "b": [{{"c": 2.5}}, null]}}', None),
    "map": ("map<string,decimal(10,2)>", '{{"k": {}, "none": null}}', {"k": Decimal("1.25"), "none": None}),
    "days": ("array<date>", '["2024-01-31", "{}"]', None),
}


@pytest.mark.parametrize("name", [*NESTED])
def test_a_nested_value_of_json_is_not_cut(spark, tmp_path, name):
    type, text, expected = NESTED[name]
    whole, cut = ("2024-02-01", "2024-02-01 10:00:00") if name == "days" else ("1.25", "1.255")
    values = [text.format(whole), "null", text.format(cut)]
    lines = [f'{{"id": {id}, "v": {value}}}\n' for id, value in enumerate(values)]
    source = {"path": str(tmp_path / "in.json"), "file_format_type": "json"}
    source["schema"] = {"fields": {"id": "int", "v": type}}
    (tmp_path / "in.json").write_text("".join(lines[:2]))
    rows = sorted(read(spark, **source).collect())
    assert expected is None or [row.v for row in rows] == [expected, None]
    assert read(spark, **source).selectExpr("typeof(v) t").first().t == type
    (tmp_path / "in.json").write_text("".join(lines))
    with pytest.raises(Exception, match=r"penstock\.unfit_value"):
        read(spark, **source).collect()
    assert [row.v is None for row in sorted(read(spark, **source, on_malformed="null").collect())] == [
        False,
        True,
        True,
    ]
    assert sorted(row.id for row in read(spark, **source, on_malformed="drop").collect()) == [0, 1]


def test_a_comma_in_a_text_of_json_is_not_left_out_of_a_decimal(spark, tmp_path):
    (tmp_path / "in.json").write_text('{"d": "1.10"}\n{"d": "-2"}\n{"d": "0E-10"}\n{"d": 1e1}\n{"d": "1,10"}\n')
    source = {"path": str(tmp_path / "in.json"), "file_format_type": "json", "on_malformed": "null"}
    df = read(spark, **source, schema={"fields": {"d": "decimal(10,2)"}})
    assert [row.d and float(row.d) for row in df.collect()] == [1.1, -2.0, 0, 10.0, None]


def test_a_value_is_looked_for_below_the_header_and_in_its_own_column(spark, tmp_path, capsys):
    (tmp_path / "in.csv").write_text("amount,id\n1.5,1\namount,id\n")
    job, more = tmp_path / "job.conf", ", csv_use_header_line = true, csv_columns_by_name = true"
    job.write_text(SOURCE.format(path=tmp_path / "in.csv", kind="csv", more=more, out=tmp_path / "out"))
    assert main(["run", str(job), "--quiet"]) == 1
    assert f"line 3 of `{tmp_path}/in.csv` of `orders` does not fit the schema" in capsys.readouterr().err


def test_json_keeps_all_digits_of_a_decimal(spark, tmp_path):
    (tmp_path / "in.json").write_text('{"d": 12345678901234567890.123456789012345678}\n{"d": 1e-18}\n{"d": 0.1}\n')
    given = {"path": str(tmp_path / "in.json"), "file_format_type": "json"}
    df = read(spark, **given, schema={"fields": {"d": "decimal(38,18)"}})
    assert sorted(str(row.d) for row in df.collect()) == [
        "0.100000000000000000", "12345678901234567890.123456789012345678", "1E-18",
    ]  # fmt: skip


def test_dropped_rows_are_counted(spark, tmp_path, capsys):
    """Of each reader: rows of too many values, bad numbers, and values of other types."""
    records = "".join(f"<RECORD><id>{id}</id></RECORD>" for id in (1, "x", "y", "z", 5))
    files = {
        "csv": "1,1.5\n2,1.5,x\n3,y\nz,4\n5,5\n",
        "json": '{"id": 1, "amount": 1.5}\n{"id": 2\n{"id": 3, "amount": "y"}\n{"id": "z"}\n{"id": 5}\n',
        "xml": f"<RECORDS>{records}</RECORDS>",
    }
    for kind, text in files.items():
        (tmp_path / f"in.{kind}").write_text(text)
        job, more = tmp_path / f"{kind}.conf", ', on_malformed = "drop"'
        more += ', xml_row_tag = "RECORD"' if kind == "xml" else ""
        job.write_text(SOURCE.format(path=tmp_path / f"in.{kind}", kind=kind, more=more, out=tmp_path / kind))
        assert main(["run", str(job), "--run-id", kind]) == 0, capsys.readouterr().err
        warned = "left out 3 of 5 records, because they do not fit its format or schema"
        assert warned in " ".join(capsys.readouterr().err.split()), kind
        assert sorted(row.id for row in spark.read.parquet(str(tmp_path / kind)).collect()) == [1, 5], kind
        assert main(["runs", kind, "--format", "json", "--state-dir", str(tmp_path / ".penstock")]) == 0
        counts = json.loads(capsys.readouterr().out)["counts"]
        assert [sink["filtered"] for sink in counts["sinks"].values()] == [3], kind
        assert read(spark, path=str(tmp_path / f"in.{kind}"), file_format_type=kind, schema=SCHEMA, on_malformed="drop",
                    **({"xml_row_tag": "RECORD"} if kind == "xml" else {})).count() == 2  # fmt: skip


def test_the_remedy_for_lines_of_more_values_is_not_to_drop_them(spark, tmp_path, capsys):
    (tmp_path / "in.csv").write_text("1,1.5,x\n2,2.5,y\n")
    job = tmp_path / "job.conf"
    job.write_text(SOURCE.format(path=tmp_path / "in.csv", kind="csv", more="", out=tmp_path / "out"))
    assert main(["run", str(job), "--quiet"]) == 1
    err = capsys.readouterr().err
    assert "the line has 3 values, and the schema 2 columns: declare all of them, in their order" in err
    assert "drop" not in err


@pytest.mark.parametrize("line", ['{"id": 1}{"id": 2}', '{"id": 1}, {"id": 2}'])
def test_a_second_value_on_a_line_of_json_is_refused(spark, tmp_path, line):
    (tmp_path / "in.json").write_text('{"id": 0, "amount": 1}\n' * 3 + line + "\n")
    with pytest.raises(RunError, match=r"line 4 of .* goes on after its first JSON value") as caught:
        read(spark, path=str(tmp_path / "in.json"), file_format_type="json", schema=SCHEMA)
    assert [item.code for item in caught.value.diagnostics] == ["PEN5004"]


def test_lines_of_json_that_only_look_like_two_values_are_read(spark, tmp_path):
    (tmp_path / "in.json").write_text(
        '{"id": 1, "more": [{"a": 1},{"a": 2}, {"a": 3}]}\n{"id": 2, "t": "}{"},\n{"id": 3}'
    )
    df = read(spark, path=str(tmp_path / "in.json"), file_format_type="json", schema=SCHEMA, missing_columns="allow")
    assert sorted(row.id for row in df.collect()) == [1, 2, 3]


@pytest.mark.parametrize(
    ("value", "mode", "expected"),
    [
        ("123456789.5", "fail", None),
        ("123456789.5", "null", [None]),
        ("1.505", "fail", None),
        ("1.505", "null", [None]),
        ("1.50000", "fail", [Decimal("1.50")]),
        ("12345678.91", "fail", [Decimal("12345678.91")]),
        ("true", "fail", None),
        ("null", "fail", [None]),
        ("123456789.5", "drop", []),
        ('"1,10"', "drop", []),
        ('"1,10"', "fail", None),
        ('"1.10"', "fail", [Decimal("1.10")]),
    ],
)
def test_a_decimal_of_json_that_does_not_fit_is_refused(spark, tmp_path, value, mode, expected):
    (tmp_path / "in.json").write_text(f'{{"id": 1, "amount": {value}}}\n')
    df = read(spark, path=str(tmp_path / "in.json"), file_format_type="json", schema=SCHEMA, on_malformed=mode)
    if expected is None:
        with pytest.raises(Exception, match=r"penstock\.unfit_value|FAILED_READ_FILE"):
            df.collect()
    else:
        assert [row.amount for row in df.collect()] == expected
