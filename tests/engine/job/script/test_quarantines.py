"""Rows that a block quarantines by an option: a script writes them into a table or reads them, and `convert` keeps
their sinks."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.job.convert import convert
from engine.plan.rendering.explain_text import explain

TABLES = '[{ schema { table = "shop.orders" } }, { schema { table = "shop.people" } }]'
ROUTE = f"""
CREATE TABLE changes (t STRING, id BIGINT) WITH ('connector' = 'FakeSource');
CREATE VIEW crm WITH (
  'transform' = 'TableRoute', 'input' = 'changes', 'table_column' = 't', 'tables_configs' = '{TABLES}',
  'unknown_tables' = 'QUARANTINE', 'quarantine' = 'bad'
);
CREATE TABLE good WITH ('connector' = 'Console');
INSERT INTO good SELECT * FROM crm;
"""
RULES = '[{ name = r, condition = "id > 0", on_violation = QUARANTINE, quarantine = ill %s }]'
HOCON = f"""
source {{ FakeSource {{
  plugin_output = "changes", schema {{ fields {{ t = string, id = bigint }} }}, expectations = %s
}} }}
transform {{
  TableRoute {{ plugin_input = "changes", plugin_output = "crm", table_column = "t", tables_configs = {TABLES}
               unknown_tables = QUARANTINE, quarantine = "bad" }}
  %s
}}
sink {{
  Console {{ plugin_input = "crm", plugin_output = "good" }}
  %s
}}
"""


def sink(input, name=""):
    named = f'plugin_output = "{name}"' if name else ""
    return f'Console {{ plugin_input = "{input}", {named} }}\n'


def compiled(path):
    diagnostics = Diagnostics()
    job = compile_job(path, Settings(), diagnostics)
    return job, [f"{item.code} {item.message} (line {item.span and item.span.line})" for item in diagnostics]


def explained(path):
    job, errors = compiled(path)
    assert job is not None, errors
    assert not errors
    return explain(job.built, columns=True) + explain(job.plan)


def of_script(folder, more):
    (folder / "job.sql").write_text(ROUTE + more)
    return explained(folder / "job.sql")


def of_hocon(folder, transform, sink):
    (folder / "job.conf").write_text(HOCON % ("[]", transform, sink))
    return explained(folder / "job.conf")


@pytest.mark.parametrize(
    ("script", "transform", "sink"),
    [
        pytest.param(
            "CREATE TABLE bad WITH ('connector' = 'Console')", "", 'Console { plugin_input = "bad" }', id="a table"
        ),
        pytest.param(
            "CREATE TABLE bad_out WITH ('connector' = 'Console'); INSERT INTO bad_out SELECT * FROM BAD",
            "",
            'Console { plugin_input = "bad", plugin_output = "bad_out" }',
            id="an output that an INSERT reads",
        ),
        pytest.param(
            "CREATE VIEW why AS SELECT _reason FROM bad;"
            "CREATE TABLE reasons WITH ('connector' = 'Console'); INSERT INTO reasons SELECT * FROM why",
            'Sql { plugin_input = "bad", plugin_output = "why", query = "SELECT _reason FROM bad" }',
            'Console { plugin_input = "why", plugin_output = "reasons" }',
            id="an output that a view reads",
        ),
    ],
)
def test_rows_of_unknown_tables_are_quarantined_as_in_hocon(tmp_path, script, transform, sink):
    assert of_script(tmp_path, script) == of_hocon(tmp_path, transform, sink)


def test_two_routes_are_quarantined_in_one_table(tmp_path):
    again = ROUTE[ROUTE.index("CREATE VIEW") : ROUTE.index("CREATE TABLE good")].replace("VIEW crm", "VIEW other")
    sinks = "CREATE TABLE more WITH ('connector' = 'Console'); INSERT INTO more SELECT * FROM other"
    plan = of_script(tmp_path, f"{again}; {sinks}; CREATE TABLE bad WITH ('connector' = 'Console')")
    assert "rows of `crm_checked` that break" in plan
    assert "rows of `other_checked` that break" in plan


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ("", "PEN2009 nothing reads `bad`: its rows are lost (line 5)"),
        ("CREATE VIEW bad AS SELECT 1 AS n", "PEN2007 `bad` is a view: no rows can go into it (line 5)"),
    ],
)
def test_an_output_that_takes_no_rows_is_reported(tmp_path, more, error):
    (tmp_path / "job.sql").write_text(ROUTE + more)
    assert error in compiled(tmp_path / "job.sql")[1]


@pytest.mark.parametrize("mostly", ["", ", mostly = 0.9"], ids=["constraint", "option"])
@pytest.mark.parametrize(
    ("transform", "sinks"),
    [
        ("", sink("ill") + sink("bad")),
        ("", sink("ill") + 'LocalFile { plugin_input = "BAD", path = "/o/x", file_format_type = csv }'),
        ("", sink("ill", "a") + sink("bad", "b")),
        ("", sink("bad", "a") + sink("bad", "b") + sink("ill")),
        (
            'Filter { plugin_input = "bad", plugin_output = "few", condition = "id > 3" }\n'
            'Sql { plugin_input = "ill", plugin_output = "why", query = "select _reason from ill" }',
            sink("few", "a") + sink("why", "b"),
        ),
    ],
    ids=["console", "file", "named sinks", "two sinks", "transforms"],
)
def test_converted_jobs_keep_their_quarantined_rows(tmp_path, mostly, transform, sinks):
    (tmp_path / "job.conf").write_text(HOCON % (RULES % mostly, transform, sinks))
    plan = explained(tmp_path / "job.conf")
    for before, after in (("job.conf", "converted.sql"), ("converted.sql", "back.conf")):
        diagnostics = Diagnostics()
        (tmp_path / after).write_text(convert(tmp_path / before, diagnostics))
        assert not list(diagnostics)
        assert explained(tmp_path / after) == plan
