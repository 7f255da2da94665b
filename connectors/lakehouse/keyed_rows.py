"""How the rows of a keyed write match a table's rows, as the journal records it."""

from dataclasses import dataclass
from typing import Final

from connectors.shared.staged import Staged

DELETED: Final = "__deleted"
"""The column of staged rows that says whether the row deletes the target's row of its key."""


@dataclass(frozen=True, slots=True)
class KeyedRows(Staged):
    """How staged rows match the table's: the columns of their key, and which of several rows of a key wins.

    `versions`: for scd2, the columns with the start and end of a version and whether it is the current one.
    `ends_missing`: the current versions of keys that no row has are ended at `started_at`.
    """

    keys: tuple[str, ...]
    sequence_field: str | None = None
    delete_condition: str | None = None
    has_row_kind: bool = False
    versions: tuple[str, ...] = ()
    started_at: str = ""
    ends_missing: bool = False
