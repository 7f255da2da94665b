"""Stages rows in a table next to the target, and builds the statements of the transaction that moves them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostic, TransientError, run_error
from catalog.tables.evolution import widens
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.savemode import Action
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import STRING
from connectors.commits import run_owner
from connectors.commits.marks import MarkState
from connectors.commits.other_runs import is_over
from connectors.commits.run_decision import record_committed, settle
from connectors.interface.sink import WriteTask
from connectors.jdbc.connection import Connection
from connectors.jdbc.database import Database, connected
from connectors.jdbc.describe import describe_table, is_referenced
from connectors.jdbc.writing import ledger, statements
from connectors.jdbc.writing.commit import abort, commit_group, remove_staging
from connectors.jdbc.writing.commit_statements import commit_statements, staging_ddl
from connectors.jdbc.writing.jdbc_staged import JdbcStaged
from connectors.jdbc.writing.load import load
from connectors.jdbc.writing.sql_text import filled_columns
from connectors.jdbc.writing.staged_rows import Keyed, latest, loadable, loaded_type, with_kinds
from connectors.jdbc.writing.statements import TargetChange
from connectors.jdbc.writing.write_plan import WritePlan
from connectors.shared.spark_types import columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TEXTS: Final = ("text", "varchar", "bpchar", "char", "name", "tinytext", "mediumtext", "longtext", "clob")
_SERIALS: Final = ("smallserial", "serial", "bigserial")
_INCOMPARABLE: Final = ("json", "xml", "point", "polygon")


def prepare(
    connection: Connection, target: tuple[str, ...], task: WriteTask, actions: tuple[Action, ...], isolation: str | None
) -> JdbcStaged:
    """The staging location: a table next to the target, named after the write."""
    digest = hashlib.sha256(f"{task.attempt} {target}".encode()).hexdigest()[:16]
    return JdbcStaged(
        url=connection.url,
        driver=connection.driver,
        user=connection.user,
        properties=dict(connection.properties),
        target=target,
        staging=(*target[:-1], f"penstock_stg_{digest}"),
        identity=task.identity,
        attempt=task.attempt,
        run_id=task.run_id,
        work=task.work,
        batch=task.batch_id,
        journal=task.journal,
        owner=json.dumps(dict(task.owner)),
        actions=tuple(action.value for action in actions),
        lock_timeout_seconds=task.options.integer("lock_timeout_sec"),
        isolation=isolation,
        secrets=connection.secrets,
    )


def stage(spark: "SparkSession", df: "DataFrame", plan: WritePlan, prepared: JdbcStaged) -> JdbcStaged:
    """Load the rows into the staging table; leaves nothing behind if it raises. Raises PEN5007 if
    another run writes."""
    with connected(spark, plan.connection) as database:
        ledger.ensure(database)
        found = ledger.mark(database, prepared.identity, prepared.target)
        if found.state is MarkState.FOUND and describe_table(database, prepared.target) is None:
            ledger.forget_commit(database, prepared)  # of a table that was dropped with its rows, whatever they were
        elif ledger.is_of_write(found, prepared):
            return prepared
        _lock(spark, database, prepared)
    try:
        return _staged(spark, df, plan, prepared)
    except BaseException:
        with connected(spark, plan.connection) as database:
            remove_staging(database, prepared)
        raise


def _staged(spark: "SparkSession", df: "DataFrame", plan: WritePlan, prepared: JdbcStaged) -> JdbcStaged:
    actions = _actions(prepared)
    with connected(spark, plan.connection) as database:
        target = None
        if plan.query is None and not {Action.CREATE, Action.DROP_AND_CREATE} & set(actions):
            target = describe_table(database, prepared.target)
        rows = latest(with_kinds(df, plan.keyed), plan.keyed, has_updates=ROW_KIND in df.columns)
        plain = rows.drop(ROW_KIND) if ROW_KIND in rows.columns else rows
        incoming = _as_in_target(_described(plain, plan.declared), target)
        widened = tuple(_widened(plan, prepared, incoming, target))
        has_kinds = ROW_KIND in rows.columns
        keys = _named(incoming, plan.keyed.keys)
        change = _with_types(database, plan, _change(plan, prepared, incoming, target, keys), incoming)
        like = None if widened else target
        ledger.drop_staging(database, prepared, waits=True)
        if ddl := staging_ddl(plan, actions, change, incoming):
            for statement in ddl:
                database.execute(statement)
        else:
            _create_staging(database, prepared, incoming, like, keys=plan.keyed.keys, has_kinds=has_kinds)
    frame = loadable(rows, incoming, target, keys, plan.connection.dialect)
    sent = load(frame, plan.connection, prepared.staging, plan.batch_size)
    with connected(spark, plan.connection) as database:
        loaded = _count(database, prepared, sent)
        change = _with_references(database, change, target)
        _check_keys(database, change, plan.keyed)
        _check_casts(database, change)
        before, done = commit_statements(plan, actions, change, incoming)
        for statement in done if before else ():  # they run when the commit has begun, and cannot be taken back
            database.check_syntax(statement)
        added = _added(change, incoming, target)
        staged = replace(prepared, before=before, added=added, widened=widened, statements=done, rows=loaded)
        staged = replace(staged, is_loaded=True)
        ledger.register(database, staged)
    return staged


def kept(spark: "SparkSession", staged: JdbcStaged, task: WriteTask) -> JdbcStaged | None:
    """Take over what an earlier attempt has staged, with the lock of the target; None where rows are missing."""
    if not staged.is_loaded:
        return None
    owner = json.dumps(dict(task.owner))
    adopted = replace(staged, journal=task.journal, attempt=task.attempt, owner=owner)
    with connected(spark, staged.connection) as database:
        if describe_table(database, staged.staging) is None:
            return None
        ledger.forget(database, staged)
        _lock(spark, database, adopted)
        found = database.value(f"select count(*) from {database.dialect.quote_path(staged.staging)}")
    return adopted if int(found or 0) == staged.rows else None


def planned(database: Database, plan: WritePlan, prepared: JdbcStaged, target: CatalogTable | None) -> tuple[str, ...]:
    """The statements of a commit before its rows are staged, with a plain name for the staging table."""
    incoming = _as_in_target(plan.declared, target)
    shown = _shown(prepared)
    change = _change(plan, shown, incoming, target, _named(incoming, plan.keyed.keys))
    change = _with_types(database, plan, change, incoming)
    change = _with_references(database, change, target)
    before, done = commit_statements(plan, _actions(prepared), change, incoming)
    added = (_added(change, incoming, target) or {}).values()
    return (*before, *added, *_widened(plan, prepared, incoming, target), *done)


def planned_staging(plan: WritePlan, prepared: JdbcStaged) -> tuple[str, ...]:
    """The DDL of the staging table, under a plain name, where it becomes the target."""
    change = _change(plan, _shown(prepared), plan.declared, None, _named(plan.declared, plan.keyed.keys))
    return staging_ddl(plan, _actions(prepared), change, plan.declared)


def _shown(prepared: JdbcStaged) -> JdbcStaged:
    return replace(prepared, staging=(*prepared.target[:-1], "penstock_stg"))


def _actions(prepared: JdbcStaged) -> tuple[Action, ...]:
    return tuple(map(Action, prepared.actions))


def _lock(spark: "SparkSession", database: Database, prepared: JdbcStaged) -> None:
    """Lock the target for this run, and end the writes of runs that are over.

    Registered first, then looked: of two runs that do so at once, none ends another one's write.
    """
    ledger.register(database, prepared)
    others = tuple(ledger.others(database, prepared))
    for other in others:
        mark = json.loads(other.owner)
        if other.run_id != prepared.run_id and not is_over(spark, mark, other.journal):
            ledger.forget(database, prepared)
            message = f"run {other.run_id} is writing to `{prepared.target_name}`"
            help = (
                f"wait until {run_owner.describe(mark)} has ended; where that process is gone for certain, "
                f"`penstock runs --forget {other.run_id}` dismisses its run and changes no target"
            )
            raise run_error("PEN5007", message, None, help)
    for other in others:
        left = replace(other, secrets=prepared.secrets)
        if settle(spark, other.journal) and other.is_loaded:
            commit_group(
                spark, [left], done=partial(record_committed, spark, other.journal, other.run_id, other.identity)
            )
        else:
            abort(spark, left)


def _described(rows: "DataFrame", declared: CatalogTable) -> CatalogTable:
    """The columns of a new table, with the lengths and comments in the plan."""
    columns = []
    for column in columns_of(rows.schema):
        known = declared.column(column.name)
        length, comment = (known.length, known.comment) if known is not None else (None, None)
        columns.append(replace(column, length=length, comment=comment))
    return replace(CatalogTable.of("rows", columns), comment=declared.comment)


def _as_in_target(incoming: CatalogTable, target: CatalogTable | None) -> CatalogTable:
    """The columns under the names that the target has for them."""
    if target is None:
        return incoming
    columns = (replace(column, name=_name_in(target, column)) for column in incoming.columns)
    return CatalogTable.of("rows", columns)


def _name_in(target: CatalogTable, column: Column) -> str:
    there = target.column(column.name)
    return there.name if there is not None else column.name


def _named(table: CatalogTable, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(column.name for key in keys if (column := table.column(key)) is not None)


def _create_staging(
    database: Database,
    prepared: JdbcStaged,
    incoming: CatalogTable,
    target: CatalogTable | None,
    *,
    keys: tuple[str, ...],
    has_kinds: bool,
) -> None:
    dialect = database.dialect
    name = dialect.quote_path(prepared.staging)
    kind = f", {dialect.quote(ROW_KIND)} varchar(2)" if has_kinds else ""
    if dialect.stages_like_target and target is not None and all(target.column(name) for name in incoming.schema.names):
        listed = ", ".join(map(dialect.quote, incoming.schema.names))
        source = dialect.quote_path(prepared.target)
        database.execute(f"create table {name} as select {listed} from {source} where 1 = 0")
        if has_kinds:
            database.execute(f"alter table {name} add column {dialect.quote(ROW_KIND)} varchar(2)")
        return
    folded = {key.lower() for key in keys}
    columns = (
        f"{dialect.quote(column.name)} {_staging_type(column, column.name.lower() in folded, database)}"
        for column in incoming.columns
    )
    database.execute(f"create table {name} ({', '.join(columns)}{kind})")


def _staging_type(column: Column, is_key: bool, database: Database) -> str:
    type = loaded_type(column.type, database.dialect)
    found = database.dialect.column_type(type, None, is_key)
    if database.dialect.times_as_text and type == STRING and column.type != STRING:
        found = database.dialect.column_type(column.type, None, is_key) or found
    assert found is not None, f"validate refuses {column.type}"
    return found


def _change(
    plan: WritePlan, prepared: JdbcStaged, incoming: CatalogTable, target: CatalogTable | None, keys: tuple[str, ...]
) -> TargetChange:
    dialect = plan.connection.dialect
    values = []
    for column in incoming.columns:
        there = target.column(column.name) if target is not None else None
        native = there.source_type if there is not None else dialect.column_type(column.type)
        is_text = loaded_type(column.type, dialect) == STRING
        value = f"s.{dialect.quote(column.name)}"
        needs_cast = dialect.casts_text and is_text and native is not None and native.lower() not in _TEXTS
        values.append(f"cast({value} as {native})" if needs_cast else value)
    natives = [(column.source_type or "").lower() for column in (target or incoming).columns]
    sequence = plan.keyed.sequence
    return TargetChange(
        dialect,
        prepared.target,
        prepared.staging,
        incoming.schema.names,
        tuple(values),
        keys,
        compares=not any(native in _INCOMPARABLE for native in natives),
        sequence=_named(incoming, (sequence,))[0] if sequence is not None else None,
        has_index=plan.has_index,
    )


def _with_types(database: Database, plan: WritePlan, change: TargetChange, incoming: CatalogTable) -> TargetChange:
    """An INSERT of the user's casts texts to the types of its columns, where the database does not do so itself."""
    if plan.query is None or not change.dialect.casts_text:
        return change
    filled = describe_table(database, change.target)
    if filled is None:
        return change
    named = [filled.column(name) for name in filled_columns(plan.query) or filled.schema.names]
    natives = [column.source_type if column is not None else None for column in named]
    types = (None if (native or "").lower() in (*_TEXTS, *_SERIALS) else native for native in natives)
    texts = (column.name for column in incoming.columns if loaded_type(column.type, change.dialect) == STRING)
    return replace(change, types=tuple(types), texts=tuple(texts))


