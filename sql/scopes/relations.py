"""The columns of queries and FROM clauses, and how a dotted name is resolved to one of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from catalog.tables.table import CatalogTable
from sql.scopes.lineage import Dependency, Origin, Origins
from sql.types.expression_type import NamedTyped, Typed


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """An output column: its name, what is known of it, and the source columns that it comes from.

    `identity` is equal for columns of one query that are the same column of its FROM clause, unchanged.
    """

    name: str
    typed: Typed
    origins: Origins = ()
    identity: tuple[object, ...] | None = None


@dataclass(slots=True, eq=False)
class Output:
    """The columns of a query; `row_origins` decide which rows there are; `is_open`: there may be more columns."""

    attributes: tuple[Attribute, ...]
    row_origins: Origins = ()
    is_open: bool = False
    _index: dict[str, list[int]] = field(default_factory=dict)

    def find(self, name: str) -> Sequence[int]:
        """Positions of the columns of that (lower-case) name."""
        if not self._index and self.attributes:
            for position, attribute in enumerate(self.attributes):
                self._index.setdefault(attribute.name.lower(), []).append(position)
        return self._index.get(name, ())

    def columns(self) -> tuple[NamedTyped, ...] | None:
        return (
            None
            if self.is_open
            else tuple(NamedTyped(attribute.name, attribute.typed) for attribute in self.attributes)
        )

    def renamed(self, names: Sequence[str]) -> "Output":
        """The same columns under other names; names beyond the columns are dropped."""
        pairs = zip(self.attributes, names, strict=False)
        return Output(tuple(replace(pair, name=name) for pair, name in pairs), self.row_origins, self.is_open)


TableOutputs: TypeAlias = dict[tuple[str, int], tuple[CatalogTable, Output]]
"""Those of the inputs so far, by name in queries and identity: many queries of a job read the same ones."""


def table_output(name: str, table: CatalogTable, outputs: TableOutputs) -> Output:
    """The columns of an input, each its own origin; added to `outputs`."""
    known = outputs.get((name, id(table)))
    if known is not None:
        return known[1]
    identity = Dependency.IDENTITY
    attributes = [
        Attribute(column.name, Typed(column.type, column.nullable), (Origin(name, column.name, identity),))
        for column in table.all_columns
    ]
    output = Output(tuple(attributes), (), table.is_open)
    outputs[name, id(table)] = table, output
    return output


@dataclass(slots=True, eq=False)
class RangeVariable:
    """One relation of a FROM clause. `input`: the input that it is, where it is one; `optional`: an outer join may
    leave it without a row, so its columns are nullable; `hidden`: positions that only a qualified name reaches;
    `any_qualifier`: its columns may have kept the qualifiers of tables further in."""

    qualifier: tuple[str, ...]
    output: Output
    input: str | None = None
    optional: bool = False
    hidden: frozenset[int] = frozenset()
    any_qualifier: bool = False
    _folded: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._folded = tuple(part.lower() for part in self.qualifier)

    @property
    def label(self) -> str:
        return ".".join(self.qualifier)

    def answers(self, qualifier: Sequence[str]) -> bool:
        """Whether a (lower-case) qualifier means this relation: all of its name, or the last parts of it."""
        size = len(qualifier)
        if self.any_qualifier:
            return size == 1
        return bool(size) and self._folded[-size:] == tuple(qualifier)

    def typed(self, position: int) -> Typed:
        """The column as a query over this relation sees it: no constant, whatever it was made of."""
        typed = self.output.attributes[position].typed
        if (
            not typed.foldable
            and typed.value is None
            and typed.elements is None
            and (typed.nullable or not self.optional)
        ):
            return typed
        return Typed(typed.type, typed.nullable or self.optional)


@dataclass(frozen=True, slots=True)
class Slot:
    """One column of one relation of a FROM clause: what a name means."""

    source: RangeVariable
    position: int

    @property
    def attribute(self) -> Attribute:
        return self.source.output.attributes[self.position]

    @property
    def typed(self) -> Typed:
        return self.source.typed(self.position)

    @property
    def key(self) -> tuple[int, int]:
        return id(self.source), self.position


@dataclass(slots=True, eq=False)
class Relation:
    """What a FROM clause yields: relations side by side; `order`: the columns of `*` where USING rearranged them.

    `concealed`: the key columns that USING took out of `*`, which `t.*` shows first.
    """

    sources: tuple[RangeVariable, ...] = ()
    row_origins: Origins = ()
    order: tuple[Slot, ...] | None = None
    concealed: tuple[Slot, ...] = ()
    _found: dict[tuple[str, ...], tuple[list[Slot], int]] = field(init=False, default_factory=dict)

    @property
    def is_open(self) -> bool:
        return any(source.output.is_open for source in self.sources)

    def star(self) -> Iterator[Slot]:
        if self.order is not None:
            yield from self.order
            return
        for source in self.sources:
            yield from visible(source)

    def qualified_star(self, qualifier: Sequence[str]) -> list[Slot]:
        """The columns of `t.*`, of all relations that the (lower-case) qualifier means."""
        return [slot for slot in (*self.concealed, *self.star()) if slot.source.answers(qualifier)]

    def keys_of_using(self, name: str) -> list[Slot]:
        """The column that a USING key means, in a list: the first of that name; none if there is none."""
        folded = name.lower()
        return [slot for slot in self.star() if slot.attribute.name.lower() == folded][:1]

    def names(self) -> list[str]:
        return [attribute.name for source in self.sources for attribute in source.output.attributes]

    def find(self, parts: Sequence[str]) -> tuple[list[Slot], int]:
        """The columns that a dotted name may mean and how many of its parts they take; the rest are struct fields.

        The longest qualifier wins, as in Spark: `a.b` is column `b` of `a` before it is field `b` of column `a`.
        Columns that USING took out of `*` come last.
        """
        name = tuple(parts)
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._find([part.lower() for part in parts])
        return found

    def _find(self, folded: Sequence[str]) -> tuple[list[Slot], int]:
        for size in range(min(len(folded) - 1, 3), 0, -1):
            if found := self._qualified(folded, size, hidden=False):
                return _distinct(found), size + 1
        name = folded[0]
        found = [
            Slot(source, position)
            for source in self.sources
            for position in source.output.find(name)
            if position not in source.hidden
        ]
        if not found and self.concealed:
            for size in range(min(len(folded) - 1, 3), 0, -1):
                if found := self._qualified(folded, size, hidden=True):
                    return _distinct(found), size + 1
        return _distinct(found), 1

    def _qualified(self, folded: Sequence[str], size: int, *, hidden: bool) -> list[Slot]:
        return [
            Slot(source, position)
            for source in self.sources
            if source.answers(folded[:size])
            for position in source.output.find(folded[size])
            if (position in source.hidden) is hidden
        ]

    def open_source(self, parts: Sequence[str]) -> tuple[RangeVariable, str] | None:
        """The open relation that may hold a column of that name, and the column's name there."""
        folded = [part.lower() for part in parts]
        for size in range(min(len(folded) - 1, 3), 0, -1):
            for source in self.sources:
                if source.output.is_open and source.answers(folded[:size]):
                    return source, parts[size]
        is_qualified = len(folded) > 1 and any(source.answers(folded[:1]) for source in self.sources)
        unqualified = () if is_qualified else self.sources
        return next(((source, parts[0]) for source in unqualified if source.output.is_open), None)


