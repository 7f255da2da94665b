"""A CSV is typed, or Penstock says that it is not."""

from pathlib import Path

import pytest

from engine.cli import main
from tests.connectors.files.test_local_file import read

ROOT = Path(__file__).parents[3]
DATA = """id,zip,amount,rate,big,paid,seen,ok,mixed,empty
1,01234,19.50,1e-3,12345678901,2024-01-31,2024-01-31T10:00:00Z,true,1,
-2,99999,7,2.5,1,2024-02-29,2024-02-01 00:00:00,false,x,
NA,00000,0.5,3,2,NA,2024-02-01T00:00:00,true,2,
"""
TYPES = [
    "id int", "zip string", "amount decimal(10,2)", "rate double", "big bigint", "paid date", "seen timestamp",
    "ok boolean", "mixed string", "empty string",
]  # fmt: skip
JOB = """
CREATE TABLE t WITH ('connector' = 'LocalFile', 'path' = '{folder}/in.csv', 'file_format_type' = 'csv',
                     'csv_use_header_line' = true, 'null_format' = 'NA'{more});
CREATE TABLE out WITH ('connector' = 'LocalFile', 'path' = '{folder}/out', 'file_format_type' = 'json');
INSERT INTO out {query};
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(DATA)
    return tmp_path


@pytest.mark.parametrize(
    ("query", "column"),
    [
        ("select * from t order by id", "id"),
        ("select id from t where amount > 5", "amount"),
        ("select sum(amount) s from t", "amount"),
        ("select a.id from t a join t b on a.big = b.big", "big"),
        ("with c as (select rate r from t) select r from c order by r", "r"),
        ("select id from t where id = 1", "id"),
        ("select id from t where zip = '01234'", None),
        ("select sum(cast(amount as double)) s from t", None),
        ("select id, zip from t group by id, zip", None),
    ],
)
def test_what_is_done_with_an_untyped_column_is_a_warning(folder, capsys, query, column):
    (folder / "job.sql").write_text(JOB.format(folder=folder, more="", query=query))
    assert main(["validate", "job.sql"]) == 0
    said = capsys.readouterr().out
    assert ("warning[PEN3030]" in said) == (column is not None)
    assert column is None or f"`{column}` is " in said


def test_a_schema_or_the_lock_ends_the_warning(folder, capsys):
    job = JOB.format(folder=folder, more="", query="select id from t order by id").replace("t WITH", "t (id INT) WITH")
    (folder / "job.sql").write_text(job.replace("/in.csv", "/one.csv"))
    (folder / "one.csv").write_text("id\n1\n")
    assert main(["validate", "job.sql"]) == 0
    assert "PEN3030" not in capsys.readouterr().out


@pytest.mark.spark
def test_schema_sync_infers_the_types_of_a_csv(spark, folder, capsys):
    (folder / "job.sql").write_text(JOB.format(folder=folder, more="", query="select * from t order by id"))
    assert main(["schema", "sync", "."]) == 0
    lines = [line.strip() for line in (folder / "penstock.lock").read_text().splitlines() if line.startswith("  ")]
    assert lines == TYPES
    assert main(["validate", "--strict", "job.sql"]) == 0
    assert "PEN3030" not in capsys.readouterr().out
    assert main(["run", "job.sql"]) == 0
    assert [row.id for row in spark.read.json(f"{folder}/out").orderBy("id").collect()] == [None, -2, 1]


@pytest.mark.spark
def test_infer_schema_types_one_source_when_it_runs(spark, folder, capsys):
    (folder / "job.sql").write_text(
        JOB.format(folder=folder, more=", 'infer_schema' = true", query="select max(amount) m from t")
    )
    assert main(["run", "job.sql"]) == 0, capsys.readouterr().err
    assert [row.m for row in spark.read.json(f"{folder}/out").collect()] == [19.5]


@pytest.mark.spark
def test_infer_schema_types_each_table_of_a_set(spark, folder):
    """The set gives each table a `schema` that holds its name alone."""
    for table, value in (("a", "12345678901"), ("b", "2024-01-31")):
        (folder / "in" / table).mkdir(parents=True)
        (folder / "in" / table / "rows.csv").write_text(f"id,value\n1,{value}\n")
    (folder / "job.conf").write_text(f"""
    source {{
      LocalFile {{ path = "{folder}/in/{{table}}", file_format_type = csv, csv_use_header_line = true,
                  infer_schema = true }}
    }}
    sink {{ LocalFile {{ path = "{folder}/out/${{table_name}}", file_format_type = parquet }} }}""")
    assert main(["run", "job.conf"]) == 0
    types = {table: dict(spark.read.parquet(str(folder / "out" / table)).dtypes)["value"] for table in "ab"}
    assert types == {"a": "bigint", "b": "date"}


@pytest.mark.spark
def test_describe_types_a_file_and_its_block_runs(spark, folder, capsys):
    assert main(["describe", f"{folder}/in.csv", "--name", "t"]) == 0
    block = capsys.readouterr().out
    assert "null_format = NA" in block
    found = [line.split("=") for line in block.split("fields {")[1].split("}")[0].strip().splitlines()]
    assert [f"{name.strip()} {type.strip().strip(chr(34))}" for name, type in found] == TYPES
    sink = f'sink {{ LocalFile {{ path = "{folder}/out", file_format_type = "parquet" }} }}\n'
    (folder / "job.conf").write_text(block + sink)
    assert main(["validate", "--strict", "job.conf"]) == 0, capsys.readouterr().out
    assert main(["run", "job.conf"]) == 0, capsys.readouterr().err
    assert spark.read.parquet(f"{folder}/out").count() == 3
    assert main(["describe", f"{folder}/out", "--sql"]) == 0
    assert "seen TIMESTAMP" in capsys.readouterr().out


FLIGHTS = {
    **dict.fromkeys(("year", "month", "day", "dep_time", "sched_dep_time", "dep_delay", "arr_time"), "int"),
    **dict.fromkeys(("sched_arr_time", "arr_delay"), "int"),
    "carrier": "string", "flight": "int", "tailnum": "string", "origin": "string", "dest": "string",
    **dict.fromkeys(("air_time", "distance", "hour", "minute"), "int"), "time_hour": "timestamp",
}  # fmt: skip


@pytest.mark.spark
def test_describe_types_the_flights_as_a_person_would_and_its_block_runs(spark, folder, capsys):
    """Every value of the 19 columns is read in its type: `hash(*)` needs them all."""
    assert main(["describe", f"{ROOT}/examples/flights/data/flights.csv.gz"]) == 0
    block = capsys.readouterr().out
    fields = (line.split("=", 1) for line in block.split("fields {")[1].split("}")[0].strip().splitlines())
    assert {name.strip(): type.strip() for name, type in fields} == FLIGHTS
    query = (
        "select count(*) flights, count_if(hash(*) is not null) complete, count(dep_time) departed, "
        "sum(distance) miles, max(time_hour) latest from flights"
    )
    rest = f"""transform {{ Sql {{ query = "{query}" }} }}
        sink {{ LocalFile {{ path = "{folder}/out", file_format_type = json }} }}"""
    (folder / "job.conf").write_text(block + rest)
    assert main(["validate", "--strict", "--allow-outside", "job.conf"]) == 0, capsys.readouterr().out
    assert main(["run", "job.conf"]) == 0, capsys.readouterr().err
    (row,) = spark.read.json(f"{folder}/out").collect()
    assert (row.flights, row.complete, row.departed, row.miles) == (336_776, 336_776, 328_521, 350_217_607)
    assert row.latest.startswith("2014-01-01T04:00:00")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b\n1,2\n", {"csv_use_header_line": True}),
        ("a;b\n1,5;2\n", {"field_delimiter": ";", "csv_use_header_line": True}),
        ("1\t2\n3\t4\n", {"field_delimiter": "\t"}),
        ("id,name\n1,a,b\n2\n", {"csv_use_header_line": True}),
    ],
)
def test_describe_finds_delimiter_and_header(tmp_path, text, options):
    from engine.describe.guess import guess

    (tmp_path / "a.csv").write_text(text)
    found = guess(str(tmp_path / "a.csv"))
    assert found.options == {"path": str(tmp_path / "a.csv"), "file_format_type": "csv", **options}


@pytest.mark.parametrize(
    ("name", "text", "is_over_lines"),
    [
        ("a.json", '[\n {"id": 1},\n {"id": 2}\n]\n', True),
        ("a.json", '[{"id": 1}, {"id": 2}]\n', True),
        ("a.json", '{"id": 1\n}\n', True),
        ("a.json", '\n{"id": 1}\n{"id": [2]}\n', False),
        ("a.csv", 'id,text\n1,"a\nb"\n', True),
        ("a.csv", 'id,text\n1,"a b"\n', False),
    ],
)
def test_values_over_several_lines_are_recognized(tmp_path, name, text, is_over_lines):
    from engine.describe.guess import guess

    (tmp_path / name).write_text(text)
    assert guess(str(tmp_path / name)).options.get("multi_line", False) is is_over_lines


@pytest.mark.spark
def test_each_form_of_a_value_has_its_type(spark):
    from connectors.files.infer_types import infer_types

    forms = {
        "1": "int", "-0": "int", "007": "string", "+1": "string", " 1": "string", "1234567890": "bigint",
        "1.25": "decimal(10,2)", "-1.5": "decimal(10,1)", ".5": "string", "1.5e-10": "double", "2000-e1": "string",
        "1e5": "double", ".5E+3": "double", "true": "boolean", "FALSE": "boolean", "tru": "string",
        "2024-02-29": "date", "2024-02-30": "string", "2024-01-31T10:00": "timestamp", "2024-01-31 25:00": "string",
        "2024-1-3": "string",
        "NA": "string", "-": "string", "\\N": "string", "ſ": "string", "": "string",
    }  # fmt: skip
    df = spark.createDataFrame([tuple(forms)], [f"c{number}" for number in range(len(forms))])
    assert [f"{value}: {column.type}" for value, column in zip(forms, infer_types(df).columns, strict=True)] == [
        f"{value}: {type}" for value, type in forms.items()
    ]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("type", "text", "expected"),
    [
        ("date", "2024-03-04", "2024-03-04"),
        ("date", " 2024-3-4 ", "2024-03-04"),
        ("date", "2024-03-04 00:00:00", "2024-03-04"),
        ("date", "2024-03-04T00:00:00", "2024-03-04"),
        ("date", "2024-03-04 14:29:00", None),
        ("date", "2024-03-04 x", None),
        ("date", "2024-02-30", None),
        ("timestamp", "2024-03-04 14:29:00", "2024-03-04 14:29:00"),
        ("timestamp", "2024-03-04T14:29:00Z", "2024-03-04 14:29:00"),
        ("timestamp", "2024-03-04", "2024-03-04 00:00:00"),
        ("timestamp", "12:30", None),
        ("timestamp", "T12:30:00", None),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "text", pytest.param("excel", marks=pytest.mark.soak), "json"])
def test_a_date_loses_no_time_and_a_time_gets_no_day(spark, tmp_path, type, text, expected, kind):
    source = {"path": str(tmp_path / "in"), "file_format_type": kind, "schema": {"fields": {"id": "int", "t": type}}}
    if kind == "json":
        if type == "timestamp" or text != text.strip():
            return  # numbers are seconds, and Spark's reader takes no blanks
        (tmp_path / "in").write_text(f'{{"id": 1, "t": "{text}"}}\n{{"id": 2}}\n')
    elif kind == "excel":
        import xlsxwriter

        with xlsxwriter.Workbook(str(tmp_path / "in.xlsx")) as book:
            sheet = book.add_worksheet()
            sheet.write_row(0, 0, [1, text])
            sheet.write_row(1, 0, [2])
        source["path"] = str(tmp_path / "in.xlsx")
    else:
        (tmp_path / "in").write_text(f"1,{text}\n2,\n")
        source |= {"field_delimiter": ","}
    rows = read(spark, **source, on_malformed="null").selectExpr("id", "cast(t as string) t").collect()
    assert sorted(map(tuple, rows)) == [(1, expected), (2, None)]
    if expected is None:
        with pytest.raises(Exception, match=r"penstock\.unfit_value"):  # the text is shown with line and column
            read(spark, **source).collect()
        assert read(spark, **source, on_malformed="drop").count() == 1
    else:
        assert read(spark, **source).count() == 2
