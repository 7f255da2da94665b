"""What a project knows of a compiled job: what it reads and writes, and how it is described. Small, and picklable."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from catalog.diagnostics.source import Span
from catalog.options import Options, Value, store_assignment
from catalog.tables.evolution import StoreAssignment
from catalog.tables.savemode import WriteMode
from catalog.tables.table import Column
from connectors.interface.schema_option import declares_columns
from engine.compile import Compiled, typed_columns
from engine.graph.descriptions import description_of_job
from engine.job.model.job import Job
from engine.plan.building.write_nodes import replaces
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.meaning.fingerprint import fingerprint
from engine.plan.meaning.used_columns import used_columns
from engine.plan.nodes import Scan, Write
from engine.project.written_schemas import BlockDataset, filled_columns, has_open_targets, targets_of

_TEXTUAL: Final = ("csv", "json", "text", "xml", "excel", "debezium_json", "canal_json", "maxwell_json")
_PARTITION_MODES: Final = (WriteMode.OVERWRITE_PARTITIONS, WriteMode.REPLACE_WHERE)


@dataclass(frozen=True, slots=True)
class ReadDataset:
    """A dataset that a source of the job reads. `is_declared`: the columns are those of its `schema` block.
    `has_spark_types`: a type that Spark writes is the one that it reads, unlike in a database. `is_text`: values are
    text in between. `used`: the columns that the job uses, in lower case."""

    dataset: Dataset
    name: str
    connector: str
    columns: tuple[Column, ...]
    span: Span | None
    is_declared: bool
    has_spark_types: bool
    is_text: bool
    path_span: Span | None = None
    column_spans: Mapping[str, Span] = field(default_factory=dict)
    used: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WrittenDataset:
    """A dataset that a sink of the job writes. `part`: what the sink replaces, where that is a part of the dataset.
    `is_lossless`: values that the types of the target would change fail the run."""

    dataset: Dataset
    name: str
    connector: str
    columns: tuple[Column, ...]
    span: Span | None
    replaces: bool
    part: str | None = None
    is_lossless: bool = True


@dataclass(frozen=True, slots=True)
class NamedJob:
    """A name in `depends_on`."""

    name: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class ProjectJob:
    """A job of a project, by the name of its file.

    `job_name`: under which its runs and watermarks are recorded. `is_compiled`: not where it has an error, or waits for
    columns. `fingerprint`: None of a job that is not compiled, and where nobody asks for it.
    `wanted`: the sources whose columns another job may know. `targets`: what it writes, as far as that is known
    without compiling it; `has_open_targets`: not all of it. `reads` and `writes` are those, without columns, until it
    is compiled.
    """

    path: Path
    name: str
    job_name: str = ""
    job_name_span: Span | None = None
    tags: tuple[str, ...] = ()
    owner: str | None = None
    description: str = ""
    depends_on: tuple[NamedJob, ...] = ()
    config: Mapping[str, Value] = field(default_factory=dict)
    reads: tuple[ReadDataset, ...] = ()
    writes: tuple[WrittenDataset, ...] = ()
    is_compiled: bool = False
    fingerprint: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    typed: int = 0
    columns: int = 0
    wanted: tuple[BlockDataset, ...] = ()
    targets: tuple[BlockDataset, ...] = ()
    has_open_targets: bool = False

    @property
    def has_errors(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.diagnostics)


def project_job(
    path: Path, job: Job | None, compiled: Compiled | None, found: tuple[Diagnostic, ...],
    wanted: tuple[BlockDataset, ...], *, fingerprints: bool = True,
) -> ProjectJob:  # fmt: skip
    """The job as the project sees it; of one with errors, what can be read of it. `wanted`: the sources that do not
    declare their columns. `fingerprints`: whether they are needed, which takes a third of the time."""
    if job is None:
        return ProjectJob(path, path.stem, diagnostics=found)
    targets = targets_of(job)
    options = job.env.options
    typed, columns = typed_columns(compiled.built) if compiled else (0, 0)
    return ProjectJob(
        path,
        path.stem,
        job.env.name,
        options.span("job.name") if options and "job.name" in options.places else job.source.span(0, 0),
        options.strings("tags") if options else (),
        options.optional_string("owner") if options else None,
        description_of_job(job),
        tuple(_dependencies(options)) if options else (),
        _nested(options.values) if options else {},
        tuple(_reads(compiled)) if compiled else tuple(map(_unread, wanted)),
        tuple(_writes(compiled)) if compiled else tuple(map(_unwritten, targets)),
        compiled is not None,
        fingerprint(compiled.built) if compiled and fingerprints else None,
        found,
        typed,
        columns,
        wanted,
        targets,
        has_open_targets(job),
    )


def waiting(job: ProjectJob) -> ProjectJob:
    """What is known of a job before the columns that it waits for are known: which ones, and what it writes."""
    return ProjectJob(job.path, job.name, wanted=job.wanted, targets=job.targets, has_open_targets=job.has_open_targets)


def _unread(place: BlockDataset) -> ReadDataset:
    return ReadDataset(
        place.dataset, place.name, place.connector, (), place.span, is_declared=False, has_spark_types=False,
        is_text=False, path_span=place.path_span,
    )  # fmt: skip


def _unwritten(place: BlockDataset) -> WrittenDataset:
    return WrittenDataset(place.dataset, place.name, place.connector, (), place.span, replaces=False)


def _dependencies(options: Options) -> Iterator[NamedJob]:
    for index, name in enumerate(options.strings("depends_on")):
        yield NamedJob(name, options.span(f"depends_on.{index}"))


def _nested(values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Options with dotted names as maps, as `config.job.mode:STREAMING` asks for them."""
    result: dict[str, Value] = {}
    for name, value in values.items():
        inner = result
        *above, last = name.split(".")
        for part in above:
            below = inner.setdefault(part, {})
            if not isinstance(below, dict):
                break
            inner = below
        else:
            inner[last] = value
    return result


