"""The LocalFile connector: the shared suite for Parquet, ORC, CSV and JSON, and reading."""

import gzip
import json
from typing import ClassVar

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError, Severity
from connectors.files.formats.read_files import open_files
from connectors.local_file import connector
from connectors.storage.paths import near_path
from engine.plan.nodes import Scan
from engine.runtime.transient import is_transient
from engine.spark.lower import lower
from engine.spark.session import pipeline_session
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, write
from tests.connectors.suite import COLUMNS, NEW, NONE, OLD, SinkSuite


@pytest.mark.spark
class TestParquet(SinkSuite):
    name = "LocalFile"
    given: ClassVar = {"file_format_type": "parquet"}

    def read(self, spark, path):
        return spark.read.parquet(path)


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["csv", "json", "orc"])
def test_round_trip_of_other_formats(spark, tmp_path, kind):
    given = {"path": str(tmp_path / "target"), "file_format_type": kind}
    if kind == "csv":
        given["enable_header_write"] = True
    for query, mode in ((NONE, "APPEND_DATA"), (OLD, "ERROR_WHEN_DATA_EXISTS"), (NEW, "APPEND_DATA")):
        job = [write(connector, rows(query, *COLUMNS), data_save_mode=mode, **given)]
        run_writes(spark, job, str(tmp_path / "state"), f"run{len(query)}")
    with pytest.raises(RunError, match="PEN4007"):
        run_writes(
            spark,
            [write(connector, rows(NEW, *COLUMNS), data_save_mode="ERROR_WHEN_DATA_EXISTS", **given)],
            str(tmp_path / "state"),
            "again",
        )
    header = {"csv_use_header_line": True} if kind == "csv" else {}
    schema = {"fields": dict(column.split(" ") for column in COLUMNS)}
    df = read(spark, path=str(tmp_path / "target"), file_format_type=kind, schema=schema, **header)
    expected = [tuple(row) for query in (OLD, NEW) for row in spark.sql(query).collect()]
    assert sorted(map(tuple, df.collect())) == sorted(expected)


def table_of(**given):
    diagnostics = Diagnostics()
    (table,) = connector.tables(options_of(connector.source_options, **given), diagnostics)
    return table, [each.code for each in diagnostics]


def read(spark, **given):
    options = options_of(connector.source_options, **given)
    diagnostics = Diagnostics()
    (table,) = connector.tables(options, diagnostics)
    assert list(diagnostics) == []
    scan = Scan("files", connector, options, table, id="scan", span=options.span())
    job = write(__import__("connectors").sink("Console"), scan)
    return lower(pipeline_session(spark), [job]).dataframes[scan]


@pytest.mark.spark
@pytest.mark.parametrize("given", [{}, {"partition_by": ["name"]}, {"single_file_mode": True}])
@pytest.mark.parametrize("query", [OLD, NONE])
def test_nothing_of_hadoops_committer_is_left(spark, tmp_path, given, query):
    target = tmp_path / "target"
    job = [write(connector, rows(query, *COLUMNS), path=str(target), file_format_type="parquet", **given)]
    run_writes(spark, job, str(tmp_path / "state"), "run")
    left = {path.name for path in target.rglob("*")}
    assert not left & {"_temporary", "0", "_SUCCESS", "._SUCCESS.crc"}
    assert any(name.endswith(".parquet") for name in left)


def test_csv_header_gives_names_all_strings(tmp_path):
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write('id,"full name"\n1,x\n')
    table, codes = table_of(path=str(tmp_path / "*.gz"), file_format_type="csv", csv_use_header_line=True)
    assert codes == []
    assert [str(column) for column in table.columns] == ["id string", "full name string"]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("id,name,ID", "`id` and `ID` are one name"),
        ("id,name,id", "two columns are named `id`"),
        (",id,name", "column 1 has no name"),
    ],
)
def test_csv_headers_that_name_no_table(tmp_path, header, reason):
    (tmp_path / "a.csv").write_text(f"{header}\n1,2,3\n")
    options = options_of(connector.source_options, path=str(tmp_path), file_format_type="csv", csv_use_header_line=True)
    diagnostics = Diagnostics()
    connector.tables(options, diagnostics)
    [diagnostic] = diagnostics
    assert diagnostic.code == "PEN4002"
    assert diagnostic.message.endswith(reason)
    assert "skip_header_row_number" in diagnostic.help


