"""Errors of options and queries that Spark or a database would find only when the job runs."""

import json

import pytest

from engine.cli import main

JOB = """
source {{
  FakeSource {{ plugin_output = a, schema {{ fields {{ id = bigint, amount = "decimal(10,2)", day = date }} }} }}
}}
transform {{ Sql {{ plugin_input = a, plugin_output = b, query = "{query}" }} }}
sink {{ {sink} }}
"""
QUERY = "select id, amount, day from a"
CONDITION = 'write_mode = replace_where, replace_where = "{}"'
SQLITE, POSTGRES, ORACLE, DUCKDB = (
    f'Jdbc {{{{ plugin_input = b, url = "jdbc:{url}", {{}} }}}}'
    for url in ("sqlite:/tmp/x.db", "postgresql://db/shop", "oracle:thin:@//db/x", "duckdb:/tmp/x.duckdb")
)
DELTA = 'Delta {{ plugin_input = b, path = "t", {} }}'
ICEBERG = 'Iceberg {{ plugin_input = b, warehouse = "w", table = "db.t", {} }}'
EXPECTED = "expectations = [{{ type = {}, column = id }}]"


@pytest.mark.parametrize(
    ("sink", "option", "code", "said"),
    [
        (DELTA, CONDITION.format("dy = 1"), "PEN3004", "column `dy` does not exist"),
        (DELTA, CONDITION.format("id + 1"), "PEN3008", None),
        (DELTA, CONDITION.format("day = date '2024-01-01' and"), "PEN3001", None),
        (DELTA, CONDITION.format("day = date '2024-01-01' -- the day"), None, None),
        (ICEBERG, CONDITION.format("dy = 1"), "PEN3004", "column `dy` does not exist"),
        (DELTA, "write_mode = upsert, primary_keys = [id], delete_condition = \"amout < 0\"", "PEN3004", "`amout`"),
        (DELTA, EXPECTED.format("expect_column_values_to_not_be_nul"), "PEN6002", "is not a known expectation"),
        (DELTA, EXPECTED.format("expect_column_values_to_be_increasing"), None, None),
        (SQLITE, 'table = "public.t"', "PEN2004", "SQLite has no schemas"),
        (SQLITE, 'table = "main.t"', None, None),
        (POSTGRES, 'table = "t", isolation_level = SERIALIZABLE', None, None),
        (POSTGRES, 'table = "other.public.t"', "PEN2011", "`url` names `shop`, and `table` names `other`"),
        (POSTGRES, 'table = "public.t", database = other', "PEN2011", "and `database` names `other`"),
        (POSTGRES, 'table = "shop.public.t"', None, None),
        (ORACLE, 'table = "t", isolation_level = REPEATABLE_READ', "PEN2004", "has no isolation level REPEATABLE_READ"),
        (DUCKDB, 'table = "t", isolation_level = SERIALIZABLE', "PEN2004", "has no isolation level SERIALIZABLE"),
    ],
)  # fmt: skip
def test_options_that_no_run_could_use_are_refused(tmp_path, capsys, sink, option, code, said):
    assert errors(tmp_path, capsys, QUERY, sink.format(option)) == ([code] if code else [])
    assert said is None or said in errors.said


@pytest.mark.parametrize(
    ("expression", "is_refused"),
    [("amount + 'abc'", True), ("(amount * 'x') / 2", True), ("'x' - id", True), ("id % '-'", True),
     ("amount + '1.5'", False), ("if(id > 0, amount, amount + 'abc')", False), ("concat(amount, 'abc')", False)],
)  # fmt: skip
def test_arithmetic_with_a_text_that_is_no_number_is_refused(tmp_path, capsys, expression, is_refused):
    found = errors(tmp_path, capsys, f"select id, {expression} x from a", "Console { plugin_input = b }")
    assert found == (["PEN3013"] if is_refused else [])


def errors(tmp_path, capsys, query, sink):
    path = tmp_path / "job.conf"
    path.write_text(JOB.format(query=query, sink=sink))
    main(["validate", str(path), "--format", "json"])
    items = [item for item in json.loads(capsys.readouterr().out) if item["severity"] == "error"]
    errors.said = " ".join(item["message"] for item in items)
    assert all(item["line"] is not None for item in items)
    return [item["code"] for item in items]
