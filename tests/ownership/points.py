"""The instants at which a driver can be stopped or killed: before each change that it makes to a store, a target or its
journal, in the order in which it makes them."""

from collections.abc import Callable
from threading import Lock
from typing import Any, Final

from connectors.delta.transaction import DeltaTable
from connectors.files.committing import local_commit
from connectors.files.committing.upload_commit import UploadStore
from connectors.iceberg.iceberg_table import IcebergTable
from connectors.jdbc.database import Database
from connectors.storage.hadoop_files import HadoopFiles
from connectors.storage.local_files import LocalFiles

CHANGES: Final[tuple[tuple[type, tuple[str, ...]], ...]] = (
    (LocalFiles, ("write", "write_new", "move", "rename", "copy", "delete")),
    (HadoopFiles, ("write", "write_new", "move", "rename", "copy", "delete")),
    (UploadStore, ("begin", "complete")),
    (Database, ("execute", "commit")),
    (DeltaTable, ("_commit",)),
    (IcebergTable, ("commit",)),
)


class Points:
    """Counts the changes of this process since `begin`, and calls `reached` before the chosen one: by its number, or,
    below 0, by its number from the decision of the run on."""

    def __init__(self, reached: Callable[[str], None]) -> None:
        self.reached = reached
        self.lock, self.chosen, self.count, self.decided = Lock(), 0, 0, 0
        for owner, names in CHANGES:
            for name in names:
                setattr(owner, name, self._counted(f"{owner.__name__}.{name}", getattr(owner, name)))
        local_commit.exchange = self._counted("exchange", local_commit.exchange)

    def begin(self, chosen: int) -> None:
        self.chosen, self.count, self.decided = chosen, 0, 0

    def _counted(self, name: str, change: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            texts = [text for text in arguments if isinstance(text, str)]
            if not any(text.endswith((".alive", ".tmp")) for text in texts[:1]):
                self._passed(f"{name} {texts[0][-160:] if texts else ''}")
            return change(*arguments, **named)

        return counted

    def _passed(self, what: str) -> None:
        with self.lock:
            self.count += 1
            if what.endswith("/commit.json"):
                self.decided = self.decided or self.count
            number = self.count if self.chosen > 0 else self.decided and self.decided - self.count - 1
            is_chosen = number != 0 and number == self.chosen
        if is_chosen:
            self.reached(what)
