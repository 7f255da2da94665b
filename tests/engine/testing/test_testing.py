"""`penstock test`: what passes, what a person reads where it does not, and errors of test files."""

from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.cli import main
from engine.testing.compare import difference

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("expected", "found", "ordered", "said"),
    [
        ([(1, None)], [(1, None)], False, None),
        ([(1,), (2,)], [(2,), (1,)], False, None),
        ([(1,), (2,)], [(2,), (1,)], True, "the rows are equal, but their order differs"),
        ([(1,), (1,)], [(1,)], False, "1 missing (-), 0 unexpected (+)\n  a\n- 1"),
        ([(Decimal("1.0"),)], [(Decimal("1.00"),)], False, "1 missing (-), 1 unexpected"),
        ([(None,)], [("",)], False, "- NULL"),
        ([({"x": 1, "y": [1]},)], [({"y": [1], "x": 1},)], False, None),
    ],
)
def test_difference(expected, found, ordered, said):
    unlike = difference(["a"], expected, found, ordered=ordered)
    assert (unlike is None) == (said is None)
    assert said is None or said in str(unlike)


JOB = """
CREATE TABLE orders (id bigint, day date, tags array<string>) WITH ('connector' = 'FakeSource');
CREATE VIEW late AS SELECT id, year(day) AS year, tags FROM orders WHERE day > DATE '2020-01-01' ORDER BY id DESC;
CREATE TABLE out WITH ('connector' = 'Console');
INSERT INTO out SELECT * FROM late;
"""
TESTS = """
tests = [
  { name = passes, given { orders = [{ id = 1, day = "2021-02-03", tags = [a, b] }, { id = 2, day = "2022-02-03" },
                                     { id = 3, day = "2019-01-01" }, { id = 4 }] }
    expect { late = [{ id = 2, year = 2022, tags = null }, { id = 1, year = 2021, tags = [a, b] }]
             out = [{ id = 1 }, { id = 2 }] }
    ordered = [late] }
  { name = fails, given { orders = [{ id = 1, day = "2021-02-03" }] }, expect { late = [{ id = 2 }] } }
  { name = "unknown column", given { orders = [{ idd = 1 }] }, expect { late = [] } }
  { name = "unknown node", given { orders = [] }, expect { lat = [{ id = 2 }] } }
]
"""


@pytest.mark.spark
def test_results_as_text_and_junit(tmp_path, spark, capsys):
    (tmp_path / "orders.sql").write_text(JOB)
    (tmp_path / "orders.test.conf").write_text(TESTS)
    assert main(["test", str(tmp_path), "--junit", str(tmp_path / "out.xml")]) == 1
    shown = capsys.readouterr()
    assert "1 passed, 3 failed" in shown.out
    assert "rows of `late`: 1 missing (-), 1 unexpected (+)" in shown.err
    assert "did you mean `late`?" in shown.err
    assert "there is no column `idd`" in shown.err
    cases = {
        case.get("name"): case.find("failure") for case in ElementTree.parse(tmp_path / "out.xml").iter("testcase")
    }
    assert {name for name, failure in cases.items() if failure is None} == {"passes"}
    assert "- 2" in (cases["fails"].text or "")


SET_JOB = """
source {
  FakeSource {
    plugin_output = "crm", row.num = 4, seed = 1
    tables_configs = [
      { schema { table = "shop.orders", fields { id = bigint, amount = "decimal(10,2)" } }
        expectations = [{ name = no_ids, condition = "id is null", on_violation = WARN }] }
      { schema { table = "shop.people", fields { id = bigint, name = string } } }
    ]
  }
}
transform {
  Filter { plugin_input = "crm", plugin_output = "clean", condition = "id > 0"
           expectations = [{ name = large, condition = "id > 10", on_violation = DROP }] }
}
sink { Console { plugin_input = "clean" } }
"""
SET_TESTS = """
tests = [
  { name = "tables of a set", given { "crm.orders" = [{ id = 11, amount = 1.50 }, { id = -1 }], "crm.people" = [] }
    expect { "clean.orders" = [{ id = 11, amount = 1.50 }], "clean.people" = [] } }
  { name = "rows where none are expected", given { "crm.people" = [{ id = 12, name = a }] }
    expect { "clean.people" = [] } }
]
"""


