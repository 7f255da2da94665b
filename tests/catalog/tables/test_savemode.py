"""The save-mode table, row by row."""

import itertools

import pytest

from catalog.tables.savemode import (  # fmt: skip
    FAILURES,
    Action,
    DataSaveMode,
    SchemaSaveMode,
    TargetState,
    WriteMode,
    contradiction,
    plan_actions,
)

MISSING, EMPTY, ROWS = TargetState(False), TargetState(True), TargetState(True, has_rows=True)

# schema mode: target missing, target there (rows are appended)
SCHEMA_TABLE = """
RECREATE_SCHEMA              | CREATE ADD_ROWS           | DROP_AND_CREATE ADD_ROWS
CREATE_SCHEMA_WHEN_NOT_EXIST | CREATE ADD_ROWS           | KEEP ADD_ROWS
ERROR_WHEN_SCHEMA_NOT_EXIST  | FAIL_MISSING              | KEEP ADD_ROWS
IGNORE                       | NO_SCHEMA_CHANGE ADD_ROWS | NO_SCHEMA_CHANGE ADD_ROWS
"""

# data mode: target missing, there and empty, there with rows (the default schema mode; rows are appended)
DATA_TABLE = """
DROP_DATA              | CREATE ADD_ROWS                | KEEP REPLACE_ROWS            | KEEP REPLACE_ROWS
APPEND_DATA            | CREATE ADD_ROWS                | KEEP ADD_ROWS                | KEEP ADD_ROWS
CUSTOM_PROCESSING      | CREATE RUN_CUSTOM_SQL ADD_ROWS | KEEP RUN_CUSTOM_SQL ADD_ROWS | KEEP RUN_CUSTOM_SQL ADD_ROWS
ERROR_WHEN_DATA_EXISTS | CREATE ADD_ROWS                | KEEP ADD_ROWS                | FAIL_HAS_ROWS
"""

# data mode under RECREATE_SCHEMA, target there with rows
RECREATE_TABLE = """
DROP_DATA              | DROP_AND_CREATE ADD_ROWS
APPEND_DATA            | DROP_AND_CREATE ADD_ROWS
CUSTOM_PROCESSING      | DROP_AND_CREATE RUN_CUSTOM_SQL ADD_ROWS
ERROR_WHEN_DATA_EXISTS | FAIL_HAS_ROWS
"""

# write mode: target there with rows, data mode APPEND_DATA, then DROP_DATA
WRITE_TABLE = """
append               | KEEP ADD_ROWS           | KEEP REPLACE_ROWS
upsert               | KEEP UPSERT_ROWS        | KEEP REPLACE_ROWS
overwrite_partitions | KEEP REPLACE_PARTITIONS | KEEP REPLACE_ROWS
"""


def rows(table):
    """(first cell, number of the cell, the actions in it), for every cell."""
    found = []
    for line in table.strip().splitlines():
        name, *cells = (cell.strip() for cell in line.split("|"))
        for at, cell in enumerate(cells):
            found.append(pytest.param(name, at, tuple(Action[word] for word in cell.split()), id=f"{name}-{at}"))
    return found


CREATE, APPEND, ADD = SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, DataSaveMode.APPEND_DATA, WriteMode.APPEND


@pytest.mark.parametrize(("mode", "at", "actions"), rows(SCHEMA_TABLE))
def test_schema_modes(mode, at, actions):
    for state in [MISSING] if at == 0 else [EMPTY, ROWS]:
        assert plan_actions(SchemaSaveMode(mode), APPEND, ADD, state) == actions


@pytest.mark.parametrize(("mode", "at", "actions"), rows(DATA_TABLE))
def test_data_modes(mode, at, actions):
    assert plan_actions(CREATE, DataSaveMode(mode), ADD, [MISSING, EMPTY, ROWS][at]) == actions


@pytest.mark.parametrize(("mode", "at", "actions"), rows(RECREATE_TABLE))
def test_data_modes_where_the_target_is_recreated(mode, at, actions):
    assert plan_actions(SchemaSaveMode.RECREATE_SCHEMA, DataSaveMode(mode), ADD, ROWS) == actions


@pytest.mark.parametrize(("mode", "at", "actions"), rows(WRITE_TABLE))
def test_write_modes(mode, at, actions):
    data_mode = [APPEND, DataSaveMode.DROP_DATA][at]
    assert plan_actions(CREATE, data_mode, WriteMode(mode), ROWS) == actions


def test_every_combination_either_fails_alone_or_writes_last():
    writing = {
        Action.ADD_ROWS,
        Action.UPSERT_ROWS,
        Action.REPLACE_PARTITIONS,
        Action.REPLACE_ROWS,
        Action.REPLACE_MATCHING,
        Action.ADD_VERSIONS,
        Action.APPLY_CHANGES,
    }
    for modes in itertools.product(SchemaSaveMode, DataSaveMode, WriteMode, [MISSING, EMPTY, ROWS]):
        actions = plan_actions(*modes)
        if any(action in FAILURES for action in actions):
            assert len(actions) == 1
        else:
            assert actions[-1] in writing
            assert not writing & set(actions[:-1])


def test_contradiction():
    assert "only some of them" in contradiction(DataSaveMode.DROP_DATA, WriteMode.OVERWRITE_PARTITIONS)
    assert contradiction(DataSaveMode.DROP_DATA, WriteMode.UPSERT) is None
