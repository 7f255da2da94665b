"""The logical plan: frozen nodes with identity equality, children first, every edge carrying a `CatalogTable`.

`name` is unique in the plan and is displayed; `id` (see `ids.py`) is stable between edits of the job and meant for
programs. Rules keep the id of a node that they change: it identifies what the job asks for, not how it is done.
"""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import Enum
from operator import is_
from typing import TypeAlias

from catalog.diagnostics.source import PlacedText, Span
from catalog.exhaustive import assert_never
from catalog.options import Options
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.tables.table import CatalogTable
from connectors.interface.sink import AnySink
from connectors.interface.source import Source
from engine.expectations.rules import Rule, rejects_table
from engine.job.model.job import Cache, Chain, Env
from engine.transforms.base import NativeTransform
from sql.analyze import Analysis
from sql.rewrite.select_query import Select


@dataclass(frozen=True, slots=True)
class Persisted:
    """Marks a node whose rows are computed once for all readers: where they are persisted, and why.

    `by`: the column by whose values the rows are in directories; a reader of one value reads no other directory.
    """

    cache: Cache
    readers: int
    reason: str
    by: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class BaseNode:
    """The fields of every node.

    `parallelism`, `uid`: as the job gives them. `id`: empty until `with_ids` gives one. `span`: the place in the job
    file of errors that have none of their own. `table_set`: the name of the set of which the node is one table.
    `written`: the name that the job gives, where `name` is another: that of a source behind its expectations.
    """

    name: str
    _: KW_ONLY
    parallelism: int | None = None
    uid: str | None = None
    id: str = ""
    span: Span | None = None
    table_set: str | None = None
    written: str | None = None

    @property
    def written_name(self) -> str:
        """The name that the job gives: it stays when expectations or a query are added to the block."""
        return self.written or self.name


@dataclass(frozen=True, eq=False, slots=True)
class PersistableNode(BaseNode):
    """A node whose rows can be persisted: `cache` is the job's setting, `persisted` the decision."""

    _: KW_ONLY
    cache: Cache | None = None
    persisted: Persisted | None = None


@dataclass(frozen=True, slots=True)
class GroupRead:
    """A read of what the write named `write` of the same plan commits later. `is_staged`: the target is read as the
    commit will leave it, once the write has staged its rows; else as it is before, without rows where there is none."""

    write: str
    is_staged: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Scan(PersistableNode):
    """Read one table of a source; `columns` (None: all) and `filters` are what was pushed into it. `of_group`: of jobs
    that are committed together."""

    connector: Source
    options: Options
    table: CatalogTable
    columns: tuple[str, ...] | None = None
    filters: tuple[str, ...] = ()
    of_group: GroupRead | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """An edge into a query: the name by which the query reads it, and the node that yields it."""

    name: str
    node: "Node"


@dataclass(frozen=True, eq=False, slots=True)
class Query(PersistableNode):
    """A query over named inputs: a user's text, which Spark gets as written, or a generated Select."""

    kind: str
    body: PlacedText | Select
    inputs: tuple[Input, ...]
    analysis: Analysis
    chain: Chain = Chain.ALWAYS

    @property
    def table(self) -> CatalogTable:
        return self.analysis.table


@dataclass(frozen=True, eq=False, slots=True)
class Native(PersistableNode):
    """A transform in code for what SQL cannot express (a Python function, a model's answers)."""

    plugin: NativeTransform
    options: Options
    input: "Node"
    table: CatalogTable


@dataclass(frozen=True, eq=False, slots=True)
class Union(PersistableNode):
    """UNION ALL of inputs with equal schemas."""

    inputs: tuple["Node", ...]
    table: CatalogTable


@dataclass(frozen=True, eq=False, slots=True)
class Expect(PersistableNode):
    """The input's rows, checked in passing; rules that drop or quarantine remove the rows that violate them."""

    input: "Node"
    rules: tuple[Rule, ...]

    @property
    def table(self) -> CatalogTable:
        return self.input.table


@dataclass(frozen=True, eq=False, slots=True)
class Rejects(BaseNode):
    """The rows that an Expect over the same input quarantines, with `_reason` (the violated rules) and `_node`."""

    input: "Node"
    rules: tuple[Rule, ...]
    node: str

    @property
    def table(self) -> CatalogTable:
        return rejects_table(self.input.table)


@dataclass(frozen=True, eq=False, slots=True)
class Watermark(PersistableNode):
    """The input's rows, unchanged, in a streaming job: `column` is their event time, and rows that are `delay` older
    than the latest may be left out by what keeps state over them. `idle`: how long a partition of the source without
    records is waited for; None: for ever."""

    input: "Node"
    column: str
    delay: str
    idle: str | None = None

    @property
    def table(self) -> CatalogTable:
        return self.input.table


class RoutingStrategy(str, Enum):
    """How the rows of one stream get to their tables."""

    BRANCHES = "independent branches"
    PARTITIONED = "one partitioned write"
    PERSIST = "persist"


@dataclass(frozen=True, slots=True)
class Routing:
    """The strategy that `shuffle_tables` has chosen, and why."""

    strategy: RoutingStrategy
    reason: str


