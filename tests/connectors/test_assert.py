"""The Assert sink: each rule kept and broken, and a broken rule fails the job before anything is committed."""

import pytest

import connectors
from catalog.diagnostics import Diagnostics, RunError
from connectors.assert_ import connector
from tests.connectors.jobs import options_of, rows, run_writes, write

QUERY = "select id, if(id = 2, null, concat('n', id)) name, array(id) list from range(4)"
COLUMNS = ("id bigint", "name string", "list array<bigint>")


def field(name, **rule):
    return {"field_rules": [{"field_name": name, "field_value": [rule]}]}


@pytest.mark.parametrize("value", ["two", True, [1]])
def test_a_bound_that_is_no_number_is_refused(value):
    diagnostics = Diagnostics()
    scan = rows(QUERY, *COLUMNS)
    connector.validate(
        options_of(connector.sink_options, rules=field("id", rule_type="MIN", rule_value=value)),
        scan.table,
        diagnostics,
    )
    assert [each.code for each in diagnostics] == ["PEN2004"]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("rules", "broken"),
    [
        ({"row_rules": [{"rule_type": "MIN_ROW", "rule_value": 4}, {"rule_type": "MAX_ROW", "rule_value": 4}]}, []),
        ({"row_rules": [{"rule_type": "MIN_ROW", "rule_value": 5}]}, ["MIN_ROW 5: there are 4 rows"]),
        ({"row_rules": [{"rule_type": "MAX_ROW", "rule_value": 3}]}, ["MAX_ROW 3: there are 4 rows"]),
        (field("id", rule_type="NOT_NULL"), []),
        (field("name", rule_type="NOT_NULL"), ["`name` NOT_NULL: 1 of 4 rows break it"]),
        (field("name", rule_type="NULL"), ["`name` NULL: 3 of 4 rows break it, the first of them `n0`"]),
        (field("id", rule_type="MIN", rule_value=0), []),
        (field("id", rule_type="MIN", rule_value=2), ["`id` MIN 2: 2 of 4 rows break it, the first of them `0`"]),
        (field("id", rule_type="MAX", rule_value=2.5), ["`id` MAX 2.5: 1 of 4 rows break it, the first of them `3`"]),
        (field("name", rule_type="MIN_LENGTH", rule_value=2), []),
        (
            field("name", rule_type="MAX_LENGTH", rule_value=1),
            ["`name` MAX_LENGTH 1: 3 of 4 rows break it, the first of them `n0`"],
        ),
        (field("id", equals_to=1), ["`id` EQUALS_TO 1: 3 of 4 rows break it, the first of them `0`"]),
        (field("list", equals_to=[0]), ["`list` EQUALS_TO [0]: 3 of 4 rows break it, the first of them `[1]`"]),
        ({"condition_rules": [{"condition": "id < 4 -- all"}]}, []),
        ({"condition_rules": [{"condition": "id % 2 = 0"}]}, ["`id % 2 = 0` holds for all rows: 2 of 4 rows break it"]),
        (
            {**field("id", rule_type="MIN", rule_value=1), "row_rules": [{"rule_type": "MIN_ROW", "rule_value": 9}]},
            ["MIN_ROW 9: there are 4 rows", "`id` MIN 1: 1 of 4 rows break it, the first of them `0`"],
        ),
    ],
)
def test_rules(spark, tmp_path, rules, broken):
    scan = rows(QUERY, *COLUMNS)
    local_file = connectors.sink("LocalFile")
    job = [
        write(local_file, scan, "file", path=str(tmp_path / "out"), file_format_type="parquet"),
        write(connector, scan, "assert", rules=rules),
    ]
    if not broken:
        run_writes(spark, job, str(tmp_path / "state"), "run")
        assert spark.read.parquet(str(tmp_path / "out")).count() == 4
        return
    with pytest.raises(RunError) as caught:
        run_writes(spark, job, str(tmp_path / "state"), "run")
    assert [each.message for each in caught.value.diagnostics] == broken
    assert {each.code for each in caught.value.diagnostics} == {"PEN5006"}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["state"]


@pytest.mark.parametrize(
    ("rules", "codes"),
    [
        (field("nome", rule_type="NOT_NULL"), ["PEN3004"]),
        (field("id", rule_type="NOTNULL"), ["PEN2004"]),
        (field("id", rule_type="MIN"), ["PEN2005"]),
        ({"row_rules": [{"rule_type": "MAXROW", "rule_value": 1}]}, ["PEN2004"]),
        ({"row_rules": [{"rule_type": "MAX_ROW"}]}, ["PEN2004"]),
        ({"row_rule": []}, ["PEN2003"]),
        ({"field_rules": [{"field_name": "id", "field_type": "string", "field_value": []}]}, ["PEN4003"]),
        ({"field_rules": [{"field_name": "id", "field_type": "strng", "field_value": []}]}, ["PEN4001"]),
        ({"condition_rules": [{}]}, ["PEN2005"]),
    ],
)
def test_errors_of_rules(rules, codes):
    diagnostics = Diagnostics()
    connector.validate(options_of(connector.sink_options, rules=rules), rows(QUERY, *COLUMNS).table, diagnostics)
    assert [each.code for each in diagnostics] == codes
