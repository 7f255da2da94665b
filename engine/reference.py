"""The reference pages in docs/, made from the specs and tables that Penstock itself goes by."""

from collections.abc import Iterator, Sequence
from typing import Final

import connectors
from catalog.codes import CODES
from connectors.support.option import Option
from connectors.support.sink import AnySink, SinkCapabilities
from connectors.support.source import Source, SourceCapabilities
from engine import transforms
from engine.job.load import COMMON
from engine.job.model.job import BlockKind
from engine.job.options.env import OPTIONS as ENV_OPTIONS
from engine.job.options.table_options import OF_KIND

_NOTE: Final = "<!-- made by `make golden` from the specs in the code: edit those -->"

_PHASES: Final = {
    "1": "The text of a job file, its variables and secrets",
    "2": "The structure of a job",
    "3": "SQL",
    "4": "Tables, schemas and save modes",
    "5": "Running",
    "6": "Expectations and tests",
    "9": "Penstock itself",
}


def pages() -> dict[str, str]:
    """The text of every page by its file name."""
    return {
        "connectors.md": _page(_connectors()),
        "transforms.md": _page(_transforms()),
        "errors.md": _page(_errors()),
    }


def _page(paragraphs: Iterator[str]) -> str:
    title, *others = paragraphs
    return "\n\n".join((title, _NOTE, *others)) + "\n"


def _connectors() -> Iterator[str]:
    yield "# Connectors"
    yield (
        "A block under `source` or `sink` bears a connector's name, in any case. `penstock connectors NAME` prints the "
        "same as this page, also for connectors of other packages."
    )
    yield "## `env`"
    yield "The job as a whole. Settings of the Spark session stand here too, as `spark.…`."
    yield _table(ENV_OPTIONS)
    yield "## Every block"
    yield "What all sources, transforms and sinks take beside their own options."
    yield _table(COMMON)
    yield "Sources and transforms of [several tables](many-tables.md) take these, too."
    yield _table([option for kind in BlockKind for option in OF_KIND[kind]])
    for name in connectors.names():
        source, sink = connectors.source(name), connectors.sink(name)
        either = source or sink
        if either is None or not type(either).__module__.startswith("connectors."):
            continue
        yield f"## {name}"
        yield either.doc
        if either.maven:
            yield "Needs " + ", ".join(f"`{each}`" for each in either.maven) + ", which Spark fetches."
        if source:
            yield from _source(source)
        if sink:
            yield from _sink(sink)


def _source(source: Source) -> Iterator[str]:
    yield "### As a source"
    yield _abilities(source.source_capabilities)
    yield _table(source.source_options)


def _sink(sink: AnySink) -> Iterator[str]:
    yield "### As a sink"
    yield _modes(sink.sink_capabilities)
    yield _table(sink.sink_options)


def _abilities(can: SourceCapabilities) -> str:
    facts = [
        (can.column_pushdown, "reads only the columns that are used"),
        (can.filter_pushdown, "takes filters"),
        (can.is_pruned_by_spark, "is read by Spark as far as the columns, partitions and rows are wanted"),
        (can.streaming, "can be read as a stream"),
        (not can.is_cheap, "is read once, however many read it in the job (`cache = none`: once for each)"),
        (not can.is_deterministic, "may give other rows when read again"),
    ]
    holding = [text for holds, text in facts if holds]
    return _sentence(", ".join(holding)) if holding else "Read whole, as often as it is used."


def _modes(can: SinkCapabilities) -> str:
    lines = [
        ("schema_save_mode", [mode.value for mode in can.schema_save_modes]),
        ("data_save_mode", [mode.value for mode in can.data_save_modes]),
        ("write_mode", [mode.value for mode in can.write_modes]),
    ]
    if can.row_kind_modes:
        lines.append(("row kinds in write_mode", [mode.value for mode in can.row_kind_modes]))
    listed = "\n".join(f"- `{name}`: {', '.join(f'`{mode}`' for mode in modes) or 'none'}" for name, modes in lines)
    staged = (
        "Rows are seen by nobody before the commit." if can.is_staged else "Rows are not staged: what is out is out."
    )
    return f"{listed}\n\n{staged}"


def _transforms() -> Iterator[str]:
    yield "# Transforms"
    yield "A block under `transform` bears a transform's name, in any case."
    for name in transforms.names():
        found = transforms.transform(name)
        if found is not None and type(found).__module__.startswith("engine.transforms."):
            yield f"## {name}"
            yield found.doc
            yield _table(found.options)


def _errors() -> Iterator[str]:
    yield "# Errors and warnings"
    yield "Every message has a code, which never changes its meaning."
    for digit, phase in _PHASES.items():
        rows = [f"| `{code}` | {_cell(meaning)} |" for code, meaning in CODES.items() if code[3] == digit]
        if rows:
            yield f"## {phase}"
            yield "\n".join(("| code | meaning |", "|---|---|", *rows))


def _table(options: Sequence[Option]) -> str:
    if not options:
        return "No options."
    rows = [
        f"| `{option.name}` | {_kind(option)} | {_default(option)} | {_cell(_words(option))} |" for option in options
    ]
    return "\n".join(("| option | type | default | |", "|---|---|---|---|", *rows))


def _kind(option: Option) -> str:
    return f"{option.type.value} of {option.element.value}" if option.element else option.type.value


def _default(option: Option) -> str:
    if option.required:
        return "**required**"
    match option.default:
        case None:
            return ""
        case bool():
            return f"`{str(option.default).lower()}`"
        case default:
            return f"`{_cell(str(default))}`"


def _words(option: Option) -> str:
    parts = [option.doc]
    if option.choices:
        parts.append("One of " + ", ".join(f"`{choice}`" for choice in option.choices) + ".")
    if option.minimum is not None:
        parts.append(f"At least {option.minimum:g}.")
    if option.alternatives:
        parts.append("Also written " + ", ".join(f"`{alternative}`" for alternative in option.alternatives) + ".")
    if option.sensitive:
        parts.append(f"Sensitive: never shown; `{option.name}_file` names a file that holds it.")
    return " ".join(parts)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
