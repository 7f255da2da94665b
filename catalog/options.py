"""The options that connectors and transforms declare, and their checked values in one block of a job."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias, TypeVar

from catalog.compat import Compat
from catalog.diagnostics.source import PlacedText, Span
from catalog.outside import Fill
from catalog.tables.evolution import SchemaEvolution, StoreAssignment
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode

Choice = TypeVar("Choice", bound=Enum)
T = TypeVar("T")

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
    logged or put in a plan. `is_query`: the value is SQL text. `offered`: the choices that this connector supports,
    where `choices` are those of all connectors; hints and lists name only these. `fill`: what a placeholder such as
    `${table_name}` is in the value, by which a name from outside is encoded or refused.
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
    offered: tuple[str, ...] = ()
    fill: Fill = Fill.PLAIN

    @property
    def supported(self) -> tuple[str, ...]:
        """The choices that this connector supports."""
        return self.offered or self.choices

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
        "How rows are combined with the rows that the target holds.",
        default=WriteMode.APPEND.value,
        choices=tuple(mode.value for mode in WriteMode),
    ),
)
"""Options of every sink with a target; its capabilities say which modes it supports."""

KEY_OPTIONS: Final = (
    Option(
        "primary_keys",
        OptionType.LIST,
        "Columns that identify a row, for `upsert`, `changelog` and `scd2`; by default the primary key of the incoming "
        "table.",
        element=OptionType.STRING,
    ),
    Option(
        "sequence_field",
        OptionType.STRING,
        "Of several rows of one key the one with the greatest value in this column is written, and no older one "
        "replaces it.",
    ),
    Option(
        "delete_condition",
        OptionType.STRING,
        "Spark SQL over the incoming columns: rows for which it holds are deleted from the target by their key.",
    ),
)
"""Options of sinks that match the target's rows by key."""

LOCAL_MERGE_OPTION: Final = Option(
    "local_merge",
    OptionType.STRING,
    "Whether rows of one key are reduced before the shuffle: `off` saves a sort where keys are unique.",
    default="auto",
    choices=("auto", "on", "off"),
)

EVOLUTION_OPTION: Final = Option(
    "schema_evolution",
    OptionType.STRING,
    "What happens where the rows do not fit the target: `add_columns` adds the columns that it lacks, `widen` also "
    "gives columns a wider type (int to bigint).",
    default=SchemaEvolution.FAIL.value,
    choices=tuple(evolution.value for evolution in SchemaEvolution),
)

STORE_ASSIGNMENT: Final = Option(
    "store_assignment",
    OptionType.STRING,
    "What happens where the type of a column of the target differs from that of the rows: with `lossless`, a value "
    "that the target would round, cut or otherwise change fails the run; `ansi` stores it as Spark does (9.7 as 9); "
    "`strict` refuses every type that is not wider. The default is `lossless`, and `ansi` under `--compat seatunnel`.",
    choices=tuple(policy.value for policy in StoreAssignment),
)
"""An option of every sink, and of queries whose columns are declared."""


@dataclass(frozen=True, slots=True)
class SeaTunnel:
    """Settings of a job that runs under `--compat seatunnel`, for its blocks.

    `parallelism`: the block's own, or that of `env`, or 1: each of so many readers of a FakeSource
    generates all its rows. `is_open`: the job reads columns that the source does not declare, so those of directories
    that are not visible before the run. `compat`: the line of its versions.
    """

    parallelism: int = 1
    is_open: bool = False
    compat: Compat = Compat.SEATUNNEL_2


