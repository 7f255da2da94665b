"""The statements that `explain --connect` shows for tables of Delta, Iceberg and Paimon, without Spark."""

from dataclasses import replace

import pytest

import connectors
from catalog.options import Options
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, TargetState, WriteMode, plan_actions
from catalog.tables.table import CatalogTable, Column
from catalog.types.typenames import parse_type
from connectors.iceberg.statements import planned as planned_iceberg
from connectors.interface.run_context import RunContext
from connectors.interface.sink import WriteTask

ADDRESSES = {
    "Delta": {"path": "/d/t"},
    "Iceberg": {"warehouse": "/d", "table": "db.t"},
    "Paimon": {"warehouse": "/d", "table": "db.t"},
}
NAMES = {"Delta": "delta.`/d/t`", "Iceberg": "iceberg.`/d`.`db`.`t`", "Paimon": "paimon.`/d/db.db/t`"}
FORMATS = ("Delta", "Iceberg", "Paimon")


def table(*columns, comment=None):
    parts = [column.split(" ", 1) for column in columns]
    made = CatalogTable.of("t", [Column(name, parse_type(type)) for name, type in parts])
    return replace(made, comment=comment)


ROWS = table("id bigint", "select string", "day date")


def statements(kind, rows=ROWS, there=None, **given):
    """`there`: the columns of a table that exists."""
    sink = connectors.sink(kind)
    values = {option.name: option.default for option in sink.sink_options} | ADDRESSES[kind] | given
    task = WriteTask(
        Options(values),
        rows,
        SchemaSaveMode(values["schema_save_mode"]),
        DataSaveMode(values["data_save_mode"]),
        WriteMode(values["write_mode"] or "append"),
        RunContext("run", "4.1.4"),
        "w",
    )
    state = TargetState(False) if there is None else TargetState(True, True, there)
    actions = plan_actions(task.schema_save_mode, task.data_save_mode, task.write_mode, state)
    return sink.statements(None, task, state, actions)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_new_table_is_created_with_its_comments_and_partitions(kind):
    day = Column("day", parse_type("date"), nullable=False, comment="it's the day")
    rows = replace(CatalogTable.of("t", [*ROWS.columns[:2], day]), comment="all orders")
    create, add = statements(kind, rows, partition_by=["day"], table_properties={"a": "b"})
    using = "" if kind == "Paimon" else f" USING {kind.lower()}"
    bucket = "'bucket' = '-1', " if kind == "Paimon" else ""
    assert create == (
        f"CREATE TABLE {NAMES[kind]} (`id` bigint, `select` string, `day` date COMMENT 'it\\'s the day'){using} "
        f"PARTITIONED BY (`day`) COMMENT 'all orders' TBLPROPERTIES ({bucket}'a' = 'b')"
    )
    assert add == f"one {'transaction' if kind == 'Delta' else 'snapshot'}: add the staged data files"


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_is_made_anew(kind):
    found = statements(kind, there=table("old int"), schema_save_mode="RECREATE_SCHEMA")
    assert found[0].startswith(f"CREATE OR REPLACE TABLE {NAMES[kind]} (`id` bigint")


@pytest.mark.parametrize("kind", FORMATS)
def test_columns_are_added_only_where_the_evolution_allows_it(kind):
    there = table("id bigint")
    assert statements(kind, there=there, schema_evolution="add_columns")[0] == (
        f"ALTER TABLE {NAMES[kind]} ADD COLUMNS (`select` string, `day` date)"
    )
    assert not [text for text in statements(kind, there=there) if text.startswith("ALTER")]


@pytest.mark.parametrize("kind", ["Delta", "Iceberg"])
def test_columns_are_widened(kind):
    there = table("ID int", "select string", "day date")
    found = statements(kind, there=there, schema_evolution="widen")
    assert found[0] == f"ALTER TABLE {NAMES[kind]} ALTER COLUMN `ID` TYPE bigint"
    assert len(found) == 2


@pytest.mark.parametrize("kind", ["Delta", "Iceberg"])
@pytest.mark.parametrize("mode", ["upsert", "scd2", "changelog"])
def test_a_merge_is_shown_as_it_is_run(kind, mode):
    *before, merge = statements(kind, there=ROWS, write_mode=mode, primary_keys=["select"], delete_condition="false")
    assert merge.startswith(f"MERGE INTO {NAMES[kind]} AS t USING")
    assert "t.`select` = s.`select`" in merge
    assert before == (["on a branch, which the commit publishes as one snapshot:"] if kind == "Iceberg" else [])


@pytest.mark.parametrize("kind", ["Delta", "Iceberg"])
def test_replaced_rows_are_named_by_their_condition(kind):
    deletion, addition = statements(kind, there=ROWS, write_mode="replace_where", replace_where="id > 1")
    assert deletion.startswith(f"DELETE FROM {NAMES[kind]} WHERE id > 1, in the same ")
    assert addition == "add the staged rows"


def test_transforms_and_the_sort_order_of_an_iceberg_table():
    given = {"partition_by": ["days(day)", "bucket(16, id)"], "sort_by": ["id desc nulls first", "`select`"]}
    create, order, _ = statements("Iceberg", **given)
    assert "PARTITIONED BY (days(`day`), bucket(16, `id`))" in create
    assert order == "ALTER TABLE iceberg.`/d`.`db`.`t` WRITE ORDERED BY `id` DESC NULLS FIRST, `select` ASC NULLS FIRST"


def test_an_iceberg_table_of_a_catalog_is_shown_by_its_name():
    sink = connectors.sink("Iceberg")
    values = {option.name: option.default for option in sink.sink_options} | {"table_path": "lake.`a b`.t"}
    modes = (SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, DataSaveMode.APPEND_DATA, WriteMode.APPEND)
    task, missing = WriteTask(Options(values), ROWS, *modes, RunContext("run", "4.1.4"), "w"), TargetState(False)
    create, _ = planned_iceberg(task, missing, plan_actions(*modes, missing))
    assert create.startswith("CREATE TABLE `lake`.`a b`.`t` (")
