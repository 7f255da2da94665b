"""A query's meaning as a text: equal for queries that differ in layout, comments, the case of names, how columns are
qualified, and the names of CTEs, of relations and of columns that reach no output.
"""

import json
from collections.abc import Iterator, Mapping

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema

from catalog.tables.table import CatalogTable
from sql.parsing.parse import parse
from sql.parsing.recursion import with_room
from sql.recognizer.check import recognize


@with_room
def meaning(query: str, inputs: Mapping[str, CatalogTable]) -> str | None:
    """The meaning of a query over inputs, which it calls by their positions; None for one that is only known as it is
    written: such a query is compared by its words."""
    verdict = recognize(query)
    tree = parse(query, verdict.nested, verdict.names).tree
    if not isinstance(tree, exp.Query) or any(table.is_open for table in inputs.values()):
        return None
    columns: dict[str, object] = {
        name.lower(): dict.fromkeys(table.schema.names, "unknown") for name, table in inputs.items()
    }
    try:
        qualified = qualify(
            tree.copy(),
            dialect="spark",
            schema=MappingSchema(columns, dialect="spark"),
            quote_identifiers=False,
            validate_qualify_columns=False,
            allow_partial_qualification=True,
        )
        _Renaming({name.lower(): f"input{index}" for index, name in enumerate(inputs)}).of(qualified)
    except (SqlglotError, RecursionError, KeyError, AttributeError, ValueError):
        return None
    return json.dumps(_plain(qualified), default=str)


class _Renaming:
    """Gives the relations of a tree, and the columns of inner ones, names by their position."""

    def __init__(self, inputs: Mapping[str, str]) -> None:
        self.inputs = inputs
        self.relations: dict[tuple[int, str], str] = {}
        self.columns: dict[int, dict[str, str]] = {}
        self.ctes: dict[int, str] = {}

    def of(self, tree: exp.Expr) -> None:
        scopes = traverse_scope(tree)
        for scope in scopes:
            self.name(scope)
        changes = [change for scope in scopes for change in self.changes(scope)]
        for identifier, name in changes:
            identifier.set("this", name)

    def name(self, scope: Scope) -> None:
        for name, (_, source) in scope.selected_sources.items():
            self.relations[id(scope), name] = f"r{len(self.relations)}"
            if isinstance(source, Scope):
                self.ctes.setdefault(id(source), f"q{len(self.ctes)}")
        if not scope.is_root and isinstance(scope.expression, exp.Select) and _names_are_free(scope):
            self.columns[id(scope)] = {name: f"c{at}" for at, name in enumerate(scope.expression.named_selects)}

    def changes(self, scope: Scope) -> Iterator[tuple[exp.Expr, str]]:
        for name, (node, source) in scope.selected_sources.items():
            holder = node if isinstance(node, exp.Table) else node.parent
            alias = holder.args.get("alias") if isinstance(holder, exp.Table | exp.Subquery) else None
            if isinstance(alias, exp.TableAlias) and isinstance(alias.this, exp.Identifier):
                yield alias.this, self.relations[id(scope), name]
            if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
                called = self.ctes[id(source)] if isinstance(source, Scope) else self.inputs.get(node.name.lower())
                if called is not None:
                    yield node.this, called
        own = self.columns.get(id(scope), {})
        for column in scope.columns:
            yield from self.column(scope, column, own)
        if own and isinstance(scope.expression, exp.Select):
            for at, projection in enumerate(scope.expression.selects):
                if isinstance(projection, exp.Alias):
                    yield projection.args["alias"], f"c{at}"
        parent = scope.expression.parent
        if scope.is_cte and isinstance(parent, exp.CTE):
            yield parent.args["alias"].this, self.ctes.get(id(scope), "unread")

    def column(self, scope: Scope, column: exp.Column, own: Mapping[str, str]) -> Iterator[tuple[exp.Expr, str]]:
        if not column.table:
            if column.name in own:
                yield column.this, own[column.name]
            return
        owner: Scope | None = scope
        while owner is not None and column.table not in owner.selected_sources:
            owner = owner.parent
        if owner is None:
            return
        yield column.args["table"], self.relations[id(owner), column.table]
        source = owner.selected_sources[column.table][1]
        if isinstance(source, Scope) and column.name in (names := self.columns.get(id(source), {})):
            yield column.this, names[column.name]


def _names_are_free(scope: Scope) -> bool:
    """Whether no other part of the query needs the names: columns of a union are matched by position, but called by
    those of its first part; names of a table alias replace those of the query."""
    assert isinstance(scope.expression, exp.Select)
    parent, names = scope.expression.parent, scope.expression.named_selects
    has_columns = parent is not None and isinstance(alias := parent.args.get("alias"), exp.TableAlias) and alias.columns
    return isinstance(parent, exp.Subquery | exp.CTE) and not has_columns and len(set(names)) == len(names)


def _plain(value: object) -> object:
    """The tree as lists and maps, without comments and locations."""
    if isinstance(value, exp.Identifier):
        return value.name.lower()
    if isinstance(value, exp.Paren):
        return _plain(value.this)
    if isinstance(value, exp.Anonymous) and isinstance(value.this, str):
        return ["Anonymous", value.this.lower(), _plain(value.expressions)]
    if isinstance(value, exp.Expr):
        parts = {key: _plain(part) for key, part in sorted(value.args.items()) if part not in (None, [], False)}
        return [type(value).__name__, parts]
    return [_plain(part) for part in value] if isinstance(value, list) else value
