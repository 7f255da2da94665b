"""Save modes, and the table of their actions by target state (save modes from Apache SeaTunnel, write modes
Penstock's)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from catalog.tables.table import CatalogTable


class SchemaSaveMode(str, Enum):
    RECREATE_SCHEMA = "RECREATE_SCHEMA"
    CREATE_SCHEMA_WHEN_NOT_EXIST = "CREATE_SCHEMA_WHEN_NOT_EXIST"
    ERROR_WHEN_SCHEMA_NOT_EXIST = "ERROR_WHEN_SCHEMA_NOT_EXIST"
    IGNORE = "IGNORE"


class DataSaveMode(str, Enum):
    DROP_DATA = "DROP_DATA"
    APPEND_DATA = "APPEND_DATA"
    CUSTOM_PROCESSING = "CUSTOM_PROCESSING"
    ERROR_WHEN_DATA_EXISTS = "ERROR_WHEN_DATA_EXISTS"


class WriteMode(str, Enum):
    APPEND = "append"
    UPSERT = "upsert"
    OVERWRITE_PARTITIONS = "overwrite_partitions"
    REPLACE_WHERE = "replace_where"
    SCD2 = "scd2"
    CHANGELOG = "changelog"

    @property
    def needs_key(self) -> bool:
        """Whether the target's rows are found by their key."""
        return self in (WriteMode.UPSERT, WriteMode.SCD2, WriteMode.CHANGELOG)


class Action(str, Enum):
    """A step of a commit; a commit runs its actions in the order of this list."""

    FAIL_MISSING = "fail: the target does not exist"
    FAIL_HAS_ROWS = "fail: the target holds rows"
    CREATE = "create the target"
    DROP_AND_CREATE = "drop the target and create it anew"
    KEEP = "keep the target's schema"
    NO_SCHEMA_CHANGE = "leave the target's schema alone"
    REPLACE_ROWS = "replace all rows"
    RUN_CUSTOM_SQL = "run custom_sql"
    ADD_ROWS = "add rows"
    REPLACE_PARTITIONS = "replace the partitions that the rows fall in"
    UPSERT_ROWS = "update the rows of equal key, insert the others"
    REPLACE_MATCHING = "replace the rows that replace_where selects"
    ADD_VERSIONS = "end the rows of equal key that changed, insert new versions of them"
    APPLY_CHANGES = "insert, update and delete rows by key, as their row kind says"


@dataclass(frozen=True, slots=True)
class TargetState:
    """The state of a target. `table`: its schema, if the target exists and its schema can be read.

    `is_known`: whether `exists` says anything; a sink that cannot ask says that there is no target. `incarnation`: what
    identifies the table as long as it is not dropped and created anew, for targets that have such an id.
    """

    exists: bool
    has_rows: bool = False
    table: CatalogTable | None = None
    is_known: bool = True
    incarnation: str | None = None


@dataclass(frozen=True, slots=True)
class WritePreview:
    """What a write finds at its target, and what its commit will do there.

    `statements` of the commit and `staging_statements`, which come before it, are in the words of the target (SQL),
    where its sink tells them.
    """

    state: TargetState
    actions: tuple["Action", ...]
    statements: tuple[str, ...] = ()
    staging_statements: tuple[str, ...] = ()


_SCHEMA_ACTIONS: Final[Mapping[SchemaSaveMode, tuple[Action, Action]]] = {
    # mode: target missing, target there
    SchemaSaveMode.RECREATE_SCHEMA: (Action.CREATE, Action.DROP_AND_CREATE),
    SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST: (Action.CREATE, Action.KEEP),
    SchemaSaveMode.ERROR_WHEN_SCHEMA_NOT_EXIST: (Action.FAIL_MISSING, Action.KEEP),
    SchemaSaveMode.IGNORE: (Action.NO_SCHEMA_CHANGE, Action.NO_SCHEMA_CHANGE),
}

_WRITE_ACTIONS: Final[Mapping[WriteMode, Action]] = {
    WriteMode.APPEND: Action.ADD_ROWS,
    WriteMode.UPSERT: Action.UPSERT_ROWS,
    WriteMode.OVERWRITE_PARTITIONS: Action.REPLACE_PARTITIONS,
    WriteMode.REPLACE_WHERE: Action.REPLACE_MATCHING,
    WriteMode.SCD2: Action.ADD_VERSIONS,
    WriteMode.CHANGELOG: Action.APPLY_CHANGES,
}

FAILURES: Final = (Action.FAIL_MISSING, Action.FAIL_HAS_ROWS)


def plan_actions(
    schema_mode: SchemaSaveMode, data_mode: DataSaveMode, write_mode: WriteMode, state: TargetState
) -> tuple[Action, ...]:
    """The actions of a commit, in order: one on the schema, then those on the rows; or one of `FAILURES` alone.

    `ERROR_WHEN_DATA_EXISTS` fails on rows even if the schema mode would drop them: the user asked for that guard.
    `DROP_DATA` replaces the rows of every target that is kept, even one that was empty when it was inspected: rows may
    arrive before the commit. `CUSTOM_PROCESSING` runs its SQL whatever the target holds, as Apache SeaTunnel does.
    """
    on_schema = _SCHEMA_ACTIONS[schema_mode][state.exists]
    if on_schema in FAILURES:
        return (on_schema,)
    write = _WRITE_ACTIONS[write_mode]
    match data_mode:
        case DataSaveMode.APPEND_DATA:
            return on_schema, write
        case DataSaveMode.CUSTOM_PROCESSING:
            return on_schema, Action.RUN_CUSTOM_SQL, write
        case DataSaveMode.ERROR_WHEN_DATA_EXISTS:
            return (Action.FAIL_HAS_ROWS,) if state.exists and state.has_rows else (on_schema, write)
        case DataSaveMode.DROP_DATA:
            is_kept = state.exists and on_schema is not Action.DROP_AND_CREATE
            return on_schema, Action.REPLACE_ROWS if is_kept else write


def contradiction(data_mode: DataSaveMode, write_mode: WriteMode) -> str | None:
    """The reason why the two modes exclude each other, in one sentence; None if they do not."""
    if data_mode is DataSaveMode.DROP_DATA and write_mode not in (WriteMode.APPEND, WriteMode.UPSERT):
        return f"data_save_mode DROP_DATA replaces all rows, write_mode {write_mode.value} only some of them"
    return None
