"""A Paimon table by pypaimon: its snapshots, its commits. The only module, except what runs in tasks, that calls it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import PenstockError, RunError, run_error
from catalog.diagnostics.source import Span
from catalog.distribution import pip_install
from connectors.commits.commit_errors import table_changed
from connectors.commits.marks import MarkState, WriteMark
from connectors.commits.micro_batches import MicroBatch
from connectors.paimon.commit_once import CommittedError, exclusive_commit, look_before_each_attempt
from connectors.paimon.paimon_staged import WORK, PaimonOverwrite, PaimonStaged
from connectors.paimon.table_files import Schema, latest_schema
from connectors.storage.local_files import LocalFiles

if TYPE_CHECKING:
    from pypaimon.table.file_store_table import FileStoreTable
    from pypaimon.write.commit_message import CommitMessage

_SAME_ROWS: Final = ("COMPACT", "ANALYZE")
"""The kinds of snapshots that change no rows."""
_INTEGERS: Final = ("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT")
_IDENTIFIER: Final = 1
"""The identifier of a commit in Paimon's words: each write commits once, by a commit user of its own."""


def require_pypaimon(span: Span | None = None) -> None:
    """Raises PEN9003 if pypaimon is not installed."""
    if find_spec("pypaimon") is None:
        raise run_error("PEN9003", "Paimon tables need pypaimon", span, pip_install("paimon"))


def opened(folder: str, schema: Schema, options: Mapping[str, str] | None = None) -> "FileStoreTable":
    """The table of a directory with this schema, which need not be the directory's, and these options for a while."""
    require_pypaimon()
    from pypaimon.common.file_io import FileIO
    from pypaimon.common.identifier import Identifier
    from pypaimon.common.options.options import Options
    from pypaimon.schema.table_schema import TableSchema
    from pypaimon.table.file_store_table import FileStoreTable

    table = FileStoreTable(
        FileIO.get(folder, Options({})),
        Identifier("default", "table"),
        folder,
        TableSchema.from_json(json.dumps(schema)),
    )
    return table.copy_without_time_travel(dict(options)) if options else table


@contextmanager
def reported(what: str) -> Iterator[None]:
    """Raise errors of pypaimon as PEN5005: it has no classes of its own for them."""
    try:
        yield
    except (PenstockError, OSError):
        raise
    except Exception as error:
        cause = str(error).partition("\n")[0] or type(error).__name__
        raise run_error("PEN5005", f"{what}: {cause}") from error


def latest_snapshot(folder: str, schema: Schema) -> int:
    """The number of the latest snapshot, 0 before the first one."""
    snapshot = opened(folder, schema).snapshot_manager().get_latest_snapshot()
    return snapshot.id if snapshot is not None else 0


def state_of(folder: str, schema: Schema) -> str:
    """The latest schema and snapshot, and when it was made, as text."""
    snapshot = opened(folder, schema).snapshot_manager().get_latest_snapshot()
    return f"{schema['id']} {'' if snapshot is None else f'{snapshot.id} {snapshot.time_millis}'}"


def has_rows(folder: str) -> bool:
    """Whether a reader finds a row in the table's directory."""
    schema = latest_schema(folder)
    if schema is None:
        return False
    with reported(f"the Paimon table `{folder}` cannot be read"):
        builder = opened(folder, schema).new_read_builder()
        read = builder.new_read()
        for split in builder.new_scan().plan().splits():
            if any(batch.num_rows for batch in read.to_arrow_batch_reader([split])):
                return True
    return False


def committed(folder: str, schema: Schema, identity: str) -> Mapping[str, str] | None:
    """The properties of the snapshot by which a write was committed; None where there is none."""
    snapshots = reversed(opened(folder, schema).snapshot_manager().list_snapshots())
    found = (snapshot.properties or {} for snapshot in snapshots)
    return next((properties for properties in found if properties.get("penstock.write") == identity), None)


def mark_of(folder: str, identity: str, batch: MicroBatch | None = None) -> WriteMark:
    """The mark of a write; UNKNOWN where the first snapshots have expired; of a micro-batch, where there is none of its
    stream, too."""
    schema = latest_schema(folder)
    if schema is None:
        return WriteMark(MarkState.ABSENT)
    found = committed(folder, schema, identity)
    if found is not None:
        return WriteMark(MarkState.FOUND, found.get(WORK, ""))
    snapshots = opened(folder, schema).snapshot_manager().list_snapshots()
    writes = [str((snapshot.properties or {}).get("penstock.write")) for snapshot in snapshots]
    if batch is not None and any(batch.number_of(each) is not None for each in writes):
        return batch.mark_by(writes)
    first = min((snapshot.id for snapshot in snapshots), default=1)
    return WriteMark(MarkState.ABSENT if first == 1 else MarkState.UNKNOWN)