@pytest.mark.parametrize(
    ("encoding", "codes"), [("UTF-16", ["PEN2004"]), ("utf-32", ["PEN2004"]), ("UTF-16LE", []), ("gbk", [])]
)
def test_lines_of_json_need_a_byte_order(tmp_path, encoding, codes):
    (tmp_path / "a.json").write_text("{}")
    given = {"path": str(tmp_path), "file_format_type": "json", "schema": {"fields": {"id": "int"}}}
    assert table_of(**given, encoding=encoding)[1] == codes
    assert table_of(**given, encoding=encoding, multi_line=True)[1] == []


def test_csv_header_of_an_unknown_encoding(tmp_path):
    (tmp_path / "a.csv").write_text("id\n1\n")
    given = {"path": str(tmp_path), "file_format_type": "csv", "csv_use_header_line": True}
    assert table_of(**given, encoding="latin-99")[1] == ["PEN4002"]


def test_csv_header_after_a_byte_order_mark(tmp_path):
    (tmp_path / "a.csv").write_text("\ufeffid,name\n1,x\n", encoding="utf-8")
    table, codes = table_of(path=str(tmp_path), file_format_type="csv", csv_use_header_line=True)
    assert (codes, table.schema.names) == ([], ("id", "name"))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,name", None),
        ("ID,Name", None),
        ("id,nom", "declared column `name`"),
        ("id;name", "one name, `id;name`"),
        ("name,id", "in their order: `name`, `id`"),
        ("id,name,more", "in their order: `id`, `name`, `more`"),
    ],
)
def test_declared_columns_that_the_header_does_not_name(tmp_path, header, message):
    (tmp_path / "day=2020-01-01").mkdir()
    (tmp_path / "day=2020-01-01" / "a.csv").write_text(f"\ufeff{header}\n1,x\n", encoding="utf-8")
    fields = {"id": "bigint", "name": "string", "day": "date"}
    given = {"path": str(tmp_path), "file_format_type": "csv", "schema": {"fields": fields}}
    diagnostics = Diagnostics()
    connector.tables(options_of(connector.source_options, **given, csv_use_header_line=True), diagnostics)
    assert [(each.code, each.severity) for each in diagnostics] == ([("PEN3004", Severity.ERROR)] if message else [])
    assert all(message in each.message for each in diagnostics)
    assert table_of(**given, skip_header_row_number=1)[1] == []


