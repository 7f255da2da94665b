"""The statements of a write's commit, by the actions of its save and write modes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256

from catalog.tables.savemode import Action
from catalog.tables.table import CatalogTable
from connectors.jdbc.writing import sql_text, statements
from connectors.jdbc.writing.statements import TargetChange
from connectors.jdbc.writing.write_plan import WritePlan


def staging_ddl(
    plan: WritePlan, actions: Sequence[Action], change: TargetChange, incoming: CatalogTable
) -> tuple[str, ...]:
    """The DDL of a staging table that becomes the target; none where its rows are moved."""
    if not _becomes_target(plan, actions, change):
        return ()
    return tuple(statements.create_table(change.dialect, change.staging, incoming, change.keys, is_keyed=False))


def _becomes_target(plan: WritePlan, actions: Sequence[Action], change: TargetChange) -> bool:
    """Whether the commit renames the staging table to a new target, so that rows are written once: those that are
    stored as they are loaded, and are the only ones that the commit writes."""
    is_new = bool({Action.CREATE, Action.DROP_AND_CREATE} & set(actions))
    is_plain = plan.query is None and plan.keyed.deletes is None and Action.RUN_CUSTOM_SQL not in actions
    adds = bool({Action.ADD_ROWS, Action.UPSERT_ROWS} & set(actions))
    return change.dialect.renames_staging and is_new and is_plain and adds and change.keeps_values


def commit_statements(
    plan: WritePlan, actions: Sequence[Action], change: TargetChange, incoming: CatalogTable
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The statements before the transaction, and those in it."""
    if _becomes_target(plan, actions, change):
        dropped = [f"drop table {change.table}"] if Action.DROP_AND_CREATE in actions else []
        return (), (*dropped, *statements.rename_staging(change))
    if Action.DROP_AND_CREATE in actions and not change.dialect.has_transactional_ddl:
        return tuple(_swap(change, incoming)), plan.custom_sql if Action.RUN_CUSTOM_SQL in actions else ()
    before: list[str] = []
    done: list[str] = []
    for action in actions:
        match action:
            case Action.CREATE | Action.DROP_AND_CREATE if change.dialect.has_transactional_ddl:
                done += [f"drop table {change.table}"] if action is Action.DROP_AND_CREATE else []
                done += _created(change, change.target, incoming)
            case Action.CREATE | Action.DROP_AND_CREATE:
                before += _created(change, change.target, incoming, if_missing=True)
            case Action.REPLACE_ROWS:
                done += [statements.replace_all(change), _inserted(plan, change)]
            case Action.RUN_CUSTOM_SQL:
                done += plan.custom_sql
            case Action.ADD_ROWS:
                done.append(_inserted(plan, change))
            case Action.UPSERT_ROWS if plan.keyed.deletes is None:
                done += statements.upsert(change)
            case Action.UPSERT_ROWS | Action.APPLY_CHANGES:
                done += statements.apply_changes(change)
            case _:
                pass
    return tuple(before), tuple(done)


def _created(
    change: TargetChange, name: tuple[str, ...], incoming: CatalogTable, *, if_missing: bool = False
) -> Iterator[str]:
    keyed = change.has_index
    return statements.create_table(change.dialect, name, incoming, change.keys, if_missing=if_missing, is_keyed=keyed)


def _inserted(plan: WritePlan, change: TargetChange) -> str:
    if plan.query is None:
        return statements.insert(change)
    names = {column: change.dialect.quote(column) for column in change.columns}
    found = sql_text.insert_from(plan.query, names, change.source, change.types, change.texts)
    assert found is not None, "validate refuses other queries"
    return found


def _swap(change: TargetChange, incoming: CatalogTable) -> Iterator[str]:
    """Fill a new table under another name, then rename it in one step: for databases whose DDL commits at once."""
    quote = change.dialect.quote_path
    beginning, digest = change.target[-1][:38], sha256(change.target[-1].encode()).hexdigest()[:8]
    new, old = ((*change.target[:-1], f"{beginning}_penstock_{name}_{digest}") for name in ("new", "old"))
    yield f"drop table if exists {quote(new)}"
    yield from _created(change, new, incoming)
    yield statements.insert(replace(change, target=new))
    yield f"drop table if exists {quote(old)}"
    yield f"create table if not exists {change.table} (penstock int)"
    yield f"rename table {change.table} to {quote(old)}, {quote(new)} to {change.table}"
    yield f"drop table {quote(old)}"
