"""Expectations: what each action does to the target, exact counts, and every rule that is read or refused."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.violation import OnViolation
from engine.cli import main
from engine.compile import Settings, compile_job
from engine.expectations.catalogue import check_of, known_types
from engine.expectations.rules import QueryCheck, RowCheck, Rule, TableCheck
from engine.plan.nodes import Expect

ROWS = 1_000_000
JOB = """
SET 'job.name' = 'checked';
CREATE TABLE numbers (id BIGINT, n INT, name STRING, %(rules)s)
  WITH ('connector' = 'LocalFile', 'path' = '%(source)s', 'file_format_type' = 'parquet');
CREATE TABLE good WITH ('connector' = 'LocalFile', 'path' = '%(out)s/good', 'file_format_type' = 'parquet',
                        'data_save_mode' = 'DROP_DATA');
CREATE TABLE bad WITH ('connector' = 'LocalFile', 'path' = '%(out)s/bad', 'file_format_type' = 'parquet',
                       'data_save_mode' = 'DROP_DATA');
INSERT INTO good SELECT * FROM numbers;
"""


@pytest.fixture(scope="module")
def source(spark, tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers") / "source"
    columns = "id, CAST(id % 1000 AS INT) AS n, IF(id % 500 = 0, NULL, concat('name ', id)) AS name"
    spark.sql(f"SELECT {columns} FROM range({ROWS})").write.parquet(str(path))
    return path


@pytest.fixture
def run(source, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))

    def run(rules: str) -> tuple[int, str]:
        (tmp_path / "job.sql").write_text(JOB % {"rules": rules, "source": source, "out": tmp_path})
        code = main(["run", str(tmp_path / "job.sql")])
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    run.out = tmp_path
    return run


def count(spark, path: Path) -> int:
    return spark.read.parquet(str(path)).count() if path.exists() else 0


@pytest.mark.spark
@pytest.mark.slow
def test_what_each_action_does(spark, run):
    good, bad = run.out / "good", run.out / "bad"
    code, said = run("CONSTRAINT a EXPECT (n < 990) ON VIOLATION DROP, CONSTRAINT b EXPECT (id >= 0) ON VIOLATION FAIL")
    assert code == 0, said
    assert count(spark, good) == ROWS * 990 // 1000
    assert "10,000" in said  # rejected

    code, said = run("CONSTRAINT a EXPECT (n <> 5) ON VIOLATION FAIL")
    assert code == 1
    assert "1,000 of 1,000,000 (0.1 %) rows break it" in said
    assert "job.sql:3:75" in said
    assert count(spark, good) == ROWS * 990 // 1000  # untouched
    assert not [each for each in run.out.rglob("*") if "staging" in each.name and "state" not in str(each)]

    code, said = run(
        "CONSTRAINT named EXPECT (name IS NOT NULL) ON VIOLATION QUARANTINE INTO bad, "
        "CONSTRAINT odd EXPECT (n % 2 = 1 OR n > 10) ON VIOLATION QUARANTINE INTO bad, "
        "CONSTRAINT w EXPECT (n < 999) ON VIOLATION WARN"
    )
    assert code == 0, said
    assert "7,000" in said  # rejected: a row that breaks both rules is one
    assert "8,000" not in said
    assert "warning[PEN6001]" in said
    assert "`w` of `numbers` is violated: 1,000 of 1,000,000 (0.1 %) rows break it" in said
    rejected = spark.read.parquet(str(bad))
    assert rejected.columns == ["id", "n", "name", "_reason", "_node"]
    by_reason = {row["_reason"]: row["count"] for row in rejected.groupBy("_reason").count().collect()}
    assert by_reason == {
        "named: name IS NOT NULL; odd: n % 2 = 1 OR n > 10": 1000,
        "named: name IS NOT NULL": 1000,
        "odd: n % 2 = 1 OR n > 10": 5000,
    }
    assert {row["_node"] for row in rejected.select("_node").distinct().collect()} == {"numbers"}
    assert count(spark, good) == ROWS - 7000


HOCON = """
source {{ LocalFile {{
  path = "{source}", file_format_type = parquet, schema {{ fields {{ id = bigint, n = int, name = string }} }}
  plugin_output = numbers, expectations = [{rules}] }} }}
