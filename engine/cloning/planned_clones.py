"""How the targets of jobs in another environment become targets of this one: as the format can, else by a sample."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from connectors.interface.sink_abilities import SupportsClone
from engine.comparing.target_scan import target_scans
from engine.compile import Compiled
from engine.optimizer import optimize
from engine.plan.datasets import Dataset, dataset_of, shown
from engine.plan.ids import with_ids
from engine.plan.intervals.interval_writes import has_target
from engine.plan.nodes import Input, Plan, Query, Scan, Write
from sql.analyze import analyze

_NO_PARTS = ("replace_where", "sequence_field", "delete_when")
"""Options of a sink that choose among the rows that it gets."""


@dataclass(frozen=True, eq=False, slots=True)
class PlannedClone:
    """The target of a write, and what it becomes a copy of. `way`: how the format makes the copy; None: `sample` is a
    job that copies so many rows. `compiled`: the job."""

    compiled: Compiled
    write: Write
    original: Scan
    way: str | None
    sample: Compiled | None

    @property
    def job(self) -> str:
        return self.compiled.path.stem

    @property
    def is_branch(self) -> bool:
        sink = self.write.connector
        return isinstance(sink, SupportsClone) and sink.leaves_original(self.write.options)

    @property
    def target(self) -> str:
        dataset = dataset_of(self.write)
        return self.write.target if dataset is None else shown(dataset)

    @property
    def source(self) -> str:
        dataset = dataset_of(self.original)
        return self.original.name if dataset is None else shown(dataset)


@dataclass(frozen=True, eq=False, slots=True)
class CopiedRows:
    """`theirs`: what jobs write in the other environment. `rows`: the most that a sample has. `replaces`: rows that are
    there already are replaced."""

    theirs: Collection[Dataset]
    rows: int
    replaces: bool


def planned_clones(pairs: Sequence[tuple[Compiled, Compiled]], copied: CopiedRows) -> tuple[PlannedClone, ...]:
    """The clones of the targets of jobs, each as it is compiled here and there.

    Raises a `JobError`: PEN1666 where a target would be one of the other environment, PEN1663 where rows do not come
    back as they were written.
    """
    diagnostics, found = Diagnostics(), list[PlannedClone]()
    for here, there in pairs:
        originals = target_scans(there)
        for write in here.built.writes:
            if has_target(write.connector) and write.name in originals:
                found += _planned(here, write, originals[write.name], copied, diagnostics)
    diagnostics.raise_errors()
    return tuple(found)


def _planned(
    here: Compiled, write: Write, original: Scan, copied: CopiedRows, diagnostics: Diagnostics
) -> Iterator[PlannedClone]:
    sink = write.connector
    way = sink.way_to_clone(write.options, original.options) if isinstance(sink, SupportsClone) else None
    dataset = dataset_of(write)
    is_shared = dataset is not None and any(dataset.holds(other) or other.holds(dataset) for other in copied.theirs)
    is_branch = isinstance(sink, SupportsClone) and way is not None and sink.leaves_original(write.options)
    if is_shared and not is_branch:
        message = f"`{write.name}` writes `{write.target}`, which the other environment writes, too"
        help = "let a variable of the environment name the target: a clone is written to this environment alone"
        diagnostics.error("PEN1666", message, write.options.span("path") or write.span, help)
        return
    if way is None and write.write_mode is WriteMode.SCD2:
        message = f"`{write.name}` keeps versions of rows, which a sample would lose"
        diagnostics.error("PEN1668", message, write.span, "Delta tables can be cloned as they are")
        return
    sample = None if way is not None else _sample(here, write, original, copied)
    yield PlannedClone(here, write, original, way, sample)


def _sample(here: Compiled, write: Write, original: Scan, copied: CopiedRows) -> Compiled:
    """A job that writes some rows of the original to the target."""
    table = replace(original.table, has_row_kind=False)
    scan = replace(original, name=f"{write.name}_original", table=table)
    text = PlacedText.bare(f"SELECT * FROM {quote(scan.name)} LIMIT {copied.rows}")
    analysis = analyze(text, {scan.name: table.renamed(scan.name)}, output=f"{write.name}_sample")
    query = Query(f"{write.name}_sample", "Clone", text, (Input(scan.name, scan),), analysis, span=write.span)
    chosen = {name: None for name in _NO_PARTS if name in write.options.values}
    options = replace(write.options, values={**write.options.values, **chosen})
    sample = replace(
        write, options=options, input=query, schema_save_mode=SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST,
        data_save_mode=DataSaveMode.DROP_DATA if copied.replaces else DataSaveMode.ERROR_WHEN_DATA_EXISTS,
        write_mode=WriteMode.APPEND,
    )  # fmt: skip
    env = replace(here.built.env, name=f"clone of {here.built.env.name}", interval=None, window=None)
    plan = with_ids(Plan(env, (sample,)))
    return replace(here, built=plan, plan=optimize(plan, disabled=here.settings.disabled_rules))
