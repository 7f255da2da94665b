"""The names visible to an expression: FROM clause, lateral aliases, lambda variables, the outer query."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from catalog.spark_version import SparkVersion
from catalog.types.datatypes import BIGINT, Map
from sql.expressions import is_aggregate, literal_function, time_window
from sql.parsing.subquery_position import is_scalar, outermost
from sql.scopes.analysis import Binder, Bound, EnclosingScope, Environment
from sql.scopes.lineage import Dependency, Origin, Origins, through, use_of
from sql.scopes.relations import Attribute, Relation, Slot, merge
from sql.scopes.stars import expand_star
from sql.scopes.unresolved_names import report_ambiguous, report_unknown, suggest
from sql.types.expression_type import NOT_KNOWN, NamedTyped, Typed, TypedNodes, Walk
from sql.types.printed_forms import PrintedForms
from sql.types.struct_fields import field_names, field_of, refusal


@dataclass(slots=True, eq=False)
class SelectScope:
    """The scope of one SELECT, as the expression typer asks it (`sql.types.expression_type.Scope`).

    `bound`: the resolution of each column, by the id of its node. `used`: the columns read since `take_used`.
    `correlated`: by the id of each subquery's node, the columns of this scope that it uses. `names_aliases`: whether
    an expression has named an alias of the select list.
    """

    binder: Binder
    environment: Environment
    relation: Relation
    aliases: dict[str, list[Attribute]] = field(default_factory=dict)
    windows: Mapping[str, exp.Window] = field(default_factory=dict)
    bound: dict[int, Bound] = field(default_factory=dict)
    used: list[tuple[exp.Expr, Origins]] = field(default_factory=list)
    grouped_nullable: set[tuple[object, ...]] = field(default_factory=set)
    outer_references: list[tuple[exp.Column, Bound]] = field(default_factory=list)
    correlated: dict[int, tuple[tuple[exp.Column, Bound], ...]] = field(default_factory=dict)
    aliases_first: bool = False
    names_aliases: bool = False
    _variables: list[Mapping[str, Typed]] = field(default_factory=list)
    _columns: dict[tuple[int, int], Bound] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.binder.text

    @property
    def tokens(self) -> Sequence[Token]:
        return self.binder.tokens

    @property
    def spark(self) -> SparkVersion:
        return self.binder.spark

    @property
    def walk(self) -> Walk:
        return self.binder.walk

    @property
    def printed(self) -> PrintedForms:
        return self.binder.printed

    @property
    def collations(self) -> TypedNodes | None:
        return self.binder.collations

    def report(self, code: str, node: exp.Expr, message: str, help: str | None = None) -> None:
        self.binder.report(code, node, message, help)

    def resolve(self, node: exp.Column) -> Typed:
        known = self.bound.get(id(node))
        if known is None:
            known = self._resolve(node)
            self.bound[id(node)] = known
        if known.origins:
            self.used.append((node, known.origins))
            self.binder.resolved.append((node, known))
        is_grouped = self.grouped_nullable and known.key in self.grouped_nullable
        if is_grouped and not known.typed.nullable and not is_aggregated(node):
            return replace(known.typed, nullable=True)
        return known.typed

    def _resolve(self, node: exp.Column) -> Bound:
        identifiers = node.parts
        parts = [part.name for part in identifiers]
        variable = self.variable(parts[0]) if self._variables else None
        if variable is not None:
            return self._fields(Bound(None, variable), identifiers, 1)
        literal = literal_function(parts[0]) if len(parts) == 1 else None
        if found := self.find(node, parts, lateral=literal is None or self.aliases_first):
            return self._fields(found[0], identifiers, found[1])
        outer = self.environment.outer  # one query outward, no further: so does Spark
        if outer is not None and (found := outer.find(node, parts, lateral=False)):
            bound = self._fields(replace(found[0], depth=1), identifiers, found[1])
            outer.outer_references.append((node, bound))
            return bound
        if literal is not None:
            word = parts[0].lower()
            self.printed.note_texts(node, ("current_user()" if word.endswith("user") else f"{word}()",))
            return Bound(None, literal)
        if [part.lower() for part in parts] == ["grouping__id"] and self.grouped_nullable:
            is_item = isinstance(node.parent, (exp.Select, exp.Alias))
            self.printed.note_texts(node, ("grouping__id" if is_item else "grouping_id()",))
            return Bound(None, Typed(BIGINT, False))
        window = time_window(node, self)
        if window is not None:
            return self._fields(Bound(None, window), identifiers, 1)
        report_unknown(self, node, parts, self.aliases)
        return Bound(None, NOT_KNOWN)

    def find(self, node: exp.Column, parts: Sequence[str], *, lateral: bool) -> tuple[Bound, int] | None:
        """What the name means in this scope itself, and how many of its parts that takes."""
        prefers_alias = lateral and self.aliases_first and not is_aggregated(node)
        slots, taken = self.relation.find(parts)
        if prefers_alias and not (slots and self._means_column(parts)) and (found := self._find_alias(node, parts)):
            return found
        if len(slots) > 1:
            report_ambiguous(self, node, parts, slots)
            return Bound(None, NOT_KNOWN, merge(*(slot.attribute.origins for slot in slots))), len(parts)
        if slots:
            return self._slot(slots[0]), taken
        if lateral and not prefers_alias and (found := self._find_alias(node, parts)):
            if self.aliases_first:
                message = f"`{parts[0]}` is an alias of the select list: an aggregate function here may not use it"
                self.report("PEN3011", node, message, "aggregate the expression that it names")
            return found
        if opened := self.relation.open_source(parts):
            source, name = opened
            if source.input is None:
                return Bound(None, NOT_KNOWN), len(parts)
            self.binder.columns_read.setdefault(source.input, set()).add(name)
            key = (id(source), *(part.lower() for part in parts[parts.index(name) :]))
            return Bound(key, NOT_KNOWN, (Origin(source.input, name, Dependency.IDENTITY),)), len(parts)
        return None

    def _means_column(self, parts: Sequence[str]) -> bool:
        """Whether Spark takes the column of FROM: several aliases have that name, or the alias has no such field."""
        named = self.aliases.get(parts[0].lower(), ())
        if len(named) > 1:
            return True
        found: Typed | None = named[0].typed if named else NOT_KNOWN
        for name in parts[1:]:
            found = field_of(found, name) if found is not None else None
        return found is None

    def _slot(self, slot: Slot) -> Bound:
        key = slot.key
        known = self._columns.get(key)
        if known is None:
            attribute = slot.attribute
            if slot.source.input is not None:
                self.binder.columns_read[slot.source.input].add(attribute.name)
            known = self._columns[key] = Bound(key, slot.typed, attribute.origins)
        return known

    def _find_alias(self, node: exp.Column, parts: Sequence[str]) -> tuple[Bound, int] | None:
        named = self.aliases.get(parts[0].lower())
        if not named:
            return None
        if len(named) > 1:
            message = f"`{parts[0]}` is ambiguous: {len(named)} columns of the select list have that name"
            self.report("PEN3003", node, message)
            return Bound(None, NOT_KNOWN), len(parts)
        attribute = named[0]
        typed = Typed(attribute.typed.type, attribute.typed.nullable)  # an alias is no constant, whatever it stands for
        key = attribute.identity or ("alias", id(attribute))
        self.names_aliases = True
        return Bound(key, typed, attribute.origins, is_alias=True), 1

    def _fields(self, bound: Bound, identifiers: Sequence[exp.Expr], taken: int) -> Bound:
        if taken == len(identifiers):
            return bound
        typed, key, origins = bound.typed, bound.key, bound.origins
        for part in identifiers[taken:]:
            inner = field_of(typed, part.name)
            if inner is None:
                owner = ".".join(identifier.name for identifier in identifiers[: list(identifiers).index(part)])
                code, message = refusal(f"`{owner}`", typed.type, part.name)
                known = field_names(typed.type) if code == "PEN3005" else ()
                self.report(code, part, message, suggest(part.name, known))
                return Bound(None, NOT_KNOWN, origins, bound.depth)
            if isinstance(typed.type, Map):
                self.printed.note_shape(part, "key")
            typed = inner
            key = None if key is None else (*key, part.name.lower())
        origins = through(origins, Dependency.TRANSFORMATION)
        return Bound(key, typed, origins, bound.depth, bound.is_alias)

    def is_lateral_alias(self, node: exp.Column) -> bool:
        bound = self.bound.get(id(node))
        return bound is not None and bound.is_alias

    def qualifier_length(self, node: exp.Column) -> int:
        parts = [part.name for part in node.parts]
        scope: EnclosingScope | None = self
        while scope is not None:
            slots, taken = scope.relation.find(parts)
            if slots:
                return taken - 1
            scope = scope.environment.outer
        return 0

    def outer_qualifier(self, node: exp.Column) -> str | None:
        outer = self.environment.outer
        if outer is None or not self.is_outer(node):
            return None
        slots, _ = outer.relation.find([part.name for part in node.parts])
        return slots[0].source.label if slots else None

    def is_outer(self, node: exp.Column) -> bool:
        bound = self.bound.get(id(node))
        return bound is not None and bound.depth > 0

    def variable(self, name: str) -> Typed | None:
        folded = name.lower()
        for variables in reversed(self._variables):
            if folded in variables:
                return variables[folded]
        return None

    @contextmanager
    def bind(self, variables: Mapping[str, Typed]) -> Iterator[None]:
        self._variables.append({name.lower(): typed for name, typed in variables.items()})
        try:
            yield
        finally:
            self._variables.pop()

    def expand(self, node: exp.Expr) -> tuple[NamedTyped, ...] | None:
        attributes = self.star(node)
        if attributes is None:
            return None
        self.used.append((node, merge(*(attribute.origins for attribute in attributes))))
        return tuple(NamedTyped(attribute.name, attribute.typed) for attribute in attributes)

    def outer_names(self, query: exp.Expr) -> list[str]:
        return [column.name for column, _ in self.correlated.get(id(outermost(query)), ())]

    def star(self, node: exp.Expr) -> list[Attribute] | None:
        """The columns that a star stands for, its EXCEPT applied; None if they are not known."""
        return expand_star(self, node)

    def subquery(self, node: exp.Expr) -> tuple[NamedTyped, ...] | None:
        before = self.outer_references
        self.outer_references = []
        output = self.binder.query(node, replace(self.environment, outer=self))
        if self.outer_references:
            self.correlated[id(outermost(node))] = tuple(_in_plan_order(node, self.outer_references))
        self.outer_references = before
        origins = merge(*(attribute.origins for attribute in output.attributes))
        rows = through(output.row_origins, Dependency.CONDITIONAL)
        self.used.append((node, merge(through(origins, Dependency.TRANSFORMATION), rows)))
        return output.columns()

    def correlated_scalars(self, node: exp.Expr) -> list[exp.Expr]:
        """The scalar subqueries of a typed expression that use columns of this scope."""
        if not self.correlated:
            return []
        return [query for query in node.find_all(exp.Query) if id(query) in self.correlated and is_scalar(query)]

    def window(self, node: exp.Window) -> exp.Window | None:
        name = node.args.get("alias")
        if name is None:
            return None
        found = self.windows.get(name.name.lower())
        if found is None:
            self.report("PEN3017", name, f"no window is named `{name.name}`", suggest(name.name, list(self.windows)))
        return found

    def take_used(self) -> list[tuple[exp.Expr, Origins]]:
        """The columns and subqueries used since the last call."""
        used, self.used = self.used, []
        return used

    def origins_of(self, root: exp.Expr) -> Origins:
        """The origins of an expression that was just typed."""
        used = self.take_used()
        return merge(*(through(origins, use_of(node, root, is_aggregate)) for node, origins in used))

    def origins_for(self, use: Dependency) -> Origins:
        """The origins of what was just typed, all used in one way."""
        return merge(*(through(origins, use) for _, origins in self.take_used()))


def is_aggregated(node: exp.Expr, within: exp.Expr | None = None) -> bool:
    """Whether the node stands inside an aggregate function, where the columns of FROM come first."""
    parent = node.parent
    while parent is not None and parent is not within and not isinstance(parent, exp.Query):
        if is_aggregate(parent):
            return True
        parent = parent.parent
    return False


_PLAN_ORDER: Final = {"having": 0, "expressions": 1, "group": 1, "where": 2}
"""The clauses of a query as Spark's plan has them from its root on; what FROM holds comes last."""


def _in_plan_order(query: exp.Expr, references: "list[tuple[exp.Column, Bound]]") -> "list[tuple[exp.Column, Bound]]":
    """Columns of the outer query in the order in which Spark finds them in the plan of the query that uses them."""
    select = query.unnest()
    if not isinstance(select, exp.Select):
        return references

    def clause(reference: "tuple[exp.Column, Bound]") -> int:
        node: exp.Expr = reference[0]
        while node.parent is not None and node.parent is not select:
            node = node.parent
        return _PLAN_ORDER.get(node.arg_key or "expressions", 3)

    selected = {bound.key for column, bound in references if clause((column, bound)) == _PLAN_ORDER["expressions"]}
    distinct = [
        (column, bound)  # Spark sorts by a column of the select list, of the outer query or not
        for column, bound in references
        if bound.key not in selected or column.find_ancestor(exp.Order, exp.Select) in (None, select)
    ]
    return sorted(distinct, key=clause)
