"""Whether a plan is the piece of work that a run has committed, and what differs if it is not."""

import json

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.compile import compile_text
from engine.job.model.settings import Settings
from engine.plan.meaning.plan_record import PlanRecord, listed

JOB = """
source {
  LocalFile { plugin_output = orders, path = "orders", file_format_type = csv, schema { fields { id = int, n = int } } }
}
transform { Sql { plugin_input = [orders], plugin_output = big, query = "select id, n from orders where n > 1" } }
sink {
  LocalFile { plugin_input = [big], plugin_output = one, path = "one", file_format_type = json }
  LocalFile { plugin_input = [orders], plugin_output = two, path = "two", file_format_type = json }
}
"""

DIFFERENCES = {
    "n > 1": ("n > 2", "the query of `big`"),
    '"orders"': ('"other"', "`path` of `orders`"),
    "file_format_type = csv": (
        "file_format_type = csv, field_delimiter = ';'",
        "`field_delimiter` of `orders`",
    ),
    'path = "one"': ('path = "three"', "`path` of `one`"),
    "file_format_type = json }": ("file_format_type = orc }", "`file_format_type` of `one`"),
    '"two", file': ('"two", data_save_mode = DROP_DATA, file', "the modes of `two`"),
    "source {": ("env { spark.sql.mapKeyDedupPolicy = LAST_WIN }\nsource {", "settings of Spark SQL"),
}

SAME = {
    "where n > 1": "WHERE  n > 1 -- only these",
    "select id, n from orders": "select o.id, o.n from orders o",
    "sink {": "# where they go\nsink {",
    "source {": "env { parallelism = 7, spark.sql.shuffle.partitions = 3 }\nsource {",
}


def record(text: str, **settings) -> PlanRecord:
    found = Diagnostics()
    compiled = compile_text(SourceFile("job.conf", text), Settings(**settings), found)
    assert compiled is not None, [str(item) for item in found]
    return PlanRecord.from_json(json.loads(json.dumps(compiled.meaning.to_json())))


def ids(record: PlanRecord, *names: str) -> set[str]:
    return {key for key, write in record.writes.items() if not names or write.name in names}


@pytest.mark.parametrize("before", DIFFERENCES)
def test_an_edit_of_a_committed_plan_is_named(before):
    after, difference = DIFFERENCES[before]
    then = record(JOB)
    assert record(JOB.replace(before, after, 1)).conflicts(then, ids(then)) == tuple(difference.split(" and "))


@pytest.mark.parametrize("before", SAME)
def test_a_plan_that_means_the_same_is_written(before):
    then, now = record(JOB), record(JOB.replace(before, SAME[before], 1))
    assert JOB.replace(before, SAME[before], 1) != JOB
    assert now.conflicts(then, ids(then)) == ()
    assert set(now.written(then, ids(then))) == ids(now)


def test_the_rest_of_a_plan_of_which_a_part_is_committed_may_change():
    then, edited = record(JOB), record(JOB.replace("n > 1", "n > 2"))
    assert edited.conflicts(then, ids(then, "two")) == ()
    assert set(edited.written(then, ids(then, "two"))) == ids(edited, "two")
    assert edited.conflicts(then, ids(then, "one")) == ("the query of `big`",)
    assert edited.with_earlier(then, ids(then, "two")).writes.keys() == ids(edited) | ids(then, "two")


def test_a_sink_that_is_added_to_a_committed_plan_or_removed_is_named():
    whole, less = record(JOB), record(JOB.replace(JOB[JOB.index("  LocalFile { plugin_input = [orders]") : -2], ""))
    assert whole.conflicts(less, ids(less)) == ("`two` (added)",)
    assert less.conflicts(whole, ids(whole)) == ("`two` (removed)",)


def test_chosen_sinks_are_parts_of_one_piece_of_work():
    one, two, whole = record(JOB, only=("one",)), record(JOB, only=("two",)), record(JOB)
    assert (one.is_part, whole.is_part) == (True, False)
    assert two.conflicts(one, ids(one)) == ()
    assert whole.conflicts(one, ids(one)) == ()
    assert set(whole.written(one, ids(one))) == ids(whole, "one")
    assert record(JOB.replace("n > 1", "n > 2"), only=("one",)).conflicts(one, ids(one)) == ("the query of `big`",)


def test_equal_writes_are_counted():
    twice = JOB.replace("sink {", 'sink { LocalFile { plugin_input = [orders], path = "two", file_format_type = json }')
    then = record(JOB)
    now = record(twice.replace("plugin_output = two,", ""))
    assert len(now.written(then, ids(then))) == 2


def test_many_differences_are_counted():
    assert listed(["`a`", "`b`"]) == "`a`, `b`"
    assert listed(["`a`", "`b`", "`c`", "`d`", "`e`"]) == "`a`, `b`, `c` and 2 more"