@pytest.mark.spark
@pytest.mark.parametrize(
    ("header", "message"),
    [("id,nom", "it is `id, nom` instead of `id, name`"), ("id;name", "it has 1 in place of 2 names")],
)
def test_a_header_that_is_not_the_schemas_is_no_transient_error(spark, tmp_path, header, message):
    (tmp_path / "a.csv").write_text(f"{header}\n1,x\n")
    options = options_of(
        connector.source_options, path=str(tmp_path / "a.csv"), file_format_type="csv", csv_use_header_line=True,
        schema={"fields": {"id": "bigint", "name": "string"}},
    )  # fmt: skip
    (table,) = connector.tables(options, Diagnostics())
    scan = Scan("files", connector, options, table, id="scan", span=options.span())
    with pytest.raises(RunError) as caught:
        run_writes(
            spark,
            [write(connector, scan, path=str(tmp_path / "out"), file_format_type="json")],
            str(tmp_path / "state"),
            "run",
        )
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "PEN5004"
    assert message in diagnostic.message
    assert not is_transient(caught.value)


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_declared_columns_that_no_file_has_are_told(tmp_path, kind):
    pyarrow = pytest.importorskip("pyarrow")
    module = pytest.importorskip(f"pyarrow.{kind}")
    for name, columns in (("a", {"id": [1]}), ("b", {"id": [1], "amount": [2]})):
        (tmp_path / "day=2020-01-01").mkdir(exist_ok=True)
        module.write_table(pyarrow.table(columns), str(tmp_path / "day=2020-01-01" / f"{name}.{kind}"))
    fields = {"ID": "bigint", "amount": "bigint", "amuont": "bigint", "day": "date"}
    options = options_of(connector.source_options, path=str(tmp_path), file_format_type=kind, schema={"fields": fields})
    diagnostics = Diagnostics()
    connector.tables(options, diagnostics)
    [diagnostic] = diagnostics
    assert (diagnostic.code, diagnostic.severity) == ("PEN3004", Severity.ERROR)
    assert "`amuont`" in diagnostic.message
    assert diagnostic.help == "did you mean `amount`?"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"path": "nowhere.csv", "file_format_type": "csv", "csv_use_header_line": True}, "PEN4002"),
        ({"path": "nowhere.json", "file_format_type": "json"}, "PEN4002"),
        ({"path": "s3a://bucket/x", "file_format_type": "parquet"}, "PEN4002"),
        ({"path": "x", "file_format_type": "parquet", "field_delimiter": ";"}, "PEN2011"),
        ({"path": "x", "file_format_type": "csv", "schema": {"fields": {"a": "intt"}}}, "PEN4001"),
        ({"path": "x", "file_format_type": "csv", "schema": {"fields": {"a": "int", "A": "int"}}}, "PEN4005"),
        ({"path": "x", "file_format_type": "csv", "schema": {"columns": [{"name": "a"}]}}, "PEN2004"),
        ({"path": "x", "file_format_type": "csv", "schema": {"fields": {"a": "int"}, "primarykey": {}}}, "PEN2003"),
        (
            {"path": "x", "file_format_type": "csv", "schema": {"fields": {"a": "int"}}, "read_columns": ["b"]},
            "PEN3004",
        ),
        ({"path": "x", "file_format_type": "xml", "schema": {"fields": {"a": "int"}}}, "PEN2005"),
        (
            {"path": "x", "file_format_type": "json", "schema": {"fields": {"a": "int"}}, "skip_header_row_number": 2},
            "PEN2011",
        ),
    ],
)
def test_errors_of_options(given, code):
    assert code in table_of(**given)[1]


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_footers_say_what_spark_says(spark, tmp_path, kind):
    query = """select 1 i, 2L l, cast(1.5 as decimal(10,2)) d, 'x' s, current_date() t, current_timestamp() ts,
        array(1) a, map('k', 1.5d) m, named_struct('x', true) r, cast(1 as tinyint) b, X'00' by,
        timestamp_ntz"2020-01-01 00:00:00" n"""
    spark.sql(query).write.format(kind).save(str(tmp_path / "t"))
    table, codes = table_of(path=str(tmp_path / "t"), file_format_type=kind)
    assert codes == []
    assert [(each.name, str(each.type)) for each in table.columns] == spark.read.format(kind).load(
        str(tmp_path / "t")
    ).dtypes


@pytest.mark.spark
def test_partition_directories_are_columns(spark, tmp_path):
    spark.sql("select id, cast(id % 2 as int) p, concat('v', id) q from range(4)").write.partitionBy("p", "q").parquet(
        str(tmp_path / "t")
    )
    table, _ = table_of(path=str(tmp_path / "t"), file_format_type="parquet")
    assert [str(column) for column in table.columns] == ["id bigint", "p int", "q string"]
    assert table.partition_keys == ("p", "q")
    assert read(spark, path=str(tmp_path / "t"), file_format_type="parquet").where("p = 1").count() == 2