sink {{ LocalFile {{
  plugin_input = numbers, path = "{out}/good", file_format_type = parquet, data_save_mode = DROP_DATA
}} }}
"""

OUTCOMES = [
    ("{ type = expect_column_values_to_not_be_null, column = name }", False, "2,000 of 1,000,000"),
    ("{ type = expect_column_values_to_not_be_null, column = name, mostly = 0.99 }", True, ""),
    ("{ type = expect_column_values_to_be_between, column = n, min_value = 0, max_value = 998 }", False, "1,000 of"),
    ('{ type = expect_column_values_to_match_regex, column = name, regex = "^name \\\\d+$" }', True, ""),
    ("{ type = expect_column_values_to_be_unique, column = id }", True, ""),
    ("{ type = expect_column_values_to_be_unique, column = n }", False, "1,000,000 of 1,000,000"),
    ("{ type = expect_table_row_count_to_be_between, min_value = 1, max_value = 5 }", False, "the value is 1000000"),
    ("{ type = expect_column_mean_to_be_between, column = n, min_value = 499, max_value = 500 }", True, ""),
    ("{ type = expect_column_median_to_be_between, column = n, min_value = 600 }", False, "the value is"),
]


@pytest.mark.spark
@pytest.mark.slow
def test_expectations_by_name(spark, source, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    rules = "\n".join(rule for rule, _, _ in OUTCOMES)
    rules = "\n".join(
        rule.replace("{ ", f"{{ name = r{i}, on_violation = WARN, ") for i, rule in enumerate(rules.split("\n"))
    )
    (tmp_path / "job.conf").write_text(HOCON.format(source=source, out=tmp_path, rules=rules))
    assert main(["run", str(tmp_path / "job.conf")]) == 0
    shown = capsys.readouterr()
    said = {
        line.split("`")[1]: line for line in (shown.out + shown.err).split("\n") if line.startswith("warning[PEN6001]")
    }
    for index, (rule, holds, found) in enumerate(OUTCOMES):
        assert (f"r{index}" not in said) == holds, rule
        assert holds or found in said[f"r{index}"]


SINKS = [
    pytest.param("LocalFile", "file_format_type = parquet", True, id="parquet"),
    pytest.param("LocalFile", "file_format_type = orc", True, id="orc"),
    pytest.param("LocalFile", "file_format_type = csv", False, id="csv, which keeps no types"),
    pytest.param("LocalFile", "file_format_type = parquet, partition_by = [n]", False, id="partitioned"),
    pytest.param("Delta", "", True, id="delta", marks=pytest.mark.delta),
]


@pytest.mark.spark
@pytest.mark.parametrize(("sink", "options", "is_staged"), SINKS)
def test_rules_over_all_rows_read_what_is_staged(spark, tmp_path, monkeypatch, capsys, sink, options, is_staged):
    from engine.spark import expect

    read = []
    query = expect._query
    monkeypatch.setattr(expect, "_query", lambda df, text: read.append(df.inputFiles()) or query(df, text))
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    spark.sql("SELECT id, id % 2 AS n FROM range(20)").write.parquet(str(tmp_path / "source"))
    (tmp_path / "job.conf").write_text(
        f"""source {{ LocalFile {{ path = "{tmp_path}/source", file_format_type = parquet }} }}
        sink {{ {sink} {{ path = "{tmp_path}/out", {options}
          expectations = [{{ type = expect_column_values_to_be_unique, column = n }}] }} }}"""
    )
    assert main(["run", str(tmp_path / "job.conf")]) == 1
    assert "20 of 20 (100 %) rows are repeated" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    [files] = read
    assert files
    staged_in = "/out/" if sink == "Delta" else "/.out.penstock/"
    assert all((staged_in in each) == is_staged and ("/source/" in each) != is_staged for each in files)


ERRORS = {
    '{ condition = "idd > 1" }': ("PEN3004", "idd"),
    "{ type = expect_column_values_to_not_be_null, column = nme }": ("PEN3004", "nme"),
    "{ type = expect_column_to_exist, column = nme }": ("PEN6003", None),
    "{ type = expect_nothing_of_the_sort }": ("PEN6002", "expect_nothing_of_the_sort"),
    "{ type = something }": ("PEN6002", "something"),
    "{ name = x }": ("PEN6002", None),
    '{ condition = "id > 1", on_violation = EXPLODE }': ("PEN2004", "EXPLODE"),
    '{ condition = "id > 1", on_violation = QUARANTINE }': ("PEN2011", "QUARANTINE"),
    '{ condition = "sum(id) > 1" }': ("PEN3011", None),
    '{ condition = "id >" }': ("PEN3001", None),
    '{ condition = "id > 1", mostly = most }': ("PEN2004", "most"),
    '{ condition = "id > 1", mostly = 95 }': ("PEN2004", "95"),
    "{ type = expect_column_values_to_not_be_null, column = n, mostly = most }": ("PEN2004", None),
    '{ type = expect_column_max_to_be_between, column = n, max_value = "2024-01-01" }': ("PEN2004", None),
    "{ type = expect_table_column_count_to_be_between, max_value = few }": ("PEN2004", None),
    "{ type = expect_column_max_to_be_between, column = n, max_value = 4, on_violation = DROP }": ("PEN6002", "DROP"),
}


@pytest.mark.parametrize("rule", ERRORS)
def test_a_wrong_expectation_is_placed(rule, tmp_path):
    code, marked = ERRORS[rule]
    text = HOCON.format(source="x", out="y", rules=f"\n{rule}\n")
    (tmp_path / "job.conf").write_text(text)
    diagnostics = Diagnostics()
    compile_job(tmp_path / "job.conf", Settings(), diagnostics)
    errors = [each for each in diagnostics if each.severity.value == "error"]
    assert [each.code for each in errors] == ([code] if code else [])
    line = text.split("\n").index(rule) + 1
    for each in errors:
        assert each.span is not None
        assert each.span.line == line
        assert marked in (None, rule[each.span.column - 1 : each.span.end_column - 1])


def test_every_known_expectation_is_a_check():
    arguments = {"column": "n", "column_A": "a", "column_B": "b", "column_list": ["a", "b"], "value_set": [1, "x'y"]}
    kinds = {name: type(check_of(name, arguments)) for name in known_types()}
    assert kinds["expect_column_values_to_be_in_set"] is RowCheck
    assert kinds["expect_column_max_to_be_between"] is TableCheck
    assert kinds["expect_column_values_to_be_unique"] is QueryCheck
    assert check_of("expect_column_values_to_be_in_set", arguments) == RowCheck(
        "`n` IN (1, 'x\\'y')", 1.0, "`n` IS NOT NULL AND `a` IS NOT NULL AND `b` IS NOT NULL"
    )


@pytest.mark.parametrize(
    ("check", "value", "holds"),
    [
        (TableCheck("", 1, 5), 5, True),
        (TableCheck("", 1, 5, strict_maximum=True), 5, False),
        (TableCheck("", 1, None), 0.5, False),
        (TableCheck("", 1, 5), None, True),
        (TableCheck("", values=("a", 1)), 1, True),
        (TableCheck("", values=("a", 1)), "b", False),
    ],
)
def test_bounds(check, value, holds):
    assert check.holds(value) is holds


@pytest.fixture
def expect(spark):
    from engine.spark import expect

    return expect


@pytest.mark.spark
def test_counts_are_exact_whatever_rows_break(spark, expect, tmp_path):
    """Many rules, and many tasks whose counts are merged."""
    predicates = [f"id % {index + 2} > 0" for index in range(23)] + ["CAST(NULL AS BOOLEAN)"]
    rules = [
        Rule(f"r{index}", RowCheck(each), OnViolation.DROP if index in (3, 15) else OnViolation.WARN)
        for index, each in enumerate(predicates)
    ]
    df = spark.range(0, 40_000, 1, 40)
    seen, watched = expect.watch(df, Expect("e", SimpleNamespace(), tuple(rules), id="e"))
    assert seen.columns == df.columns
    seen.write.parquet(str(tmp_path / "out"))
    wanted = [len(range(0, 40_000, index + 2)) for index in range(23)] + [0]
    expect.read_counters([watched])
    found = list(expect.outcomes([watched], {}))
    assert [each.unexpected for each in found] == wanted
    assert {each.rows for each in found} == {40_000}
    assert count(spark, tmp_path / "out") == sum(1 for number in range(40_000) if number % 5 and number % 17)


def rules_of(*predicates: str, action: OnViolation = OnViolation.WARN) -> Expect:
    rules = tuple(Rule(f"r{i}", RowCheck(each), action) for i, each in enumerate(predicates))
    return Expect("e", SimpleNamespace(), rules, id="e")


@pytest.mark.spark
def test_a_row_that_breaks_two_rules_is_rejected_once(spark, expect, tmp_path):
    rules = rules_of("id % 2 = 0", "id % 3 = 0", "id IS NULL OR id <> 7", action=OnViolation.DROP)
    seen, watched = expect.watch(spark.range(0, 600, 1, 3).selectExpr("nullif(id, 12) AS id"), rules)
    seen.write.parquet(str(tmp_path / "out"))
    expect.read_counters([watched])
    first, second, third = expect.outcomes([watched], {})
    assert (first.unexpected, second.unexpected, third.unexpected) == (300, 400, 1)
    assert {each.rejected for each in (first, second, third)} == {500}
    assert count(spark, tmp_path / "out") == 100
    assert spark.read.parquet(str(tmp_path / "out")).where("id IS NULL").count() == 1  # NULL breaks no rule


@pytest.mark.spark
def test_rows_that_are_read_several_times_count_once(spark, expect, tmp_path):
    """By a query that joins them to themselves, by a sink that shows some, and by two sinks that write all."""
    seen, watched = expect.watch(spark.range(0, 900, 1, 9), rules_of("id % 100 <> 5"))
    assert len(seen.take(3)) == 3
    expect.read_counters([watched])
    seen.createOrReplaceTempView("seen")
    spark.sql("SELECT a.id, b.id + 1 AS next FROM seen a JOIN seen b ON a.id = b.id + 7").write.parquet(
        str(tmp_path / "joined")
    )
    expect.read_counters([watched])
    (outcome,) = expect.outcomes([watched], {})
    assert (outcome.rows, outcome.unexpected) == (900, 9)
    for name in ("one", "two"):
        seen.write.parquet(str(tmp_path / name))
    expect.read_counters([watched])
    assert list(expect.outcomes([watched], {})) == [outcome]


@pytest.mark.spark
def test_all_rows_break_all_rules(spark, expect, tmp_path):
    seen, watched = expect.watch(spark.range(0, 5000, 1, 4), rules_of(*[f"id < {-index}" for index in range(12)]))
    seen.write.parquet(str(tmp_path / "out"))
    expect.read_counters([watched])
    assert {each.unexpected for each in expect.outcomes([watched], {})} == {5000}
    assert count(spark, tmp_path / "out") == 5000


@pytest.mark.spark
def test_a_filter_above_does_not_come_before_the_rules(spark, expect, tmp_path):
    seen, watched = expect.watch(spark.range(0, 1000, 1, 4), rules_of("id <> 3", "id <> 4"))
    seen.where("id > 500").select((seen.id + 1).alias("id")).write.parquet(str(tmp_path / "out"))
    expect.read_counters([watched])
    assert [(each.rows, each.unexpected) for each in expect.outcomes([watched], {})] == [(1000, 1), (1000, 1)]


@pytest.mark.spark
def test_results_are_a_validation_result_and_a_page(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "job.sql").write_text(
        """CREATE TABLE s (id BIGINT, CONSTRAINT few EXPECT (id < 2) ON VIOLATION WARN,
                           CONSTRAINT all_of EXPECT (id > 0))
             WITH ('connector' = 'FakeSource', 'rows' = '[{ fields = [1] }, { fields = [2] }]');
           CREATE TABLE o WITH ('connector' = 'Console'); INSERT INTO o SELECT * FROM s"""
    )
    assert main(["run", str(tmp_path / "job.sql"), "--run-id", "one"]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert main(["expectations", "one", "--json"]) == 1
    (result,) = json.loads(capsys.readouterr().out)
    assert result["statistics"]["successful_expectations"] == 1
    few, all_of = result["results"]
    assert (few["success"], few["result"]["unexpected_count"], few["result"]["element_count"]) == (False, 1, 2)
    assert all_of["success"]
    assert main(["expectations", "one"]) == 1
    assert "BROKEN s.few: element count 2, unexpected count 1" in capsys.readouterr().out
    assert main(["expectations", "one", "--html", str(tmp_path / "page.html")]) == 1
    page = (tmp_path / "page.html").read_text()
    assert "Evaluated Expectations" in page
    assert "SELECT * FROM {batch} WHERE NOT (id &lt; 2)" in page
    assert not re.search(r"https?://|<script|<link|<img|src=|@import|url\(", page)  # it opens without a network
    assert main(["expectations", "two"]) == 1
    assert "PEN5308" in capsys.readouterr().err


FAILING = """
CREATE TABLE people (id BIGINT, api_key STRING, n INT, name STRING, CONSTRAINT small EXPECT (n < 10) ON VIOLATION FAIL,
  CONSTRAINT named EXPECT (name <> 'bad\u202e') ON VIOLATION WARN)
  WITH ('connector' = 'LocalFile', 'path' = 'people', 'file_format_type' = 'parquet');
