"""Resolves which block reads which, and orders every block after those that it reads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from engine.job.model.job import Block, BlockKind, Job, Reference

_IN_SQL = {
    BlockKind.SOURCE: "CREATE TABLE name (column type, …) WITH ('connector' = '…'), and a query that reads it",
    BlockKind.SINK: "CREATE TABLE name WITH ('connector' = '…'), and INSERT INTO name SELECT …",
}


@dataclass(frozen=True, slots=True)
class Wire:
    """An edge: the name by which the input is read (None: the block before, which has no name), and who yields it.

    `output` is which of the producer's outputs it is; -1, -2, … are its rejects. `table`: of a set of tables the one
    that is read, `orders` of `crm.orders`.
    """

    name: str | None
    producer: Block
    output: int = 0
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Wiring:
    """Every block after those that it reads, and what each reads.

    A block with unknown inputs, or in a cycle, reads nothing; blocks that depend on it report no further errors.
    """

    order: tuple[Block, ...]
    inputs: Mapping[Block, tuple[Wire, ...]]


def wire(job: Job, diagnostics: Diagnostics) -> Wiring:
    """Resolve the inputs of all blocks; unknown names, duplicates, cycles and unread blocks go to `diagnostics`."""
    outputs = _outputs(job, diagnostics)
    may_be_hidden = not job.is_whole or any(_hides_output(block) for block in job.blocks)
    inputs = {block: _inputs(job, block, outputs, may_be_hidden, diagnostics) for block in job.blocks}
    inputs = _without_cycles(job, inputs, diagnostics)
    _check_presence(job, diagnostics)
    if job.is_whole and all(map(_is_wired_as_written, job.blocks)):
        _check_unread(job, inputs, diagnostics)
    return Wiring(tuple(_ordered(job, inputs)), inputs)


def _outputs(job: Job, diagnostics: Diagnostics) -> dict[str, tuple[Block, int]]:
    outputs: dict[str, tuple[Block, int]] = {}
    first: dict[str, Reference] = {}
    for block in job.blocks:
        for index, output in (*enumerate(block.outputs), *((-1 - i, reject) for i, reject in enumerate(block.rejects))):
            folded = output.name.lower()
            if folded in outputs:
                at = first[folded].span
                notes = (f"the first one is in line {at.line}",) if at else ()
                message = f"two blocks have the output `{output.name}`"
                diagnostics.error("PEN2006", message, output.span, "give each a name of its own", notes)
            else:
                outputs[folded], first[folded] = (block, index), output
    return outputs


def _inputs(
    job: Job, block: Block, outputs: Mapping[str, tuple[Block, int]], may_be_hidden: bool, diagnostics: Diagnostics
) -> tuple[Wire, ...]:
    if block.kind is BlockKind.SOURCE or not block.names_are_known:
        return ()
    if reads_nothing(block):
        return ()
    if not block.inputs:
        return _before(job, block) if block.options.is_valid or _is_plain(job) else ()
    wires = [(input, _producer(input.name, outputs)) for input in block.inputs]
    unknown = [input for input, wire in wires if wire is None]
    if unknown and is_seatunnel(block):
        return _as_seatunnel(job, block, unknown, tuple(wire for _, wire in wires if wire is not None), diagnostics)
    for reference in unknown:
        help = did_you_mean(
            reference.name, [output.name for other in job.blocks for output in (*other.outputs, *other.rejects)]
        )
        if any((other.sink_name or "").lower() == reference.name.lower() for other in job.blocks):
            help = f"`{reference.name}` is a sink, whose rows nothing can read: name what it reads"
        if not may_be_hidden or (help or "").startswith("did you mean"):
            what = "there is no table or view" if job.is_sql else "no block has the output"
            diagnostics.error("PEN2007", f"{what} `{reference.name}`", reference.span, help)
    if unknown:
        return ()
    return tuple(wire for _, wire in wires if wire is not None)


def is_seatunnel(block: Block) -> bool:
    """Whether the job runs under `--compat seatunnel`."""
    return block.options.seatunnel is not None


def _as_seatunnel(
    job: Job, block: Block, unknown: list[Reference], known: tuple[Wire, ...], diagnostics: Diagnostics
) -> tuple[Wire, ...]:
    """The existing inputs, else the block before, as in SeaTunnel."""
    wires = known or _before(job, block)
    for reference in unknown:
        names = ", ".join(f"`{wire.producer.name}`" for wire in wires)
        help = f"it reads {names} instead, as in SeaTunnel" if wires else None
        report = diagnostics.warning if wires else diagnostics.error
        report("PEN2007", f"no block has the output `{reference.name}`", reference.span, help)
    return wires


def _producer(name: str, outputs: Mapping[str, tuple[Block, int]]) -> Wire | None:
    """The block that yields that name: an output, or one table of a set (`crm.orders`, `crm.shop.orders`)."""
    if name.lower() in outputs:
        return Wire(name, *outputs[name.lower()])
    for dot in (index for index, letter in enumerate(name) if letter == "."):
        if name[:dot].lower() in outputs and name[dot + 1 :]:
            return Wire(name, *outputs[name[:dot].lower()], name[dot + 1 :])
    return None


def _before(job: Job, block: Block) -> tuple[Wire, ...]:
    """The last source or transform above the block, all of its outputs."""
    above = job.blocks[: job.blocks.index(block)]
    producers = [earlier for earlier in above if earlier.kind is not BlockKind.SINK]
    if not producers:
        return ()
    producer = producers[-1]
    if not producer.outputs:
        return (Wire(None, producer),)
    return tuple(Wire(output.name, producer, index) for index, output in enumerate(producer.outputs))


def _is_plain(job: Job) -> bool:
    """Whether the job is one source, at most one transform and one sink, which need no names."""
    return all(len(job.of_kind(kind)) <= 1 for kind in BlockKind)


def reads_nothing(block: Block) -> bool:
    """Whether the block declares that it has no input (`plugin_input = []`): a query without FROM."""
    return block.kind is BlockKind.TRANSFORM and not block.inputs and "plugin_input" in block.options.places


def _is_wired_as_written(block: Block) -> bool:
    """Whether no error of the block can hide an input: `plugin_imput = …` is one that does."""
    return block.names_are_known and (block.options.is_valid or bool(block.inputs) or block.kind is BlockKind.SOURCE)


def _hides_output(block: Block) -> bool:
    """Whether an error of the block can hide its output's name."""
    if block.kind is BlockKind.SINK:
        return False
    return not block.names_are_known or (not block.options.is_valid and not block.outputs)


