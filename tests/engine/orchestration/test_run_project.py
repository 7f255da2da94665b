"""Running a project: `run`, `build`, `retry`, and what they record."""

from pathlib import Path

import pytest

from engine.cli import main

CONF = """
name = shop
environments { dev { default = true, variables { lake = lake/dev } }, prod { variables { lake = p } } }
"""
A = """
source { FakeSource { plugin_output = rows, schema { fields { id = int, n = int } }
  rows = [{ kind = INSERT, fields = [1, 2] }, { kind = INSERT, fields = [2, 0] }] } }
sink { LocalFile { path = "${lake}/a", file_format_type = parquet, data_save_mode = DROP_DATA } }
"""
TABLES = """
CREATE TABLE x WITH ('connector' = 'LocalFile', 'path' = '${{lake}}/{read}', 'file_format_type' = 'parquet');
CREATE TABLE y WITH ('connector' = 'LocalFile', 'path' = '${{lake}}/{write}', 'file_format_type' = 'parquet',
  'data_save_mode' = 'DROP_DATA');
INSERT INTO y SELECT {columns} FROM x;
"""
TEST = """
TEST 'adds one';
GIVEN x AS VALUES (1, 2) AS t(id, n);
EXPECT y AS VALUES (1, {expected}) AS t(id, more);
"""

pytestmark = pytest.mark.spark


@pytest.fixture
def shop(tmp_path, monkeypatch, spark) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "penstock.conf": CONF,
        "jobs/a.conf": A,
        "jobs/b.sql": TABLES.format(read="a", write="b", columns="id, n + 1 AS more"),
        "jobs/c.sql": TABLES.format(read="b", write="c", columns="*"),
        "jobs/d.sql": TABLES.format(read="a", write="d", columns="id, 10 / n AS tenth"),
        "jobs/e.sql": TABLES.format(read="d", write="e", columns="*"),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def table(out: str) -> dict[str, str]:
    """The status of each job in the printed table."""
    lines = [line.split() for line in out.splitlines() if line]
    return {words[0]: words[1] for words in lines if len(words) > 1 and words[0] in "abcde"}


def test_a_project_runs_in_order_and_what_needs_a_failed_job_is_skipped(shop, capsys):
    assert main(["run", "--keep-going"]) == 1
    out, err = capsys.readouterr()
    expected = {"a": "success", "b": "success", "c": "success", "d": "error", "e": "skipped"}
    assert table(out) == expected
    assert out.rstrip().endswith("5 jobs: 3 success, 1 error, 1 skipped")
    assert "Division by zero" in err
    assert {path.name for path in (shop / "lake/dev").iterdir() if not path.name.startswith(".")} == {"a", "b", "c"}

    assert main(["ls", "--select", "result:error+"]) == 0
    assert capsys.readouterr().out == "d\ne\n"
    (shop / "jobs/d.sql").write_text(TABLES.format(read="a", write="d", columns="id, n AS tenth"))
    assert main(["retry"]) == 0
    assert table(capsys.readouterr().out) == {"d": "success", "e": "success"}
    assert main(["retry"]) == 0
    assert capsys.readouterr().out == "no job is selected\n"


def test_jobs_that_changed_since_they_last_ran_are_selected_by_state(shop, capsys):
    (shop / "jobs/d.sql").write_text(TABLES.format(read="a", write="d", columns="id, n AS tenth"))
    assert main(["run", "--select", "a+"]) == 0
    (shop / "jobs/f.sql").write_text(TABLES.format(read="e", write="f", columns="*"))
    (shop / "jobs/b.sql").write_text(TABLES.format(read="a", write="b", columns="id, n + 2 AS more"))
    (shop / "jobs/d.sql").write_text("-- comment\n" + TABLES.format(read="a", write="d", columns="id,   N as tenth"))
    capsys.readouterr()
    for state, names in {"new": "f", "modified": "bf", "old": "abcde", "unmodified": "acde"}.items():
        assert main(["ls", "--select", f"state:{state}"]) == 0
        assert "".join(sorted(capsys.readouterr().out.split())) == names
    assert main(["ls", "--env", "prod", "--select", "state:new"]) == 2
    assert "PEN2702" in capsys.readouterr().err


def test_build_runs_the_tests_of_a_job_before_it(shop, capsys):
    (shop / "jobs/b.test.sql").write_text(TEST.format(expected=4))
    assert main(["build", "--select", "+c"]) == 1
    out, err = capsys.readouterr()
    assert table(out) == {"a": "success", "b": "error", "c": "skipped"}
    assert "0 of 1" in out
    assert "b.test.sql" in err
    assert not (shop / "lake/dev/b").exists()
    (shop / "jobs/b.test.sql").write_text(TEST.format(expected=3))
    assert main(["retry"]) == 0
    out = capsys.readouterr().out
    assert table(out) == {"b": "success", "c": "success"}
    assert "1 of 1" in out


def test_a_job_with_an_error_keeps_the_selected_ones_from_starting(shop, capsys):
    (shop / "jobs/b.sql").write_text(TABLES.format(read="a", write="b", columns="nothing"))
    assert main(["run", "a", "b"]) == 2
    assert not (shop / "lake").exists()
    assert "jobs/b.sql:5:" in capsys.readouterr().err
