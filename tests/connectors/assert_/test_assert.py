"""The Assert sink: each rule kept and broken, and a broken rule fails the job before anything is committed."""

from dataclasses import replace

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.options import SeaTunnel
from catalog.tables.table import (
    CatalogTable,
    Column,
    ConstraintKey,
    ConstraintType,
    PrimaryKey,
    TablePath,
    TableSchema,
)
from catalog.types.datatypes import BIGINT, STRING
from catalog.types.typenames import parse_type
from connectors.assert_.connector import connector
from connectors.assert_.equality import equals
from connectors.assert_.read_rules import read_rules
from connectors.shared.literals import literal
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, write

NOT_NULL = [{"rule_type": "NOT_NULL"}]
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
        (
            field("name", rule_type="MIN_LENGTH", rule_value=2),  # NULL has no character
            ["`name` MIN_LENGTH 2: 1 of 4 rows break it, the first of them `NULL`"],
        ),
        (field("name", rule_type="MAX_LENGTH", rule_value=2), []),
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
        ({"field_rules": [{"field_name": "id", "field_type": "string", "field_value": NOT_NULL}]}, ["PEN4003"]),
        ({"field_rules": [{"field_name": "id", "field_type": "strng", "field_value": NOT_NULL}]}, ["PEN4001"]),
        ({"condition_rules": [{}]}, ["PEN2005"]),
        ({}, ["PEN2005"]),
        ({"field_rules": [{"field_name": "id", "field_value": []}]}, ["PEN2005"]),
        ({"field_rules": [{"field_name": "id", "field_value": [{}]}]}, ["PEN2005"]),
        ({"field_rules": {"field_name": "id"}}, ["PEN2004"]),
        (field("id", rule_type="NOT_NULL", rule_valeu=1), ["PEN2003"]),
        ({"row_rules": [{"rule_type": "MIN_ROW", "rule_value": 1, "field": 2}]}, ["PEN2003"]),
        (field("name", rule_type="MAX", rule_value=3), ["PEN4003"]),
        (field("id", equals_to="three"), ["PEN2004"]),
        ({"table-names": ["others"]}, ["PEN5006"]),
        ({"table-names": ["rows"]}, []),
        (
            {"tables_configs": [{"table_path": "rows", **field("nome", rule_type="NULL")}, {"table_path": "b"}]},
            ["PEN3004"],
        ),
        ({"tables_configs": [{"row_rules": []}]}, ["PEN2005"]),
    ],
)
def test_errors_of_rules(rules, codes):
    diagnostics = Diagnostics()
    connector.validate(options_of(connector.sink_options, rules=rules), rows(QUERY, *COLUMNS).table, diagnostics)
    assert [each.code for each in diagnostics] == codes


TABLE = CatalogTable(
    TablePath("orders", None, "shop"),
    TableSchema(
        (Column("id", BIGINT, nullable=False), Column("name", STRING, length=10, comment="who")),
        PrimaryKey(("id",), "pk"),
        (ConstraintKey("unique_name", ConstraintType.UNIQUE_KEY, (("name", "ASC"),)),),
    ),
)
UNIQUE = {
    "constraint_key_name": "unique_name",
    "constraint_key_type": "UNIQUE_KEY",
    "constraint_key_columns": [{"constraint_key_column_name": "name", "constraint_key_sort_type": "ASC"}],
}
ID = {"name": "id", "type": "bigint", "nullable": False}
NAME = {"name": "name", "type": "string", "column_length": 10, "comment": "who"}


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"primary_key_rule": {"primary_key_name": "pk", "primary_key_columns": ["id"]}}, None),
        (
            {"primary_key_rule": {"primary_key_name": "key"}},
            "the primary key of `shop.orders` is named `pk`, not `key`",
        ),
        (
            {"primary_key_rule": {"primary_key_columns": ["name"]}},
            "the primary key of `shop.orders` is `id`, not `name`",
        ),
        ({"constraint_key_rule": [UNIQUE]}, None),
        (
            {"constraint_key_rule": [{**UNIQUE, "constraint_key_type": "INDEX_KEY"}]},
            "the constraint keys of `shop.orders` are unique_name UNIQUE_KEY (`name`), not those of the rule",
        ),
        ({"column_rule": [ID, NAME]}, None),
        ({"column_rule": [ID]}, "`shop.orders` has further columns: `name`"),
        ({"column_rule": [{**ID, "type": "int"}, NAME]}, "the column `id` is bigint, not int"),
        ({"column_rule": [{**ID, "nullable": True}, NAME]}, "the column `id` is not nullable"),
        ({"column_rule": [ID, {**NAME, "column_length": 11}]}, "the column_length of the column `name` is 10, not 11"),
        ({"column_rule": [ID, NAME, {"name": "x", "type": "int"}]}, "`shop.orders` has no column `x`"),
        ({"table_identifier_rule": {"catalog_name": "any", "table": "shop.orders"}}, None),
        ({"table_identifier_rule": {"table": "orders"}}, "the table is `shop.orders`, not `orders`"),
    ],
)
def test_rules_of_the_schema_are_checked_without_rows(rule, problem):
    diagnostics = Diagnostics()
    connector.validate(options_of(connector.sink_options, rules={"catalog_table_rule": rule}), TABLE, diagnostics)
    assert [(each.code, each.message) for each in diagnostics] == ([] if problem is None else [("PEN5006", problem)])


def test_under_seatunnel_unknown_keys_are_warned_of_and_null_is_equal_to_everything():
    rules = {"rule_ruls": [], **field("id", rule_type="NOT_NULL", equals_to=1, note="x")}
    options = replace(options_of(connector.sink_options, rules=rules), seatunnel=SeaTunnel())
    diagnostics = Diagnostics()
    connector.validate(options, rows(QUERY, *COLUMNS).table, diagnostics)
    assert [(each.code, each.severity.value) for each in diagnostics] == [("PEN2003", "warning")] * 2
    kept = [each.keeps for each in read_rules(options, rows(QUERY, *COLUMNS).table, diagnostics)]
    assert kept == ["`id` is not null", "(`id` is null or `id` <=> cast(1 as bigint))"]


NESTED = "map<string,struct<a:int,b:map<int,date>>>"
NESTED_VALUE = {"k": {"a": 1, "b": {"2": "2024-02-03", "1": "2024-01-02"}}, "l": None}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("value", "is_equal"),
    [
        (NESTED_VALUE, True),
        ({**NESTED_VALUE, "l": [1, None]}, False),
        ({"k": {"a": 1, "b": {"1": "2024-01-02"}}, "l": None}, False),
    ],
)
def test_maps_in_structs_in_maps_are_compared(spark, value, is_equal):
    type = parse_type(NESTED)
    row = spark.sql(f"select {literal(NESTED_VALUE, type)} as m").selectExpr(equals("m", literal(value, type), type))
    assert row.first()[0] is is_equal