def _reads(compiled: Compiled) -> Iterator[ReadDataset]:
    used = used_columns(compiled.built)
    for node in compiled.built.nodes():
        if isinstance(node, Scan) and (dataset := dataset_of(node)) is not None:
            spans = {
                column.name.lower(): span
                for column in node.table.columns
                if (span := _column_span(node.options, column.name)) is not None
            }
            yield ReadDataset(
                dataset, node.name, node.connector.name, node.table.columns, node.span,
                declares_columns(node.options) and "schema" in node.options.places,
                has_spark_types(node.connector.name), _is_text(node.options), node.options.span("path"), spans,
                used[node],
            )  # fmt: skip


def _column_span(options: Options, name: str) -> Span | None:
    return options.key_places.get(f"schema.fields.{name}")


def _writes(compiled: Compiled) -> Iterator[WrittenDataset]:
    for write in compiled.built.writes:
        if (dataset := dataset_of(write)) is not None:
            yield WrittenDataset(
                dataset, write.name, write.connector.name, _written_columns(write), write.span,
                replaces(write) or write.write_mode in _PARTITION_MODES, _part(write),
                store_assignment(write.options) is StoreAssignment.LOSSLESS,
            )  # fmt: skip


def _written_columns(write: Write) -> tuple[Column, ...]:
    """The columns as a reader gets them: those that become directories come last."""
    names = {name.lower() for name in write.options.strings("partition_by")}
    columns = write.table.columns
    return (
        *(column for column in columns if column.name.lower() not in names),
        *(column for column in columns if column.name.lower() in names),
        *filled_columns(write),
    )


def _part(write: Write) -> str | None:
    """What part of the dataset the write replaces; None: all of it, or nothing."""
    if write.write_mode is WriteMode.REPLACE_WHERE:
        return write.options.optional_string("replace_where")
    return write.write_mode.value if write.write_mode is WriteMode.OVERWRITE_PARTITIONS else None


def has_spark_types(connector: str) -> bool:
    """Whether rows that are written come back with the types that they had, or as text."""
    return connector.endswith("File") or connector in ("Delta", "Iceberg", "Paimon", "Table")


def _is_text(options: Options) -> bool:
    value = options.get("file_format_type")
    return isinstance(value, str) and value.lower() in _TEXTUAL