CREATE TABLE out WITH ('connector' = 'LocalFile', 'path' = 'out', 'file_format_type' = 'parquet');
INSERT INTO out SELECT * FROM people;
"""


@pytest.mark.spark
def test_an_expectation_that_fails_shows_three_failing_rows_without_secrets(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = (
        "id, concat('hunter', id) AS api_key, CAST(id AS INT) AS n, IF(id = 50, 'bad\u202e', repeat('x', 100)) AS name"
    )
    spark.sql(f"SELECT {rows} FROM range(0, 100, 1, 3)").write.parquet(str(tmp_path / "people"))
    text = FAILING.replace("'people'", f"'{tmp_path}/people'").replace("'out'", f"'{tmp_path}/out'")
    Path("job.sql").write_text(text)
    assert main(["run", "job.sql", "--quiet"]) == 1
    err = capsys.readouterr().err
    shown = [line.partition("= note: violated by ")[2] for line in err.splitlines() if "violated by" in line]
    assert len(shown) == 4 - ("`named`" not in err), err
    for row in shown[-3:]:
        assert re.fullmatch(r"n = (\d+), id = \1, api_key = \*{6}, name = x{60}…", row), row
    assert "hunter" not in err
    assert "90 of 100 (90 %) rows break it" in err


@pytest.mark.spark
def test_repeated_values_are_shown(spark, source, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    rule = "{ type = expect_column_values_to_be_unique, column = n }"
    (tmp_path / "job.conf").write_text(HOCON.format(source=source, out=tmp_path, rules=rule))
    assert main(["run", str(tmp_path / "job.conf"), "--quiet"]) == 1
    err = capsys.readouterr().err
    assert len(re.findall(r"= note: violated by n = \d+$", err, re.MULTILINE)) == 3, err