@pytest.mark.spark
def test_tables_of_a_set_are_given_expected_and_checked_by_name(tmp_path, spark, capsys, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "crm.conf").write_text(SET_JOB)
    (tmp_path / "crm.test.conf").write_text(SET_TESTS)
    assert main(["test", str(tmp_path)]) == 1
    shown = capsys.readouterr()
    assert "passed" in shown.out.splitlines()[0]
    assert "1 passed, 1 failed" in shown.out
    assert "rows of `clean.people`: 0 missing (-), 1 unexpected (+)" in shown.err
    assert main(["run", str(tmp_path / "crm.conf"), "--run-id", "checked", "--quiet"]) == 0
    assert "`no_ids` of `crm.orders` is violated: 4 of 4" in capsys.readouterr().err
    assert main(["expectations", "checked"]) == 1
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "BROKEN crm.orders.no_ids",
        *("holds clean.orders.large", "holds clean.people.large"),
    ]


@pytest.mark.spark
def test_the_examples_pass(spark, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    folders = sorted(path.parent for path in Path("examples").glob("*/*.test.*"))
    assert folders
    for folder in (*dict.fromkeys(map(str, folders)), "examples/flights_project"):
        assert main(["test", folder]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("lonely.test.sql", "EXPECT a AS SELECT 1", "no job belongs to the test"),
        ("orders.test.sql", "GIVN a AS SELECT 1", "expected `TEST`, `SET`, `GIVEN` or `EXPECT`, found `GIVN`"),
        ("orders.test.sql", "EXPECT a AS", "expected a query"),
        ("orders.test.conf", "test = []", "has no `tests = [ … ]`"),
        ("orders.test.conf", "tests = [{ gven { } }]", "a test has no `gven`"),
        ("orders.test.conf", "tests = [{ name = a, given { } }]", "the test expects nothing"),
        ("orders.test.conf", "tests = [5]", "a test is an object"),
        ("orders.test.conf", "tests = [{ expect = [] }]", "`expect` is an object with a list of rows for each name"),
        ("orders.test.conf", "tests = [{ expect { out = [5] } }]", "the rows of `out` are objects"),
        ("orders.test.conf", "tests = [{ variables = 1, expect { } }]", "`variables` is an object"),
        ("orders.test.sql", "TEST 'a'; GIVEN orders AS SELECT 1 AS id", "the test expects nothing"),
    ],
)
def test_errors_of_test_files(name, text, message, tmp_path, capsys):
    (tmp_path / "orders.sql").write_text(JOB)
    (tmp_path / name).write_text(text)
    assert main(["test", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


NESTED = """
source { LocalFile { plugin_output = orders, path = "${lake}/orders", file_format_type = json,
  schema { fields { id = int } } } }
sink { LocalFile { plugin_input = orders, path = "${lake}/out", file_format_type = parquet } }
"""
NESTED_TEST = """
TEST 'passes rows on';
GIVEN orders AS VALUES ({given}) AS t(id);
EXPECT out AS VALUES (1) AS t(id);
"""


@pytest.mark.spark
def test_tests_in_a_folder_above_a_project_run_as_in_it(tmp_path, spark, capsys, monkeypatch):
    """The variable is the project's; `validate` enters the project in the same way."""
    project = tmp_path / "shop"
    (project / "jobs").mkdir(parents=True)
    (project / "penstock.conf").write_text("name = shop\nvariables { lake = lake }\n")
    (project / "jobs" / "a.conf").write_text(NESTED)
    (project / "jobs" / "a.test.sql").write_text(NESTED_TEST.format(given=1))
    for folder, file in ((project, "jobs/a.test.sql"), (tmp_path, "shop/jobs/a.test.sql")):
        monkeypatch.chdir(folder)
        assert main(["validate", "."]) == 0, capsys.readouterr().out
        capsys.readouterr()
        assert main(["test", "."]) == 0, capsys.readouterr()
        out, _ = capsys.readouterr()
        assert f"passed {file}: passes rows on" in out
        assert "1 passed, 0 failed" in out
    (project / "jobs" / "a.test.sql").write_text(NESTED_TEST.format(given=2))
    assert main(["test", "."]) == 1
    assert "shop/jobs/a.test.sql" in capsys.readouterr().err