def _with_references(database: Database, change: TargetChange, target: CatalogTable | None) -> TargetChange:
    """What refers to the target matters where it would be truncated, which a foreign key forbids."""
    matters = target is not None and change.dialect.truncates_in_transaction
    return replace(change, is_referenced=matters and is_referenced(database, change.target))


def _count(database: Database, prepared: JdbcStaged, sent: int) -> int:
    """The rows of the staging table. Raises `TransientError` (PEN5005) unless they are the rows that Spark sent: a
    task that is tried again after its rows were committed would load them twice."""
    name = ".".join(prepared.staging)
    loaded = int(database.value(f"select count(*) from {database.dialect.quote_path(prepared.staging)}") or 0)
    if loaded != sent:
        message = f"Spark sent {sent} rows for `{prepared.target_name}`, but the staging table `{name}` has {loaded}"
        help = "a task of the load ran twice; run the job again, or set `job.retry.times` so that it is retried"
        raise TransientError([Diagnostic("PEN5005", message, help=help)])
    return loaded


def _check_keys(database: Database, change: TargetChange, keyed: Keyed) -> None:
    """Refuse several rows of one key without a column that orders them."""
    if not keyed.is_used or keyed.sequence is not None:
        return
    listed = ", ".join(map(database.dialect.quote, change.keys))
    grouped = f"from {change.source} group by {listed} having count(*) > 1"
    if rows := database.query(f"select {listed} {grouped}", most=1):
        shown = ", ".join(f"{key} = {value}" for key, value in zip(change.keys, rows[0], strict=True))
        count = int(database.value(f"select count(*) from (select 1 as n {grouped}) d") or 1)
        message = f"{f'{count} keys have' if count > 1 else 'a key has'} several rows, {shown} among them"
        help = "name the column that orders them, `sequence_field`, or aggregate them in a query"
        raise run_error("PEN5001", message, None, help)


