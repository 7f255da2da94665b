"""What a connector is: options it takes, what it can do, and the calls by which the engine uses it.

Importing a connector imports neither pyspark nor a driver: annotations only, and imports inside the methods that run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, TypeAlias, runtime_checkable

from catalog.diagnostics import Diagnostics
from catalog.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.source import PlacedText, Span
from catalog.table import CatalogTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | None"


class OptionType(str, Enum):
    """The type of an option's value, as JSON Schema and the reference pages name it."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    LIST = "list"
    MAP = "map"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a connector or transform.

    `choices` are matched ignoring case. `alternatives` are other spellings of the same option. `element` is the type of
    a list's elements or of a map's values (then `a.b = 1` is the key `a.b`). `sensitive` values are never printed,
    logged or put in a plan. `is_query`: the value is SQL text.
    """

    name: str
    type: OptionType
    doc: str
    default: Value = None
    required: bool = False
    choices: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    element: OptionType | None = None
    minimum: float | None = None
    sensitive: bool = False
    is_query: bool = False

    def __post_init__(self) -> None:
        if self.required and self.default is not None:
            raise ValueError(f"option {self.name} is required and has a default")


SAVE_OPTIONS: Final = (
    Option(
        "schema_save_mode",
        OptionType.STRING,
        "What happens to the target's schema before rows are written.",
        default=SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST.value,
        choices=tuple(mode.value for mode in SchemaSaveMode),
    ),
    Option(
        "data_save_mode",
        OptionType.STRING,
        "What happens to the rows that the target already holds.",
        default=DataSaveMode.APPEND_DATA.value,
        choices=tuple(mode.value for mode in DataSaveMode),
    ),
    Option(
        "write_mode",
        OptionType.STRING,
        "How rows are put beside those that stay.",
        default=WriteMode.APPEND.value,
        choices=tuple(mode.value for mode in WriteMode),
    ),
)
"""What a sink with a target takes beside its own options; the modes it cannot do are in its capabilities."""


@dataclass(frozen=True, eq=False, slots=True)
class Options:
    """The checked options of one block: every option of the spec has a value here (its default, or None where none).

    `texts` are the string values that were written in the file, with their place; `places` is where each key's value
    stands, nested keys and indexes with dots (`schema.fields.id`, `columns.0`), `key_places` where the nested keys
    themselves stand; `block` is the whole block. Not
    `is_valid`: values are missing or wrong, which was reported, and what is here cannot stand for them. The repr holds
    no value, since some are sensitive.
    """

    values: Mapping[str, Value] = field(repr=False)
    block: Span | None = None
    places: Mapping[str, Span] = field(default_factory=dict, repr=False)
    texts: Mapping[str, PlacedText] = field(default_factory=dict, repr=False)
    sensitive: frozenset[str] = frozenset()
    is_valid: bool = True
    key_places: Mapping[str, Span] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def get(self, name: str) -> Value:
        """The value, or None for an option that the spec does not have."""
        return self.values.get(name)

    def span(self, name: str | None = None) -> Span | None:
        """Where the option's value stands; the block where the option was not written."""
        return self.places.get(name, self.block) if name else self.block

    def key_span(self, name: str) -> Span | None:
        """Where a nested key stands (`schema.fields.id`); its value, or the block, where that is not known."""
        return self.key_places.get(name) or self.span(name)

    def text(self, name: str) -> PlacedText:
        """A string option with its place in the file."""
        return self.texts.get(name) or PlacedText.bare(self.string(name))

    def string(self, name: str) -> str:
        value = self.values[name]
        if not isinstance(value, str):
            raise TypeError(f"option {name} is no string: {value!r}")
        return value

    def optional_string(self, name: str) -> str | None:
        return None if self.values.get(name) is None else self.string(name)

    def integer(self, name: str) -> int:
        value = self.values[name]
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"option {name} is no integer: {value!r}")
        return value

    def flag(self, name: str) -> bool:
        return bool(self.values[name])

    def strings(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        return tuple(str(each) for each in value) if isinstance(value, Sequence) and not isinstance(value, str) else ()

    def mapping(self, name: str) -> Mapping[str, Value]:
        value = self.values.get(name)
        return value if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class SourceCapabilities:
    """What a source can do.

    `column_pushdown`, `filter_pushdown`: `read` takes the columns and filters of its `ScanTask`. `is_pruned_by_spark`:
    it yields a DataFrame of a data source of Spark's, whose optimizer has it read no more than is wanted, so that ours
    has nothing to push. `is_cheap`: reading it again costs no more than a cache and gives the same rows.
    """

    column_pushdown: bool = False
    filter_pushdown: bool = False
    is_pruned_by_spark: bool = False
    is_cheap: bool = True
    is_deterministic: bool = True
    streaming: bool = False


@dataclass(frozen=True, slots=True)
class SinkCapabilities:
    """What a sink can do; a mode that is not here is a validation error (PEN4004), never a silent no-op.

    `is_staged`: nothing of a run is visible before its commit. A sink that is not says so in `explain`.
    `fills_columns`: a column that the rows lack is the target's to fill; else it is staged as NULL.
    """

    schema_save_modes: tuple[SchemaSaveMode, ...]
    data_save_modes: tuple[DataSaveMode, ...]
    write_modes: tuple[WriteMode, ...] = (WriteMode.APPEND,)
    is_staged: bool = True
    fills_columns: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class ScanTask:
    """One read: which table, which of its columns (None: all), which predicates (Spark SQL text) hold afterwards."""

    options: Options
    table: CatalogTable
    columns: tuple[str, ...] | None = None
    filters: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class WriteTask:
    """One write: what comes in, how it is to be saved, and for which run.

    `write_id` is unique in the job and stable between runs. `owner` is what a staging place must be marked with, so
    that other runs can tell whether this one lives, and `journal` where its journal is kept.
    """

    options: Options
    table: CatalogTable
    schema_save_mode: SchemaSaveMode
    data_save_mode: DataSaveMode
    write_mode: WriteMode
    run_id: str
    write_id: str
    owner: Mapping[str, Value] = field(default_factory=dict)
    journal: str = ""


Staged: TypeAlias = Mapping[str, Value]
"""What a write has made or is about to make, as JSON for the journal: a later process ends it from that alone."""


SECRETS: Final = "secrets"
"""The entry of a `Staged` that the journal leaves out: a commit of the same process has it, a later one has not."""


@runtime_checkable
class Source(Protocol):
    """A connector that reads.

    `maven`: coordinates of the jars that it needs; `session_settings`: what the Spark session must be started with.
    """

    name: ClassVar[str]
    doc: ClassVar[str]
    source_options: ClassVar[tuple[Option, ...]]
    source_capabilities: ClassVar[SourceCapabilities]
    maven: ClassVar[tuple[str, ...]] = ()
    session_settings: ClassVar[Mapping[str, str]] = {}

    def tables(self, options: Options, found: Diagnostics) -> tuple[CatalogTable, ...]:
        """The tables that this block yields, without Spark, Java or network; an open table where the schema cannot be
        known so. Faults of the options that their spec cannot express go to `found`."""
        ...

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        """The rows; columns and types as `task.table` says (in its order, cut to `task.columns`)."""
        ...


@runtime_checkable
class Sink(Protocol):
    """A connector that writes, in three steps; every step can be done again without harm."""

    name: ClassVar[str]
    doc: ClassVar[str]
    sink_options: ClassVar[tuple[Option, ...]]
    sink_capabilities: ClassVar[SinkCapabilities]
    maven: ClassVar[tuple[str, ...]] = ()
    session_settings: ClassVar[Mapping[str, str]] = {}

    def validate(self, options: Options, table: CatalogTable, found: Diagnostics) -> None:
        """Faults that can be seen without the target: options against the incoming schema."""
        ...

    def target(self, options: Options) -> str | None:
        """The directory that the rows go to, the same text however it is written; None where there is none."""
        return None

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        """What `explain` tells of a commit with these actions: where it can be seen half done, what it costs."""
        return ()

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        """What is at the target now: whether it exists, holds rows, and its schema."""
        ...

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> Staged:
        """Say where the rows will be staged, touching nothing: the journal keeps it first, so that whatever a killed
        `stage` leaves can be aborted."""
        ...

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: Staged) -> Staged:
        """Write the rows where nobody sees them; gives `prepared` with what `commit` needs beside it."""
        ...

    def keeps_rows(self, options: Options) -> bool:
        """Whether `staged_rows` can give back all columns of the rows, in their types."""
        return False

    def staged_rows(self, spark: "SparkSession", task: WriteTask, staged: Staged) -> "DataFrame | None":
        """The staged rows, for rules that look at all of them before the commit; asked only where `keeps_rows`."""
        return None

    def commit(self, spark: "SparkSession", staged: Staged) -> None:
        """Make the staged rows the target's; idempotent, also after a kill half-way, and removes the staging."""
        ...

    def abort(self, spark: "SparkSession", staged: Staged) -> None:
        """Remove what was staged, the target as it was; idempotent. Called only where `commit` was not."""
        ...