def add_schema(folder: str, schema: Schema) -> bool:
    """Add the schema file; False if another one has its number. pypaimon would look, then rename: of two processes, the
    second one would replace the first one's schema."""
    from pypaimon.schema.table_schema import TableSchema

    manager = opened(folder, schema).schema_manager
    manager.file_io = _NewFiles()
    return bool(manager.commit(TableSchema.from_json(json.dumps(schema))))


class _NewFiles:
    """Of pypaimon's file system what adds a schema: a file is created only where there is none."""

    def try_to_write_atomic(self, path: object, content: str) -> bool:
        return LocalFiles().write_new(str(path).removeprefix("file://"), content)


def to_messages(table: "FileStoreTable", texts: Sequence[bytes]) -> list["CommitMessage"]:
    from pypaimon.write.commit_message_serializer import deserialize_commit_message

    keys = table.trimmed_primary_keys_fields
    return [deserialize_commit_message(text, table.partition_keys_fields, keys) for text in texts]


def paths_of(table: "FileStoreTable", messages: Sequence["CommitMessage"]) -> list[str]:
    """The data files of the messages."""
    from pypaimon.utils.file_store_path_factory import canonical_data_file_path

    return [
        file.external_path or canonical_data_file_path(table, tuple(message.partition), message.bucket, file.file_name)
        for message in messages
        for file in message.new_files
    ]


def commit(staged: PaimonStaged, schema: Schema, messages: Sequence[bytes]) -> None:
    """Commit one snapshot with the staged files, at most once. A table that is made anew gets one also without
    files."""
    from pypaimon.write.file_store_commit import FileStoreCommit

    is_dynamic = staged.replaces is PaimonOverwrite.PARTITIONS and staged.emptied is None
    table = opened(
        staged.folder,
        schema,
        {
            "dynamic-partition-overwrite": "true" if is_dynamic else "false",
            "snapshot.ignore-empty-commit": "false" if staged.replaces is PaimonOverwrite.TABLE else "true",
        },
    )
    found = to_messages(table, messages)
    committer = FileStoreCommit(exclusive_commit(table), table, staged.name)
    if staged.keys_of is not None:
        _refuse_changes(committer, staged.keys_of, table_changed("Paimon", staged.target, staged.run_id))
    look_before_each_attempt(committer, staged)
    try:
        if staged.replaces in (PaimonOverwrite.ROWS, PaimonOverwrite.PARTITIONS):
            committer.overwrite(_partition(table, staged), found, _IDENTIFIER, staged.properties)
        else:
            committer.commit(found, _IDENTIFIER, staged.properties)
    except CommittedError:
        return
    finally:
        committer.close()


def _partition(table: "FileStoreTable", staged: PaimonStaged) -> dict[str, Any]:
    """The values of the partition that a write without rows replaces, as pypaimon reads them; else none."""
    types = {field.name: str(field.type).partition("(")[0].split()[0] for field in table.partition_keys_fields}
    of_text: dict[str, Any] = {"DATE": date.fromisoformat, "BOOLEAN": "true".__eq__, **dict.fromkeys(_INTEGERS, int)}
    return {
        name: None if text is None else of_text.get(types[name], str)(text)
        for name, text in (staged.emptied or {}).items()
    }


def _refuse_changes(committer: Any, after: int, error: RunError) -> None:
    """Raise the error at each attempt of a commit that finds a later snapshot which changed rows."""
    attempt, snapshots = committer._try_commit, committer.snapshot_manager

    def checked(*, commit_entries_plan: Any, **named: Any) -> None:
        def plan(latest: Any) -> Any:
            last = latest.id if latest is not None else 0
            later = (snapshots.get_snapshot_by_id(id) for id in range(after + 1, last + 1))
            if last < after or any(snapshot is None or snapshot.commit_kind not in _SAME_ROWS for snapshot in later):
                raise error
            return commit_entries_plan(latest)

        attempt(commit_entries_plan=plan, **named)

    committer._try_commit = checked


def discard(folder: str, schema: Schema, messages: Sequence[bytes]) -> None:
    """Delete the files of messages that were not committed."""
    from pypaimon.write.file_store_commit import FileStoreCommit

    table = opened(folder, schema)
    committer = FileStoreCommit(table.new_snapshot_commit(), table, "penstock")
    try:
        committer.abort(to_messages(table, messages))
    finally:
        committer.close()


def tag(folder: str, schema: Schema, name: str, identity: str) -> None:
    """Name the snapshot by which a write was committed; a tag of that name that is there is left as it is."""
    table = opened(folder, schema)
    for snapshot in reversed(table.snapshot_manager().list_snapshots()):
        if (snapshot.properties or {}).get("penstock.write") == identity:
            table.create_tag(name, snapshot.id, ignore_if_exists=True)
            return