def _check_casts(database: Database, change: TargetChange) -> None:
    """Try casts from text to another type before the commit."""
    casts = [f"count({value})" for value in change.values if value.startswith("cast(")]
    if casts:
        database.query(f"select {', '.join(casts)} from {change.source} s")


def _added(change: TargetChange, incoming: CatalogTable, target: CatalogTable | None) -> Mapping[str, str] | None:
    missing = [column for column in incoming.columns if target is not None and target.column(column.name) is None]
    return {column.name: statements.add_column(change.dialect, change.target, column) for column in missing} or None


def _widened(
    plan: WritePlan, prepared: JdbcStaged, incoming: CatalogTable, target: CatalogTable | None
) -> Iterator[str]:
    """The DDL for columns whose incoming type is wider. Raises PEN4003 if the database has none."""
    dialect = plan.connection.dialect
    keys = {key.lower() for key in plan.keyed.keys}
    for column in incoming.columns if plan.widens and target is not None else ():
        there = target.column(column.name) if target is not None else None
        if there is None or not widens(there.type, column.type):
            continue
        statement = statements.set_type(dialect, prepared.target, there, column.type, column.name.lower() in keys)
        if statement is None:
            message = f"`{there.name}` of `{prepared.target_name}` has a default, and {dialect.name} would drop it"
            help = f"change its type to hold {column.type} yourself, then run the job again"
            raise run_error("PEN4003", message, None, help)
        yield statement