@pytest.mark.spark
@pytest.mark.parametrize(
    ("values", "type"),
    [
        (("01", "1", "001"), "string"),
        (("1", "1.0"), "string"),
        (("1", "1.5"), "double"),
        (("0", "-7", "12"), "int"),
        (("5000000000", "1"), "bigint"),
        (("007",), "string"),
        (("0.5", "10.25"), "double"),
    ],
)
def test_values_of_a_partition_column_stay_apart(spark, tmp_path, values, type):
    """Spark reads the first three as one number."""
    given = {"path": str(tmp_path / "t"), "file_format_type": "parquet"}
    query = " union all ".join(f"select {number}L id, '{value}' p" for number, value in enumerate(values))
    run_writes(
        spark, [write(connector, rows(query, "id bigint", "p string"), partition_by=["p"], **given)], str(tmp_path), "r"
    )
    table, _ = table_of(**given)
    assert str(table.column("p").type) == type
    found = dict(map(tuple, read(spark, **given).selectExpr("id", "cast(p as string)").collect()))
    if type == "string":
        assert found == dict(enumerate(values))
    assert len(set(found.values())) == len(values)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("type", "first", "then", "folders"),
    [
        ("string", "'10'", "'north'", ["10", "north"]),
        ("string", "'20240304'", "'20240304'", ["20240304"]),
        ("decimal(10,2)", "1.50", "1.50", ["1.50"]),
        ("bigint", "1L", "5000000000L", ["1", "5000000000"]),
        ("double", "2d", "9.75d", ["2.0", "9.75"]),
    ],
)
def test_later_rows_have_the_directories_that_the_first_would_have_had(spark, tmp_path, type, first, then, folders):
    """Readers infer a type from the names of directories, which is not the rows': `10` may be a text."""
    given = {"path": str(tmp_path / "t"), "file_format_type": "parquet", "partition_by": ["p"]}
    given["write_mode"] = "overwrite_partitions"
    for number, value in enumerate((first, then)):
        job = write(connector, rows(f"select {number} id, cast({value} as {type}) p", "id int", f"p {type}"), **given)
        run_writes(spark, [job], str(tmp_path / "state"), f"r{number}")
    assert sorted(path.name for path in (tmp_path / "t").glob("p=*")) == [f"p={name}" for name in folders]
    assert spark.read.parquet(str(tmp_path / "t")).where("id = 1").count() == 1


@pytest.mark.spark
def test_directories_by_dates_take_no_numbers_or_texts(spark, tmp_path):
    given = {"path": str(tmp_path / "t"), "file_format_type": "parquet", "partition_by": ["p"]}
    run_writes(spark, [write(connector, rows("select 1 id, date'2024-01-01' p", "id int", "p date"), **given)],
               str(tmp_path / "state"), "r1")  # fmt: skip
    for value, type in (("7", "int"), ("'20240102'", "string")):
        with pytest.raises(RunError, match="PEN4003"):
            run_writes(spark, [write(connector, rows(f"select 1 id, {value} p", "id int", f"p {type}"), **given)],
                       str(tmp_path / "state"), f"r {type}")  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_a_path_that_is_there_is_no_pattern(spark, tmp_path, kind):
    for name, value in (("x[1]", "right"), ("x1", "wrong"), ("{a,b}", "right"), ("a", "wrong")):
        written = {"path": str(tmp_path / "w"), "file_format_type": kind}
        job = [write(connector, rows(f"select '{value}' v", "v string"), **written)]
        run_writes(spark, job, str(tmp_path / "state"), f"{value}{len(name)}")
        (tmp_path / "w").rename(tmp_path / name)
    for name in ("x[1]", "{a,b}"):
        given = {"path": str(tmp_path / name), "file_format_type": kind, "schema": {"fields": {"v": "string"}}}
        assert [row.v for row in read(spark, **given).collect()] == ["right"]
    found = read(spark, path=str(tmp_path / "x*"), file_format_type=kind, schema={"fields": {"v": "string"}})
    assert sorted(row.v for row in found.collect()) == ["right", "wrong"]


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["csv", "json", "xml"])
def test_microseconds_are_written(spark, tmp_path, kind):
    query = "select timestamp'2024-10-27 00:30:00.123456Z' t, timestamp_ntz'2024-01-01 00:00:00.000001' n"
    fields = {"t": "timestamp", "n": "timestamp_ntz"}
    given = {"path": str(tmp_path / "t"), "file_format_type": kind}
    more = {"xml_row_tag": "RECORD"} if kind == "xml" else {}
    columns = [" ".join(field) for field in fields.items()]
    run_writes(spark, [write(connector, rows(query, *columns), **given, **more)], str(tmp_path / "state"), "r")
    found = read(spark, **given, **more, schema={"fields": fields})
    assert found.selectExpr("cast(t as string)", "cast(n as string)").first() == (
        "2024-10-27 00:30:00.123456", "2024-01-01 00:00:00.000001",
    )  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("id,n\n1,a\nx,b\n", {"csv_use_header_line": True}, "does not fit"),
        ("id,m\n1,a\n", {"csv_use_header_line": True}, "header"),
        ("1,a\n2,b,c\n", {}, "does not fit"),
    ],
)
def test_malformed_csv_fails_with_its_file(spark, tmp_path, text, given, said):
    (tmp_path / "in.csv").write_text(text)
    source = {"path": str(tmp_path / "in.csv"), "file_format_type": "csv", **given}
    found = unreadable(spark, tmp_path, schema={"fields": {"id": "int", "n": "string"}}, **source)
    assert str(tmp_path / "in.csv") in found.message
    assert said in found.message


