"""A commit of Paimon that is done at most once, also by two processes at the same moment.

pypaimon looks whether a snapshot's file exists, then renames another file onto it: of two processes, the second one
would replace the first one's snapshot. Here the file is created only where there is none. Each attempt looks for the
write in the snapshots since its rows were staged: if another process commits meanwhile, the attempt fails, and the next
one finds it.
"""

from typing import TYPE_CHECKING, Any

from connectors.commits.commit_errors import in_doubt
from connectors.paimon.paimon_staged import PaimonStaged
from connectors.storage.local_files import LocalFiles

if TYPE_CHECKING:
    from pypaimon.table.file_store_table import FileStoreTable


class CommittedError(Exception):
    """The write is committed: by this process before, or by another one."""


def exclusive_commit(table: "FileStoreTable") -> Any:
    """Paimon's `SnapshotCommit` of a table, by a file that is created only where there is none."""
    from pypaimon.common.json_util import JSON
    from pypaimon.snapshot.renaming_snapshot_commit import RenamingSnapshotCommit

    class ExclusiveSnapshotCommit(RenamingSnapshotCommit):  # type: ignore[misc]
        def commit(self, base_snapshot_uuid: str | None, snapshot: Any, statistics: Any) -> bool:
            path = str(self.snapshot_manager.get_snapshot_path(snapshot.id)).removeprefix("file://")
            if not LocalFiles().write_new(path, JSON.to_json(snapshot, indent=2)):
                return False
            self._commit_latest_hint(snapshot.id)
            return True

    return ExclusiveSnapshotCommit(table.snapshot_manager())


def look_before_each_attempt(committer: Any, staged: PaimonStaged) -> None:
    """Raise `CommittedError` at an attempt that finds the write in a snapshot. Raises PEN5010 where snapshots since the
    staging are gone: whether the write was among them is not known."""
    attempt, snapshots = committer._try_commit, committer.snapshot_manager

    def checked(*, commit_entries_plan: Any, **named: Any) -> None:
        def plan(latest: Any) -> Any:
            last = latest.id if latest is not None else 0
            since = [snapshots.get_snapshot_by_id(number) for number in range(staged.base + 1, last + 1)]
            if any((found.properties or {}).get("penstock.write") == staged.identity for found in since if found):
                raise CommittedError
            if None in since:
                raise in_doubt("Paimon", staged.target, staged.run_id)
            return commit_entries_plan(latest)

        attempt(commit_entries_plan=plan, **named)

    committer._try_commit = checked
