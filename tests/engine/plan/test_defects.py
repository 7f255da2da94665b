"""Defects of a job in HOCON, one at a time and seven in one query: one diagnostic each, with its exact range.

What a diagnostic must point at stands between « and », which are taken out before the job is read.
"""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job

JOB = '''\
env { job.name = "defects"%(env)s }
source {
  FakeSource { plugin_output = "orders", row.num = 1, schema { fields {
    id = bigint, customer = bigint, state = string, tags = "array<string>", place = { city = string } } } }
  FakeSource { plugin_output = "customers", row.num = 1, schema { fields { id = bigint, name = string } } }
}
transform {
  Sql { plugin_input = ["orders", "customers"], plugin_output = "made", query = """
    -- a comment, so that the offset of a place is not that of its line
%(query)s
  """ }
}
sink { LocalFile { plugin_input = "made", path = "out", file_format_type = "json"%(sink)s } }
'''

QUERIES = {
    "unknown column": ("PEN3004", "    select o.id,\n           o.«stat» from orders o"),
    "ambiguous column": ("PEN3003", "    select «id» from orders o\n      join customers c on o.customer = c.id"),
    "bigint + array": ("PEN3008", "    select state,\n           id + «tags» as x from orders"),
    "unknown function": ("PEN3006", "    select «uper(state)» as x\n    from orders"),
    "bad arity": ("PEN3007", "    select «upper(state, 'x')» as x from orders"),
    "missing GROUP BY": (
        "PEN3009",
        "    select state,\n      «customer»,\n      count(*) as n from orders group by state",
    ),
    "UNION of unlike width": (
        "PEN3010",
        "    select id from orders\n    union all\n    select «id», name from customers",
    ),
    "unknown field of a struct": ("PEN3005", "    select id, place.«town» from orders"),
    "doubled comma": ("PEN3001", "    select id,«,» state from orders"),
    "unknown table": ("PEN3002", "    select o.id\n    from «ordres» o"),
    "undefined variable": ("PEN1003", "    select id from orders where state = '«${no_such}»'"),
}
OPTIONS = {
    "sink that can't do the mode": ("PEN4004", {"sink": ', write_mode = «"upsert"»'}),
    "static setting of Spark": ("PEN2014", {"env": ', «spark.sql.warehouse.dir» = "x"'}),
}
SEVEN = """\
    select o.«stat», «uper(o.state)» as a, o.place.«town»,
      «id»,
      o.id + «o.tags» as b,
      «upper(o.state, 'x')» as c
    from orders o join customers c on o.customer = c.«idd»"""


def _marked(text):
    """The text without marks, and the ranges that they enclosed: line, column, end line, end column, from 1."""
    ranges, plain, line, column = [], "", 1, 1
    for character in text:
        if character == "«":
            ranges.append((line, column))
        elif character == "»":
            ranges[-1] += (line, column)
        else:
            plain += character
            line, column = (line + 1, 1) if character == "\n" else (line, column + 1)
    return plain, ranges


def _found(tmp_path, text):
    plain, ranges = _marked(text)
    path = tmp_path / "job.conf"
    path.write_text(plain)
    diagnostics = Diagnostics()
    assert compile_job(path, Settings(), diagnostics) is None
    spans = [each.span for each in diagnostics]
    places = [(span.line, span.column, span.end_line, span.end_column) for span in spans]
    return [each.code for each in diagnostics], places, ranges


def _job(query="    select id from orders", env="", sink=""):
    return JOB % {"query": query, "env": env, "sink": sink}


@pytest.mark.parametrize(("code", "query"), QUERIES.values(), ids=QUERIES)
def test_a_defect_of_a_query(tmp_path, code, query):
    codes, places, ranges = _found(tmp_path, _job(query))
    assert codes == [code]
    assert places == ranges


@pytest.mark.parametrize(("code", "options"), OPTIONS.values(), ids=OPTIONS)
def test_a_defect_of_an_option(tmp_path, code, options):
    codes, places, ranges = _found(tmp_path, _job(**options))
    assert codes == [code]
    assert places == ranges


def test_seven_defects_of_one_query(tmp_path):
    codes, places, ranges = _found(tmp_path, _job(SEVEN))
    assert codes == ["PEN3004", "PEN3006", "PEN3005", "PEN3003", "PEN3008", "PEN3007", "PEN3004"]
    assert places == ranges