@pytest.mark.spark
def test_a_value_in_quotes_that_goes_on_names_multi_line(spark, tmp_path):
    """Each of the other remedies would make rows of the parts of one."""
    (tmp_path / "in.csv").write_text('1,"x\ny"\n')
    source = {"path": str(tmp_path / "in.csv"), "file_format_type": "csv"}
    schema = {"fields": {"id": "int", "n": "string"}}
    found = unreadable(spark, tmp_path, schema=schema, **source)
    assert found.help == "`multi_line = true` reads values in quotes that go on in the next line"
    assert [tuple(row) for row in read(spark, schema=schema, multi_line=True, **source).collect()] == [(1, "x\ny")]


@pytest.mark.spark
@pytest.mark.parametrize(
    "text", ['{"id": 1}\n{"id": 2}\n', '\ufeff{"id":\n1} {"id": 2}', '[{"id": 1}]\n[', '{"id": 1} x']
)
def test_json_that_goes_on_after_its_first_value_fails(spark, tmp_path, text):
    (tmp_path / "in.json").write_text(text)
    source = {"path": str(tmp_path), "file_format_type": "json", "multi_line": True}
    found = unreadable(spark, tmp_path, schema={"fields": {"id": "int"}}, **source)
    assert str(tmp_path / "in.json") in found.message
    assert "remove `multi_line`" in found.help


def unreadable(spark, folder, **source):
    """The error of a run that reads such files; it writes nothing."""
    options = options_of(connector.source_options, **source)
    (table,) = connector.tables(options, Diagnostics())
    scan = Scan("files", connector, options, table, id="scan", span=options.span())
    job = [write(connector, scan, path=str(folder / "out"), file_format_type="parquet")]
    with pytest.raises(RunError) as caught:
        run_writes(spark, job, str(folder / "state"), "run")
    (found,) = caught.value.diagnostics
    assert found.code == "PEN5004"
    assert not (folder / "out").exists()
    return found


@pytest.mark.spark
def test_json_over_several_lines(spark, tmp_path):
    values = ['{"id":\n1}', '[{"id": 2},\n{"id": 3}]\n\n', "\n", "[]", "{'id': 4}\n"]
    for part, text in enumerate(values):
        (tmp_path / f"p={part}").mkdir()
        (tmp_path / f"p={part}" / "in.json").write_text(text)
    given = {"path": str(tmp_path), "file_format_type": "json", "multi_line": True}
    declared = read(spark, schema={"fields": {"id": "int", "p": "int"}}, **given)
    inferred = open_files(spark, options_of(connector.source_options, **given))
    for df in (declared, inferred):
        assert sorted(map(tuple, df.select("id", "p").collect())) == [(1, 0), (2, 1), (3, 1), (4, 4)]


@pytest.mark.spark
def test_json_over_several_lines_in_another_encoding(spark, tmp_path):
    (tmp_path / "in.json").write_text('{"id":\n1}{"id": 2}', encoding="utf-16")
    given = {"path": str(tmp_path), "file_format_type": "json", "encoding": "utf-16", "multi_line": True}
    df = read(spark, schema={"fields": {"id": "int"}}, **given)
    with pytest.raises(Exception, match="more than one JSON value in the file"):
        df.collect()


@pytest.mark.spark
@pytest.mark.parametrize(("mode", "expected"), [("null", [(1, "a"), (None, "b")]), ("drop", [(1, "a")])])
def test_malformed_rows_as_asked(spark, tmp_path, mode, expected):
    (tmp_path / "in.csv").write_text("1,a\nx,b\n")
    schema = {"fields": {"id": "int", "n": "string"}}
    df = read(spark, path=str(tmp_path / "in.csv"), file_format_type="csv", schema=schema, on_malformed=mode)
    assert sorted(map(tuple, df.collect()), key=str) == sorted(expected, key=str)


