"""A job with errors still has the plan of its intact blocks, as an editor needs it while it is being written."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.compile import build_text, compile_text
from engine.job.model.settings import Settings
from engine.plan.rendering.explain_text import explain

HOCON = """
env { job.name = "several" }
source {
  FakeSource { plugin_output = orders, schema { fields { id = bigint, name = string } } }
  FakeSource { plugin_output = wrong_type, schema { fields { id = bigintt } } }
  FakeSauce { plugin_output = no_connector }
}
transform {
  Sql { plugin_input = orders, plugin_output = intact, query = "select id, upper(name) as name from orders" }
  Sql { plugin_input = orders, plugin_output = wrong, query = "select nope from orders" }
  Sql { plugin_input = orders, plugin_output = unparsed, query = "select from where" }
  Sql { plugin_input = no_connector, plugin_output = above, query = "select id from no_connector" }
}
sink {
  LocalFile { plugin_input = intact, path = "out/intact", file_format_type = parquet }
  LocalFile { plugin_input = wrong, path = "out/wrong", file_format_type = parquet }
  LocalFile { plugin_input = above, path = "out/above", file_format_type = parquet }
  LocalFile { plugin_input = intact, file_format_type = parquet }
  Console { plugin_input = missing }
}
"""
OF_HOCON = """\
write intact_out: LocalFile path=out/intact file_format_type=parquet
│  CREATE_SCHEMA_WHEN_NOT_EXIST, APPEND_DATA, append
└─ intact: Sql
   │  select id, upper(name) as name from orders
   └─ orders: FakeSource
"""
SQL = """
CREATE TABLE orders (id BIGINT, name STRING) WITH (connector = 'FakeSource');
CREATE TABLE wrong_type (id BIGINTT) WITH (connector = 'FakeSource');
CREATE TABLE intact (id BIGINT)
  WITH (connector = 'LocalFile', path = 'out/intact', file_format_type = 'parquet', type = 'sink');
CREATE TABLE wrong WITH (connector = 'LocalFile', path = 'out/wrong', file_format_type = 'parquet', type = 'sink');
INSERT INTO wrong SELECT nope FROM orders;
INSERT INTO intact SELECT id FROM orders;
INSERT INTO wrong SELECT FROM WHERE;
"""
OF_SQL = """\
write intact: LocalFile path=out/intact file_format_type=parquet
│  CREATE_SCHEMA_WHEN_NOT_EXIST, APPEND_DATA, append
└─ intact_rows: Sql
   │  SELECT CAST(`id` AS BIGINT) AS `id` FROM (SELECT * FROM (SELECT id FROM orders) AS `intact`(`id`))
   └─ orders: FakeSource
"""


@pytest.mark.parametrize(
    ("name", "text", "plan", "lines"),
    [
        ("job.conf", HOCON, OF_HOCON, {5, 6, 10, 11, 18, 19}),
        ("job.sql", SQL, OF_SQL, {3, 7, 9}),
        # a query that is being typed
        (
            "job.conf",
            HOCON.replace("select id, upper(name) as name", "select id, upp"),
            None,
            {5, 6, 9, 10, 11, 18, 19},
        ),
        # a value that is being typed: this block cannot be read, the others can
        ("job.conf", HOCON.replace('"out/intact"', ""), None, {5, 6, 10, 11, 15, 18}),
    ],
)
def test_each_error_is_reported_and_the_intact_blocks_have_a_plan(name, text, plan, lines):
    diagnostics = Diagnostics()
    built = build_text(SourceFile(name, text), Settings(), diagnostics)
    assert built is not None
    assert {item.span.line for item in diagnostics} >= lines
    if plan is not None:
        assert explain(built.plan) == plan
    else:
        assert built.plan.writes == ()
        assert "orders: FakeSource" in explain(built.plan)
    assert compile_text(SourceFile(name, text), Settings(), Diagnostics()) is None


@pytest.mark.parametrize(("name", "text"), [("job.sql", "SELECT 'not closed"), ("job.conf", '"not closed')])
def test_text_of_which_nothing_can_be_read_has_no_plan_or_an_empty_one(name, text):
    diagnostics = Diagnostics()
    built = build_text(SourceFile(name, text), Settings(), diagnostics)
    assert built is None or built.plan.writes == ()
    assert diagnostics.has_errors