@dataclass(frozen=True, eq=False, slots=True)
class Shuffle(PersistableNode):
    """Rows that carry the name of their table in `column`; a query over this node for each of the `values` makes the
    tables. `routing` is how the rows get there; None: as each query reads them."""

    input: "Node"
    column: str
    values: tuple[str, ...]
    routing: Routing | None = None

    @property
    def table(self) -> CatalogTable:
        return self.input.table


@dataclass(frozen=True, eq=False, slots=True)
class Write(BaseNode):
    """Write the input's rows to a target."""

    connector: AnySink
    options: Options
    input: "Node"
    schema_save_mode: SchemaSaveMode
    data_save_mode: DataSaveMode
    write_mode: WriteMode

    @property
    def table(self) -> CatalogTable:
        """The table for the sink: without row kinds if it writes every row unchanged."""
        return replace(self.input.table, has_row_kind=False) if self.drops_row_kind else self.input.table

    @property
    def target(self) -> str:
        """Where the rows go, as text; of a sink that does not say, its name."""
        return self.connector.target(self.options) or self.name

    @property
    def drops_row_kind(self) -> bool:
        """Whether the rows have kinds that the sink ignores."""
        return self.input.table.has_row_kind and self.write_mode not in self.connector.row_kind_modes(self.options)

    @property
    def keeps_last(self) -> bool:
        """Whether the row of a key that is read last counts: SeaTunnel's sinks write rows one by one."""
        is_keyed = self.write_mode in (WriteMode.UPSERT, WriteMode.CHANGELOG)
        return self.options.seatunnel is not None and is_keyed and self.options.get("sequence_field") is None


Node: TypeAlias = Scan | Query | Native | Union | Expect | Rejects | Watermark | Shuffle
"""A node that yields rows."""

AnyNode: TypeAlias = Scan | Query | Native | Union | Expect | Rejects | Watermark | Shuffle | Write


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """A job's plan: its writes in the order of the job file; every other node is reached from them.

    `unread`: nodes that no write reads, kept until `prune_unused` so that `explain` can show them.
    """

    env: Env
    writes: tuple[Write, ...]
    unread: tuple[Node, ...] = ()
    _nodes: tuple[AnyNode, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        seen: set[int] = set()
        nodes = tuple(node for root in (*self.unread, *self.writes) for node in _postorder(root, seen))
        object.__setattr__(self, "_nodes", nodes)

    def nodes(self) -> tuple[AnyNode, ...]:
        """Every node once, inputs before their readers."""
        return self._nodes


def children(node: AnyNode) -> tuple[Node, ...]:
    """The nodes that a node reads, in order."""
    match node:
        case Scan():
            return ()
        case Query():
            return tuple(input.node for input in node.inputs)
        case Union():
            return node.inputs
        case Native() | Expect() | Rejects() | Watermark() | Shuffle() | Write():
            return (node.input,)
        case _:
            assert_never(node)


def plugin_of(node: AnyNode) -> str:
    """The node's connector or transform, or its kind."""
    match node:
        case Scan() | Write():
            return node.connector.name
        case Query():
            return node.kind
        case Native():
            return node.plugin.name
        case Union() | Expect() | Rejects() | Watermark() | Shuffle():
            return type(node).__name__
        case _:
            assert_never(node)


def below(node: AnyNode) -> tuple[AnyNode, ...]:
    """The node and all nodes below it, without duplicates."""
    found: dict[AnyNode, None] = {}
    stack = [node]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack.extend(children(node))
    return tuple(found)


def rewrite(plan: Plan, change: Callable[[AnyNode], AnyNode]) -> Plan:
    """The plan with every node changed, inputs first, a shared one once; the same object when nothing changes."""
    done: dict[AnyNode, AnyNode] = {}
    for node in plan.nodes():
        before = children(node)
        after = [_node(done[child]) for child in before]
        done[node] = change(node if all(map(is_, before, after)) else with_children(node, after))
    writes = tuple(_write(done[write]) for write in plan.writes)
    unread = tuple(_node(done[node]) for node in plan.unread)
    if all(old is new for old, new in done.items()):
        return plan
    return replace(plan, writes=writes, unread=unread)


def with_children(node: AnyNode, inputs: list[Node]) -> AnyNode:
    """The node over other inputs, as many as it has."""
    match node:
        case Scan():
            return node
        case Query():
            return replace(node, inputs=tuple(Input(e.name, new) for e, new in zip(node.inputs, inputs, strict=True)))
        case Union():
            return replace(node, inputs=tuple(inputs))
        case Native() | Expect() | Rejects() | Watermark() | Shuffle() | Write():
            return replace(node, input=inputs[0])
        case _:
            assert_never(node)


def _node(node: AnyNode) -> Node:
    if isinstance(node, Write):
        raise TypeError(f"the write `{node.name}` yields no rows")
    return node


def _write(node: AnyNode) -> Write:
    if not isinstance(node, Write):
        raise TypeError(f"`{node.name}` is not a write")
    return node


def _postorder(root: AnyNode, seen: set[int]) -> Iterator[AnyNode]:
    stack: list[tuple[AnyNode, bool]] = [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children(node)))