@pytest.mark.spark
def test_null_in_a_column_that_has_none_fails(spark, tmp_path):
    (tmp_path / "in.json").write_text('{"id": 1}\n{"id": null}\n')
    schema = {"columns": [{"name": "id", "type": "bigint", "nullable": False}]}
    df = read(spark, path=str(tmp_path / "in.json"), file_format_type="json", schema=schema)
    assert not df.schema["id"].nullable
    with pytest.raises(Exception, match="NOT_NULL_ASSERT_VIOLATION"):
        df.collect()


@pytest.mark.spark
def test_quotes_delimiters_and_line_ends_survive(spark, tmp_path):
    query = "select 1L id, 'a \"quoted\", text' name, 1.25bd amount union all select 2, 'back\\\\slash', null"
    given: ClassVar = {"path": str(tmp_path / "t"), "file_format_type": "csv"}
    run_writes(
        spark, [write(connector, rows(query, *COLUMNS[:2], "amount decimal(3,2)"), **given)], str(tmp_path / "s"), "r"
    )
    schema = {"fields": {"id": "bigint", "name": "string", "amount": "decimal(3,2)"}}
    found = read(spark, **given, schema=schema).collect()
    assert sorted(map(tuple, found)) == sorted(map(tuple, spark.sql(query).collect()))


@pytest.mark.spark
def test_json_keeps_columns_of_nulls(spark, tmp_path):
    given: ClassVar = {"path": str(tmp_path / "t"), "file_format_type": "json"}
    run_writes(
        spark,
        [write(connector, rows("select 1 a, cast(null as string) b", "a int", "b string"), **given)],
        str(tmp_path / "s"),
        "r",
    )
    (file,) = (tmp_path / "t").glob("*.json")
    assert json.loads(file.read_text()) == {"a": 1, "b": None}


@pytest.mark.spark
def test_another_programs_files_are_carried_over(spark, tmp_path, monkeypatch):
    from connectors.files.committing import local_commit

    suite = TestParquet()
    suite.fill(spark, tmp_path)
    linked = local_commit._link_successor

    def then_another_writes(mode, data, target, successor):
        done = linked(mode, data, target, successor)
        spark.sql("select 777L id, 'other' name, cast(1 as decimal(10,2)) amount").write.mode("append").parquet(target)
        return done

    monkeypatch.setattr(local_commit, "_link_successor", then_another_writes)
    monkeypatch.setattr(local_commit, "_is_one_file", lambda data: False)  # which is moved by itself
    run_writes(spark, [suite.write(tmp_path / "target")], str(tmp_path / "state"), "run")
    ids = {row[0] for row in suite.rows_at(spark, tmp_path / "target")}
    assert 777 in ids
    assert len(ids) == 10 + 5 + 1


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["DROP_DATA", "APPEND_DATA"])
def test_where_directories_cannot_be_swapped(spark, tmp_path, monkeypatch, mode):
    from connectors.files.committing import local_commit

    suite = TestParquet()
    suite.fill(spark, tmp_path)
    monkeypatch.setattr(local_commit, "exchange", lambda one, other: False)
    monkeypatch.setattr(local_commit, "_is_one_file", lambda data: False)
    run_writes(spark, [suite.write(tmp_path / "target", data_save_mode=mode)], str(tmp_path / "state"), "run")
    expected = suite.expect(spark, "new" if mode == "DROP_DATA" else "both")
    assert suite.rows_at(spark, tmp_path / "target") == expected
    assert suite.leftovers(tmp_path) == []


def test_read_columns_are_cut(tmp_path):
    schema = {"fields": {"a": "int", "b": "string", "c": "date"}}
    table, _ = table_of(path="x", file_format_type="csv", schema=schema, read_columns=["c", "a"])
    assert table.schema.names == ("c", "a")


@pytest.mark.spark
def test_read_columns_of_csv_keep_their_places(spark, tmp_path):
    (tmp_path / "in.csv").write_text("1,x,2020-01-01\n")
    schema = {"fields": {"a": "int", "b": "string", "c": "date"}}
    df = read(spark, path=str(tmp_path / "in.csv"), file_format_type="csv", schema=schema, read_columns=["c", "a"])
    assert [(str(c), a) for c, a in df.collect()] == [("2020-01-01", 1)]