def _distinct(slots: list[Slot]) -> list[Slot]:
    """The slots without those that are the same column of one relation under the same name."""
    if len(slots) < 2:
        return slots
    first: dict[object, Slot] = {}
    for slot in slots:
        identity = slot.attribute.identity
        first.setdefault(slot.key if identity is None else (id(slot.source), *identity), slot)
    return list(first.values())


def visible(source: RangeVariable) -> Iterator[Slot]:
    """The columns of a relation that `*` shows."""
    for position in range(len(source.output.attributes)):
        if position not in source.hidden:
            yield Slot(source, position)


def all_nullable(output: Output) -> Output:
    """The same columns, each nullable."""
    attributes = (replace(attribute, typed=replace(attribute.typed, nullable=True)) for attribute in output.attributes)
    return Output(tuple(attributes), output.row_origins, output.is_open)


def side_by_side(left: Relation, right: Relation) -> Relation:
    """The columns of both, left first."""
    order = None if left.order is None and right.order is None else (*left.star(), *right.star())
    concealed = (*left.concealed, *right.concealed)
    return Relation((*left.sources, *right.sources), merge(left.row_origins, right.row_origins), order, concealed)


def made_optional(relation: Relation) -> Relation:
    """The relation on the nullable side of an outer join."""
    copies = {id(source): replace(source, optional=True) for source in relation.sources}
    return _over(relation, copies)


def hiding(relation: Relation, lost: Sequence[Slot]) -> tuple[Relation, Mapping[int, RangeVariable]]:
    """The relation with the lost columns reachable by qualified names only, and its sources by the id of the old."""
    positions: dict[int, set[int]] = {}
    for slot in lost:
        positions.setdefault(id(slot.source), set()).add(slot.position)
    moved = {
        id(source): replace(source, hidden=source.hidden | positions[id(source)]) if id(source) in positions else source
        for source in relation.sources
    }
    return _over(relation, moved), moved


def _over(relation: Relation, copies: Mapping[int, RangeVariable]) -> Relation:
    """The same relation over copies of its sources, by the id of the old."""
    order = relation.order and tuple(Slot(copies[id(slot.source)], slot.position) for slot in relation.order)
    concealed = tuple(Slot(copies[id(slot.source)], slot.position) for slot in relation.concealed)
    return Relation(tuple(copies.values()), relation.row_origins, order, concealed)


def merge(*origins: Origins) -> Origins:
    """All origins, each once, in order of appearance."""
    if len(origins) == 1:
        return origins[0]
    return tuple(dict.fromkeys(origin for several in origins for origin in several))
