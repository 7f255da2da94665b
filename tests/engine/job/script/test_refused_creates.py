"""A table whose CREATE is refused is reported once, not also where it is used."""

import pytest

from engine.cli import main

SCRIPT = """CREATE TABLE src (id BIGINT) WITH ('connector' = 'FakeSource', 'row.num' = '3');
CREATE TABLE out WITH ('connector' = 'Console');
"""
LEADING = "WITH x AS (SELECT id FROM src) INSERT INTO out SELECT * FROM x"


@pytest.mark.parametrize(
    ("create", "use"),
    [
        ("CREATE STREAMING TABLE s AS SELECT * FROM src", "INSERT INTO out SELECT * FROM s"),
        ("CREATE MATERIALIZED VIEW s AS SELECT * FROM src", "INSERT INTO out SELECT * FROM s"),
        ("CREATE TABLE s LIKE src", "INSERT INTO s SELECT * FROM src"),
    ],
)
def test_a_refused_create_is_one_error(tmp_path, capsys, create, use):
    (tmp_path / "job.sql").write_text(f"{SCRIPT}{create};\n{use};\n")
    assert main(["validate", str(tmp_path / "job.sql")]) == 2
    assert "1 job: 1 error" in capsys.readouterr().out


def test_a_name_that_no_statement_makes_is_reported_beside_it(tmp_path, capsys):
    (tmp_path / "job.sql").write_text(f"{SCRIPT}CREATE TABLE s LIKE src;\nINSERT INTO out SELECT * FROM other;\n")
    assert main(["validate", str(tmp_path / "job.sql")]) == 2
    assert "table `other` does not exist here" in capsys.readouterr().out


@pytest.mark.parametrize("statement", [LEADING, "FROM src INSERT INTO out SELECT id WHERE id > 0"])
def test_an_insert_behind_its_query_is_valid(tmp_path, statement):
    (tmp_path / "job.sql").write_text(f"{SCRIPT}{statement};\n")
    assert main(["validate", "--strict", str(tmp_path / "job.sql")]) == 0