@dataclass(frozen=True, eq=False, slots=True)
class Options:
    """The checked options of one block: every option of the spec has a value here (its default, or None if none).

    `texts` are the strings written in the file, with their locations. `places` are the locations of values, nested keys
    and indexes with dots (`schema.fields.id`, `columns.0`), `key_places` those of nested keys; `block` is the span of
    the block. `is_valid` is false if values are missing or invalid: that was reported, and the values here must not be
    relied on. `seatunnel` is set under `--compat seatunnel`. `is_foreseen`: the columns in `schema` are those that a
    job which runs before will leave, so that the data may still have others. The repr has no values: some are
    sensitive.
    """

    values: Mapping[str, Value] = field(repr=False)
    block: Span | None = None
    places: Mapping[str, Span] = field(default_factory=dict, repr=False)
    texts: Mapping[str, PlacedText] = field(default_factory=dict, repr=False)
    sensitive: frozenset[str] = frozenset()
    is_valid: bool = True
    key_places: Mapping[str, Span] = field(default_factory=dict, repr=False)
    seatunnel: SeaTunnel | None = None
    is_foreseen: bool = False

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def get(self, name: str) -> Value:
        """The value, or None for an option that the spec does not have."""
        return self.values.get(name)

    def span(self, name: str | None = None) -> Span | None:
        """The location of the option's value, or of the block if the option was not written."""
        return self.places.get(name, self.block) if name else self.block

    def key_span(self, name: str) -> Span | None:
        """The location of a nested key (`schema.fields.id`), else of its value, else of the block."""
        return self.key_places.get(name) or self.span(name)

    def text(self, name: str) -> PlacedText:
        """A string option with its location in the file."""
        return self.texts.get(name) or PlacedText.bare(self.string(name))

    def string(self, name: str) -> str:
        return self._of(name, str, "string")

    def optional_string(self, name: str) -> str | None:
        return None if self.values.get(name) is None else self.string(name)

    def integer(self, name: str) -> int:
        return self._of(name, int, "integer")

    def optional_integer(self, name: str) -> int | None:
        return None if self.values.get(name) is None else self.integer(name)

    def number(self, name: str) -> float:
        value = self.values[name]
        return float(value) if type(value) is int else self._of(name, float, "number")

    def optional_number(self, name: str) -> float | None:
        return None if self.values.get(name) is None else self.number(name)

    def flag(self, name: str) -> bool:
        return bool(self.values[name])

    def choice(self, name: str, kind: type[Choice]) -> Choice:
        """A string option as the member of an enum that has its value, ignoring case."""
        text = self.string(name)
        found = next((member for member in kind if str(member.value).lower() == text.lower()), None)
        if found is None:
            raise TypeError(f"option {name} is no {kind.__name__}: {text!r}")
        return found

    def strings(self, name: str) -> tuple[str, ...]:
        """A list's elements as texts; none if the option is not given."""
        value = self.values.get(name)
        return tuple(str(item) for item in value) if isinstance(value, Sequence) and not isinstance(value, str) else ()

    def mapping(self, name: str) -> Mapping[str, Value]:
        """A map option; empty if it is not set."""
        value = self.values.get(name)
        return value if isinstance(value, Mapping) else {}

    def texts_by_key(self, name: str) -> dict[str, str]:
        """A map option for Spark: nested keys with dots, values as texts (`true`, not `True`)."""
        return dict(_flat("", self.mapping(name)))

    def _of(self, name: str, kind: type[T], called: str) -> T:
        value = self.values[name]
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise TypeError(f"option {name} is no {called}: {type(value).__name__}")
        return value


def _flat(prefix: str, block: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    for key, value in block.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{key}.", value)
        else:
            yield prefix + key, str(value).lower() if isinstance(value, bool) else str(value)


def schema_evolutions(spec: Sequence[Option]) -> tuple[str, ...]:
    """How a sink of these options may change its target."""
    option = next((option for option in spec if option.name == "schema_evolution"), None)
    return option.choices if option else ()


def store_assignment(options: Options) -> StoreAssignment:
    """The policy of a sink or query, written or by default."""
    if options.get(STORE_ASSIGNMENT.name) is not None:
        return options.choice(STORE_ASSIGNMENT.name, StoreAssignment)
    return StoreAssignment.LOSSLESS if options.seatunnel is None else StoreAssignment.ANSI