def test_a_file_in_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.csv").write_text("id,name\n1,a\n")
    table, codes = table_of(path="orders.csv", file_format_type="csv", schema={"fields": {"id": "int"}})
    assert (table.schema.names, codes) == (("id",), [])
    table, codes = table_of(path="*.csv", file_format_type="csv", csv_use_header_line=True)
    assert (table.schema.names, codes) == (("id", "name"), [])


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("data/ordres.csv", "data/orders.csv"),
        ("dta/orders.csv", "data/orders.csv"),
        ("data/orders.csv", None),
        ("dta/ordres.csv", "data/orders.csv"),
        ("dta/*.csv", "data/*.csv"),
        ("dta/x1", None),
        ("data/*.parquet", None),
        ("data/something_else", None),
        ("s3a://data/ordres.csv", None),
    ],
)
def test_what_a_path_may_mean(tmp_path, monkeypatch, path, near):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "orders.csv").write_text("id\n")
    assert near_path(path) == near
    absolute = str(tmp_path / path)
    assert "://" in path or near_path(absolute) == (near and str(tmp_path / near))


@pytest.mark.spark
def test_a_path_from_the_home_directory(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "in.csv").write_text("1\n")
    df = read(spark, path="~/in.csv", file_format_type="csv", schema={"fields": {"id": "int"}})
    assert [tuple(row) for row in df.collect()] == [(1,)]


def error_of(spark, tmp_path, path, kind, **fields):
    schema = {"fields": fields}
    options = options_of(connector.source_options, path=str(path), file_format_type=kind, schema=schema)
    (table,) = connector.tables(options, Diagnostics())
    scan = Scan("files", connector, options, table, id="scan", span=options.span())
    job = [write(connector, scan, path=str(tmp_path / "out"), file_format_type="parquet")]
    with pytest.raises(RunError) as caught:
        run_writes(spark, job, str(tmp_path / "state"), "run")
    assert not is_transient(caught.value)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PEN5004"
    assert "`files`" in diagnostic.message
    return diagnostic


@pytest.mark.spark
def test_what_cannot_be_read_is_reported_with_its_cause(spark, tmp_path):
    (tmp_path / "orders.csv").write_text("1\n")
    missing = error_of(spark, tmp_path, tmp_path / "ordres.csv", "csv", id="int")
    assert missing.message == f"the path of `files` does not exist: `{tmp_path}/ordres.csv`"
    assert missing.help == f"did you mean `{tmp_path}/orders.csv`?"
    (tmp_path / "text.parquet").write_text("no parquet at all")
    strange = error_of(spark, tmp_path, tmp_path / "text.parquet", "parquet", id="int")
    assert f"{tmp_path}/text.parquet is not a Parquet file" in strange.message
    spark.range(3).write.parquet(str(tmp_path / "numbers"))
    other = error_of(spark, tmp_path, tmp_path / "numbers", "parquet", id="int")
    assert "Expected Spark type int, actual Parquet type INT64" in other.message
    assert "Encountered error" not in other.message
    (tmp_path / "bad.csv").write_text("1\nfive hundred\n")
    malformed = error_of(spark, tmp_path, tmp_path / "bad.csv", "csv", id="int")
    assert "does not fit the schema: " in malformed.message
    assert "five hundred" in malformed.message
    assert "[null" not in malformed.message
    assert "on_malformed" in malformed.help
    (tmp_path / "dates.csv").write_text("1,2024-02-28\n2,2024-02-30\n")
    impossible = error_of(spark, tmp_path, tmp_path / "dates.csv", "csv", id="int", day="date")
    assert "line 2 of" in impossible.message
    assert "`day` is `2024-02-30`, and not date" in impossible.message


@pytest.mark.spark
def test_a_target_that_cannot_be_written(spark, tmp_path):
    (tmp_path / "file").write_text("")
    job = [write(connector, rows(NEW, *COLUMNS), path=str(tmp_path / "file" / "out"), file_format_type="parquet")]
    with pytest.raises(RunError) as caught:
        run_writes(spark, job, str(tmp_path / "state"), "run")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PEN5005"
    assert "the target of `w` cannot be written: Not a directory" in diagnostic.message
    assert diagnostic.span is not None
    assert not is_transient(caught.value)
