"""A job as read from HOCON, JSON or SQL: checked blocks with their locations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Final

from catalog.compat import Compat
from catalog.diagnostics.source import SourceFile, Span
from catalog.masks import Masks
from catalog.options import Options
from engine.job.model.intervals import IntervalSpec, TimeInterval


class BlockKind(str, Enum):
    SOURCE = "source"
    TRANSFORM = "transform"
    SINK = "sink"


class Cache(str, Enum):
    """Where rows that several read are kept while the job runs; NONE: each reader has them computed again."""

    NONE = "none"
    MEMORY = "memory"
    DISK = "disk"


class ColumnMatch(str, Enum):
    """How the columns of a further input are matched with those of the first; EXACT: they are equal, in equal order."""

    EXACT = "exact"
    POSITION = "position"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Reference:
    """A block's reference to an output of another block, with its location; `match`: of an input of a sink."""

    name: str
    span: Span | None
    match: ColumnMatch = ColumnMatch.EXACT


@dataclass(frozen=True, eq=False, slots=True)
class TableOptions:
    """The options of a block for one table of a set; `path` is the table's, where the entry names it."""

    options: Options
    path: str | None = None


class Chain(Enum):
    """Whether the query of a transform becomes one with those around it: with both, only with the one after it, or
    with none, as Flink's chaining strategies."""

    ALWAYS = "always"
    HEAD = "head"
    NEVER = "never"


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """One plugin block. `inputs` is empty where none are written: wiring then takes the block before it.

    `names_are_known` is false if a variable in its inputs or outputs is undefined; wiring errors are then not reported.
    `rejects` are the outputs into which its expectations quarantine rows. `sink_name` is the sink's own name: no
    block can read it, so it is not an output. `tables`: the entries of `tables_configs` or `table_transform`. A
    transform is applied to the tables that `table_match_regex` matches; not at all, save by its entries, where it has
    no own options. `written`: its name in the job file, where `outputs` has another.
    """

    kind: BlockKind
    plugin: str
    options: Options
    inputs: tuple[Reference, ...]
    outputs: tuple[Reference, ...]
    span: Span | None
    plugin_span: Span | None
    parallelism: int | None = None
    uid: str | None = None
    names_are_known: bool = True
    rejects: tuple[Reference, ...] = ()
    cache: Cache | None = None
    sink_name: str | None = None
    tables: tuple[TableOptions, ...] = ()
    table_match_regex: str | None = None
    has_own_options: bool = True
    written: str | None = None
    chain: Chain = Chain.ALWAYS

    @property
    def name(self) -> str:
        """The name by which others read it, or the plugin's."""
        return self.outputs[0].name if self.outputs else self.plugin.lower()


@dataclass(frozen=True, slots=True)
class ListenerConfig:
    """A listener of the states of a run: `type` is `log`, `jsonl`, `http` or `openlineage`; `timeout` in seconds."""

    type: str
    url: str | None = None
    path: str | None = None
    timeout: float = 5.0
    retries: int = 3
    token_env: str | None = None
    namespace: str = "penstock"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadLimit:
    """The most rows, and the most bytes of their values, that are read in a second from each source."""

    rows_per_second: int | None = None
    bytes_per_second: int | None = None

    def __str__(self) -> str:
        limits = ((self.rows_per_second, "rows"), (self.bytes_per_second, "bytes"))
        return " and ".join(f"{limit:,} {unit}" for limit, unit in limits if limit is not None)


NO_READ_LIMIT: Final = ReadLimit()

COMET_ENABLED: Final = "spark.comet.enabled"
"""Comet's setting that turns it off for a session."""


class Tuning(str, Enum):
    """What `env { tuning }` turns on: parts of Hadoop and Java that Penstock replaces only where a job asks for it."""

    HADOOP = "hadoop"
    LATE_COMPILER = "late_compiler"


class Accelerator(str, Enum):
    """What executes Spark's operators natively; COMET: Apache DataFusion Comet."""

    NONE = "none"
    COMET = "comet"


@dataclass(frozen=True, eq=False, slots=True)
class Env:
    """The job's settings. `spark` holds the `spark.*` settings of the session, values as text; `places`: their
    locations. `dialect`: the SQL that queries are written in, Spark's or SeaTunnel's. `masks`: what must not be shown
    of the job. `interval`: the intervals that its runs do; `window`: the one, or several in a row, that it is compiled
    for. `keep_runs`: how long the records of runs are kept (None: for ever)."""

    name: str
    mode: str = "BATCH"
    parallelism: int = 2
    retry_times: int = 3
    retry_interval_seconds: float = 3.0
    failure_policy: str = "stop"
    spark: Mapping[str, str] = field(default_factory=dict)
    options: Options | None = None
    places: Mapping[str, Span] = field(default_factory=dict)
    dialect: Compat = Compat.OFF
    slots: int | None = None
    slot_timeout: float | None = None
    listeners: tuple[ListenerConfig, ...] = ()
    read_limit: ReadLimit = NO_READ_LIMIT
    masks: Masks = field(default_factory=Masks, repr=False)
    tuning: frozenset[Tuning] = frozenset()
    reuses_batch_plans: bool = True
    chains: bool = True
    accelerator: Accelerator = Accelerator.NONE
    interval: IntervalSpec | None = None
    window: TimeInterval | None = None
    keep_runs: timedelta | None = None

    @property
    def session_settings(self) -> Mapping[str, str]:
        """The settings of the job's own sessions: another job may have started the application with an accelerator."""
        return self.spark if self.accelerator is Accelerator.COMET else {**self.spark, COMET_ENABLED: "false"}


@dataclass(frozen=True, eq=False, slots=True)
class Job:
    """A job file, read and checked on its own; its errors are in `found` of whoever loaded it.

    `is_whole` is false if part of the file could not be read as blocks: parts that seem missing may be there.
    """

    source: SourceFile
    env: Env
    blocks: tuple[Block, ...]
    is_whole: bool = True

    @property
    def is_sql(self) -> bool:
        """Whether the file is a SQL script; hints then use SQL."""
        return self.source.path.lower().endswith(".sql")

    def of_kind(self, kind: BlockKind) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.kind is kind)