def _without_cycles(
    job: Job, inputs: dict[Block, tuple[Wire, ...]], diagnostics: Diagnostics
) -> dict[Block, tuple[Wire, ...]]:
    """The inputs without those of blocks in a cycle, each cycle reported where its last reference closes it."""
    result = dict(inputs)
    done: set[Block] = set()
    for root in job.blocks:
        path: list[Block] = []
        work: list[tuple[Block, Iterator[Wire]]] = []
        if root not in done:
            path, work = [root], [(root, iter(inputs[root]))]
        while work:
            block, wires = work[-1]
            for wire in wires:
                if wire.producer in path:
                    cycle = path[path.index(wire.producer) :]
                    _report_cycle(cycle, diagnostics)
                    result |= dict.fromkeys(cycle, ())
                elif wire.producer not in done:
                    path.append(wire.producer)
                    work.append((wire.producer, iter(inputs[wire.producer])))
                    break
            else:
                done.add(block)
                path.pop()
                work.pop()
    return result


def _report_cycle(cycle: list[Block], diagnostics: Diagnostics) -> None:
    """The cycle in the order in which rows would flow, at the last reference of the file that is part of it."""
    members = list(reversed(cycle))
    names = [block.outputs[0].name if block.outputs else block.plugin for block in members]
    start = min(range(len(members)), key=lambda i: _line(members[i]))
    names = names[start:] + names[:start]
    outputs = {output.name.lower() for block in cycle for output in (*block.outputs, *block.rejects)}
    references = [input for block in cycle for input in block.inputs if input.name.lower() in outputs and input.span]
    last = max(
        references,
        key=lambda reference: (reference.span.line, reference.span.column) if reference.span else (0, 0),
        default=None,
    )
    message = f"these blocks form a cycle: {' -> '.join(f'`{name}`' for name in (*names, names[0]))}"
    diagnostics.error("PEN2008", message, last.span if last else cycle[0].span, "change what one of them reads")


def _line(block: Block) -> int:
    return block.span.line if block.span else 0


def _check_presence(job: Job, diagnostics: Diagnostics) -> None:
    if not job.is_whole:
        return
    for kind in (BlockKind.SOURCE, BlockKind.SINK):
        if not job.of_kind(kind) and not (kind is BlockKind.SOURCE and any(map(reads_nothing, job.blocks))):
            help = _IN_SQL[kind] if job.is_sql else f"add `{kind.value} {{ … }}`"
            diagnostics.error("PEN2010", f"the job has no {kind.value}", job.source.span(0, 0), help)


def _check_unread(job: Job, inputs: Mapping[Block, tuple[Wire, ...]], diagnostics: Diagnostics) -> None:
    if not job.is_whole or not job.of_kind(BlockKind.SINK):
        return  # already reported; or the reader of a block is in the unreadable part
    wires = [wire for wires in inputs.values() for wire in wires]
    read = {wire.producer for wire in wires}
    reading = (block for block in job.blocks if block.kind is not BlockKind.SOURCE and not reads_nothing(block))
    complete = all(inputs[block] for block in reading)
    for block in job.blocks:
        if block.kind is not BlockKind.SINK and block not in read and complete:
            name = block.outputs[0].name if block.outputs else block.plugin
            reader = "a query" if job.is_sql else "the `plugin_input` of a transform or sink"
            message = f"nothing reads `{name}`: it is not run"
            diagnostics.warning("PEN2009", message, block.plugin_span, f"name it in {reader}, or remove it")
    quarantined = {(wire.producer, wire.output) for wire in wires if wire.output < 0}
    for block in job.blocks:
        for index, output in enumerate(block.rejects):
            if (block, -1 - index) not in quarantined and complete:
                help = (
                    f"INSERT INTO … SELECT * FROM {output.name}"
                    if job.is_sql
                    else "name it in the `plugin_input` of a sink"
                )
                message = f"nothing reads `{output.name}`: its rows are lost"
                diagnostics.warning("PEN2009", message, output.span, help)


def _ordered(job: Job, inputs: Mapping[Block, tuple[Wire, ...]]) -> Iterator[Block]:
    seen: set[Block] = set()
    work = [(block, False) for block in reversed(job.blocks)]
    while work:
        block, is_ready = work.pop()
        if is_ready:
            yield block
        elif block not in seen:
            seen.add(block)
            work.append((block, True))
            work.extend((input.producer, False) for input in reversed(inputs[block]))
