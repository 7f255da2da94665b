"""SQL jobs have the plan of the HOCON job that says the same, and `convert` turns one into the other."""

from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.job.convert import convert
from engine.plan.rendering.explain_text import explain

ROOT = Path(__file__).parents[4]
EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").rglob("*.conf")
    if not path.name.endswith(".test.conf")
    and not path.name.startswith("_")  # parts that jobs include
    and path.name != "penstock.conf"
)


def explained(path: Path) -> str:
    diagnostics = Diagnostics()
    compiled = compile_job(path, Settings(), diagnostics)
    assert compiled is not None, [f"{each.message} {each.span}" for each in diagnostics]
    return explain(compiled.built, columns=True) + explain(compiled.plan)


def converted(path: Path, target: Path) -> Path:
    diagnostics = Diagnostics()
    target.write_text(convert(path, diagnostics))
    assert not diagnostics.has_errors, list(diagnostics)
    return target


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem != "summaries"], ids=lambda path: path.stem)
def test_an_example_is_the_same_in_both_forms(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert explained(path) == explained(path.with_suffix(".sql"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_round_trip_gives_the_same_plan(path, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    script = converted(path, tmp_path / "job.sql")
    back = converted(script, tmp_path / "job.conf")
    assert explained(path) == explained(script) == explained(back)
    first = path.read_text().split("\n")[0].removeprefix("# ")
    assert f"-- {first}" in script.read_text()
    assert f"# {first}" in back.read_text()


HOCON = """
env { job.name = "orders", parallelism = 3, spark.sql.shuffle.partitions = 8 }
source {
  FakeSource {
    plugin_output = "orders", row.num = 5
    schema { columns = [{ name = id, type = bigint, nullable = false, comment = "the key" }
                        { name = day, type = date }
                        { name = amount, type = "decimal(10,2)", defaultValue = 1.5 }]
             primaryKey { name = primary_key, columnNames = [id] } }
    expectations = [{ name = positive, condition = "amount > 0", on_violation = QUARANTINE, quarantine = bad }
                    { name = keyed, condition = "id is not null" }]
  }
}
transform {
  Sql { plugin_input = ["orders"], plugin_output = "big", query = "select * from orders where amount > 100" }
  Copy { plugin_input = ["big"], plugin_output = "copied", fields { again = id } }
  Sql { plugin_input = ["big"], plugin_output = "numbers_rows",
        query = "SELECT `n`, `total` FROM (select count(*), sum(amount) from big) AS `numbers`(`n`, `total`)" }
  Sql { plugin_input = ["copied", "big"], plugin_output = "totals_rows",
        query = "select c.again, b.amount from copied c join big b on c.id = b.id" }
  Sql { plugin_input = [], plugin_output = "one", query = "select 1 as one" }
}
sink {
  LocalFile { plugin_input = ["totals_rows"], path = "/out/totals", file_format_type = parquet,
              partition_by = ["again"], data_save_mode = DROP_DATA }
  Console { plugin_input = ["big", "orders"], plugin_output = "shown", limit = 3 }
  Console { plugin_input = ["numbers_rows"], plugin_output = "numbers" }
  Console { plugin_input = ["one"], plugin_output = "ones" }
  LocalFile { plugin_input = ["bad"], path = "/out/bad", file_format_type = json }
}
"""

SQL = """
/* config
env { parallelism = 3 }
*/
SET 'job.name' = 'orders'; SET spark.sql.shuffle.partitions = 8;
CREATE TABLE orders (
  id bigint NOT NULL COMMENT 'the key', day date, amount decimal(10,2) DEFAULT 1.5, PRIMARY KEY (id),
  CONSTRAINT positive EXPECT (amount > 0) ON VIOLATION QUARANTINE INTO bad,
  CONSTRAINT keyed EXPECT (id is not null)
) WITH ('connector' = 'FakeSource', 'row.num' = '5');
CREATE TEMPORARY VIEW big AS select * from orders where amount > 100;
CREATE VIEW copied WITH ('transform' = 'Copy', 'input' = 'big', 'fields.again' = 'id');
CREATE TABLE totals PARTITIONED BY (again)
  WITH ('connector' = 'LocalFile', 'path' = '/out/totals', 'file_format_type' = 'parquet');
CREATE TABLE shown WITH ('connector' = 'Console', 'limit' = 3);
CREATE TABLE numbers WITH ('connector' = 'Console');
CREATE TABLE ones WITH ('connector' = 'Console');
CREATE TABLE one AS select 1 as one;
CREATE TABLE bad WITH ('connector' = 'LocalFile', 'path' = '/out/bad', 'file_format_type' = 'json', 'type' = 'sink');
INSERT OVERWRITE totals select c.again, b.amount from copied c join big b on c.id = b.id;
INSERT INTO shown SELECT * FROM BIG;
INSERT INTO shown TABLE orders;
INSERT INTO numbers (n, total) select count(*), sum(amount) from big;
INSERT INTO ones SELECT * FROM one
"""


def test_every_statement_has_its_block(tmp_path):
    (tmp_path / "job.conf").write_text(HOCON)
    (tmp_path / "job.sql").write_text(SQL)
    mine = explained(tmp_path / "job.sql").split("\n\n")
    assert sorted(map(_nodes, mine)) == sorted(map(_nodes, explained(tmp_path / "job.conf").split("\n\n")))


def _nodes(tree: str) -> list[str]:
    """The lines of a write's tree, whichever of several it is and wherever a shared node was printed first."""
    return sorted(
        {line.lstrip("│├└─ ").replace(" (above)", "").split(": ")[0].rstrip("_2345") for line in tree.split("\n")}
    )


def test_a_script_round_trips(tmp_path):
    (tmp_path / "job.sql").write_text(SQL)
    back = converted(tmp_path / "job.sql", tmp_path / "back.conf")
    again = converted(back, tmp_path / "again.sql")
    assert explained(tmp_path / "job.sql") == explained(back) == explained(again)


def test_names_with_blanks_and_brackets_round_trip(tmp_path):
    names = ("two words", "x[1]", "größe")
    sources = "".join(
        f'FakeSource {{ plugin_output = ["{name}"], schema {{ fields {{ id = int }} }} }}\n' for name in names
    )
    inputs = ", ".join(f'"{name}"' for name in names)
    (tmp_path / "job.conf").write_text(
        f'source {{ {sources} }}\ntransform {{ Filter {{ plugin_input = [{inputs}], condition = "id > 0" }} }}\n'
        "sink { Console {} }\n"
    )
    script = converted(tmp_path / "job.conf", tmp_path / "job.sql")
    back = converted(script, tmp_path / "back.conf")
    assert _nodes(explained(tmp_path / "job.conf")) == _nodes(explained(script)) == _nodes(explained(back))


ERRORS = {
    "INSERT INTO nowhere SELECT 1": ("PEN2007", "nowhere"),
    "INSERT INTO v SELECT 1": ("PEN2007", "v"),
    "CREATE VIEW V AS SELECT 2": ("PEN2006", "V"),
    "CREATE TABLE t WITH ('path' = 'x'); INSERT INTO t SELECT 1": ("PEN2005", "t"),
    "CREATE TABLE t (a int)": ("PEN2005", "t"),
    "CREATE TABLE t WITH ('connector' = 'Consle'); INSERT INTO t SELECT 1": ("PEN2002", "Consle"),
    "CREATE TABLE t WITH ('connector' = 'Console', 'limt' = 1); INSERT INTO t SELECT 1 a": ("PEN2003", "limt"),
    "CREATE TABLE t WITH ('connector' = 'Console', 'limit' = 'x'); INSERT INTO t SELECT 1 a": ("PEN2004", "x"),
    "CREATE TABLE t WITH ('connector' = 'Console', 'limit' = 1, 'limit' = 2); INSERT INTO t SELECT 1 a": (
        "PEN2011", "limit"),
    "CREATE TABLE t WITH ('connector' = 'Console', 'type' = 'drain'); INSERT INTO t SELECT 1 a": ("PEN2004", "drain"),
    "CREATE TABLE t WITH ('connector' = 'Console', 'type' = 'source'); INSERT INTO t SELECT 1 a": (
        "PEN2011", "source"),
    "CREATE TABLE t PARTITIONED BY (a) WITH ('connector' = 'Console'); INSERT INTO t SELECT 1 a": ("PEN2011", "a"),
    "CREATE TABLE t WITH ('connector' = 'Console'); INSERT INTO t SELECT idd FROM s": ("PEN3004", "idd"),
    "CREATE TABLE t WITH ('connector' = 'Console'); INSERT INTO t SELECT 1 FROM ss": ("PEN3002", "ss"),
    "CREATE VIEW w WITH ('input' = 's')": ("PEN3001", "w"),
    "CREATE VIEW w WITH ('transform' = 'Copi', 'input' = 's')": ("PEN2002", "Copi"),
    "CREATE VIEW w WITH ('transform' = 'Copy', 'input' = 'ss', 'fields' = '{a = id}')": ("PEN2007", "ss"),
    "CREATE TABLE r (a int, b nonsense) WITH ('connector' = 'FakeSource')": ("PEN4001", "nonsense"),
    "CREATE VIEW w (CONSTRAINT c EXPECT (idd > 1)) AS SELECT id FROM s": ("PEN3004", "idd"),
    "CREATE VIEW w (CONSTRAINT c EXPECT (id > 1) ON VIOLATION QUARANTINE INTO x) AS SELECT id FROM s": (
        "PEN2007", "x"),
    "CREATE TABLE t WITH ('connector' = 'Console', 'limit' = ${no}); INSERT INTO t SELECT 1 a": ("PEN1003", "${no}"),
    "CREATE TABLE r WITH ('connector' = 'FakeSource', 'schema' = '{ fields { a = nonsens } }')": ("PEN4001", "nonsens"),
}  # fmt: skip
BASE = """CREATE TABLE s (id bigint) WITH ('connector' = 'FakeSource');
CREATE VIEW v AS SELECT id FROM s;
CREATE TABLE c WITH ('connector' = 'Console');
INSERT INTO c SELECT * FROM v;
"""


@pytest.mark.parametrize("statement", ERRORS)
def test_a_error_is_placed(statement, tmp_path):
    code, marked = ERRORS[statement]
    (tmp_path / "job.sql").write_text(BASE + statement)
    diagnostics = Diagnostics()
    compile_job(tmp_path / "job.sql", Settings(), diagnostics)
    spans = [
        (each.code, statement[each.span.column - 1 : each.span.end_column - 1]) for each in diagnostics if each.span
    ]
    assert (code, marked) in spans
    assert [each.code for each in diagnostics if each.severity.value == "error"] == [code]
    assert all(each.span.line == BASE.count("\n") + 1 for each in diagnostics if each.span)


def test_positional_insert_takes_the_types_of_the_table(tmp_path):
    (tmp_path / "job.sql").write_text(
        """CREATE TABLE s (id bigint, n int) WITH ('connector' = 'FakeSource');
        CREATE TABLE t (a string, b bigint, c date DEFAULT date'2020-01-01') WITH ('connector' = 'Console');
        INSERT INTO t (b, a) SELECT n, id FROM s"""
    )
    compiled = compile_job(tmp_path / "job.sql", Settings(), Diagnostics())
    assert compiled is not None
    (write,) = compiled.plan.writes
    assert [f"{each.name} {each.type}" for each in write.table.columns] == ["a string", "b bigint", "c date"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a FROM (SELECT 4) AS t(a)",
        "SELECT s.a FROM (VALUES (4)) AS s(a)",
        "WITH s AS (SELECT 4 AS a) SELECT s.a FROM s",
        "SELECT a AS s FROM VALUES (4) AS t(a)",
    ],
)
def test_an_alias_is_no_table(tmp_path, query):
    script = tmp_path / "job.sql"
    script.write_text(f"""
CREATE TABLE s (a INT) WITH ('connector' = 'FakeSource');
CREATE TABLE t WITH ('connector' = 'Console');
INSERT INTO t SELECT a FROM s;
INSERT INTO t {query};
""")
    hocon = convert(script, Diagnostics())
    assert [line.strip() for line in hocon.splitlines() if "plugin_input" in line][:2] == [
        'plugin_input = ["s"]', "plugin_input = []",
    ]  # fmt: skip
    assert query in explained(script)


SET = """
source { FakeSource { plugin_output = "crm", tables_configs = [
  { schema { table = "shop.orders", fields { id = int } } }, { schema { table = "shop.people", fields { id = int } } }
] } }
transform {
  TableRename { plugin_input = "crm", plugin_output = "ren", prefix = "x_" }
  Sql { plugin_input = "ren", plugin_output = "next", query = "select dual.id + 1 as id from %s" }
}
sink { Console { plugin_input = "next" } }
"""


def test_dual_is_converted_to_the_name_of_the_input(tmp_path):
    (tmp_path / "job.conf").write_text(SET % "dual where id < ${most:9}")
    script = converted(tmp_path / "job.conf", tmp_path / "job.sql")
    assert "select dual.id + 1 as id from `ren` AS `dual` where id < ${most:9};" in script.read_text()
    (tmp_path / "named.conf").write_text(SET % "`ren` AS `dual` where id < ${most:9}")
    back = converted(script, tmp_path / "back.conf")
    assert explained(tmp_path / "named.conf") == explained(script) == explained(back)


def test_another_name_for_the_input_has_a_remedy(tmp_path):
    (tmp_path / "job.conf").write_text(SET % "orders")
    diagnostics = Diagnostics()
    convert(tmp_path / "job.conf", diagnostics)
    (error,) = diagnostics
    assert (error.code, error.help) == ("PEN2015", "name the input in the query: FROM `ren` AS `orders`")
