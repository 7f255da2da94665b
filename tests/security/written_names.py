"""Runs that write tables with hostile names, many in one job, and what of them is to be found in their targets."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from catalog.diagnostics.shown_names import shown_name
from engine.cli import main

AT_ONCE = 100
"""Names in one job."""
Read = Callable[[], Mapping[str, Sequence[int]]]
"""What is in the targets, by an independent reader: the ids under each name."""


@dataclass(frozen=True)
class Outcome:
    """What became of names: written as they are, or refused by name."""

    written: dict[str, int]
    refused: dict[str, str]


def tables_job(sink: str, names: Sequence[str]) -> str:
    """A job that writes tables of one row, its number; their names are the variables `n0` and so on. Those with a dot
    get their name by `TableRename`, as a source can name only parts between dots."""
    first = [f"t{n}" if "." in name else f"${{n{n}}}" for n, name in enumerate(names)]
    tables = "\n".join(
        f'{{ schema {{ table = "db.{name}", fields {{ id = int }} }}, rows = [{{ kind = INSERT, fields = [{n}] }}] }}'
        for n, name in enumerate(first)
    )
    renames = "\n".join(
        f'{{ replace_from = "t{n}", replace_to = "${{n{n}}}", is_regex = false }}' for n in range(len(names))
    )
    return (
        f'env {{ job.retry.times = 0, job.name = "names" }}\n'
        f"source {{ FakeSource {{ plugin_output = f, tables_configs = [\n{tables}\n] }} }}\n"
        "transform { TableRename { plugin_input = f, plugin_output = r\n"
        f"replacements_with_regex = [\n{renames}\n] }} }}\n"
        f"sink {{ {sink} }}\n"
    )


def given(names: Sequence[str]) -> list[str]:
    return [word for n, name in enumerate(names) for word in ("-i", f"n{n}={name}")]


def write_all(
    names: Sequence[str], job: Callable[[Sequence[str]], str], capsys: pytest.CaptureFixture[str], prefix: str = "db."
) -> Outcome:
    """Write the names, without those that are refused: each by an error that shows it."""
    refused: dict[str, str] = {}
    left = list(dict.fromkeys(name for name in names if name))
    for command in (["validate"], ["run", "--quiet"]):
        while left:
            Path("job.conf").write_text(job(left))
            code = main([*command, "job.conf", *given(left)])
            written = capsys.readouterr()
            text = written.out + written.err
            assert "PEN9" not in text, text[-3000:]
            if code == 0:
                break
            named = {
                name for name in left if f"`{shown_name(prefix + name)}`" in text or f"`{shown_name(name)}`" in text
            }
            assert named, f"an error that names none of the tables: {text[-3000:]}"
            refused |= dict.fromkeys(named, text)
            left = [name for name in left if name not in named]
    return Outcome({name: number for number, name in enumerate(left)}, refused)


def batches(names: Iterable[str], size: int = AT_ONCE) -> Iterator[list[str]]:
    """The names, at most so many at once; those that differ in case alone, or in how Unicode composes them, apart."""
    waiting = list(dict.fromkeys(names))
    while waiting:
        batch: dict[str, str] = {}
        later = []
        for name in waiting:
            if len(batch) < size and name.casefold() not in batch:
                batch[name.casefold()] = name
            else:
                later.append(name)
        yield list(batch.values())
        waiting = later


def check(outcome: Outcome, found: Mapping[str, Sequence[int]]) -> None:
    """All that was written is there under its name, and nothing else is."""
    assert {name: list(ids) for name, ids in found.items()} == {name: [n] for name, n in outcome.written.items()}


def quoted(name: str) -> str:
    return json.dumps(name)


def ids_in(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def databases_job(sink: str, count: int) -> str:
    """The same for tables `t` of databases whose names are the variables."""
    columns = "fields { id = int }"
    tables = "\n".join(
        f'{{ schema {{ table = "${{n{n}}}.t{n}", {columns} }}\nrows = [{{ kind = INSERT, fields = [{n}] }}] }}'
        for n in range(count)
    )
    return (
        "env { job.retry.times = 0 }\n"
        f"source {{ FakeSource {{ plugin_output = r, tables_configs = [\n{tables}\n] }} }}\nsink {{ {sink} }}\n"
    )


def columns_job(sink: str, names: Sequence[str]) -> str:
    """A job that writes one row, whose columns have these names and their numbers."""
    fields = "\n".join(f"{quoted(name)} = int" for name in names)
    return (
        "env { job.retry.times = 0 }\n"
        f"source {{ FakeSource {{ plugin_output = r, schema {{ fields {{\n{fields}\n}} }}\n"
        f"rows = [{{ kind = INSERT, fields = [{', '.join(map(str, range(len(names))))}] }}] }} }}\nsink {{ {sink} }}\n"
    )


def partitions_job(sink: str, count: int) -> str:
    """A job that writes rows of a number and one of the variables."""
    rows = "\n".join(f'{{ kind = INSERT, fields = [{n}, "${{n{n}}}"] }}' for n in range(count))
    return (
        "env { job.retry.times = 0 }\n"
        "source { FakeSource { plugin_output = r, schema { fields { id = int, p = string } }\n"
        f"rows = [\n{rows}\n] }} }}\nsink {{ {sink} }}\n"
    )


def write_some(
    names: Sequence[str], job: Callable[[Sequence[str]], tuple[str, Sequence[str]]], capsys: pytest.CaptureFixture[str]
) -> tuple[list[str], set[str]]:
    """The names that a run has written, and those that were refused; `job`: its text and arguments."""
    left, refused = list(names), set[str]()
    for command in (["validate"], ["run", "--quiet"]):
        while left:
            text, arguments = job(left)
            Path("job.conf").write_bytes(text.encode("utf-8", "surrogatepass"))
            code = main([*command, "job.conf", *arguments])
            written = capsys.readouterr()
            shown = written.out + written.err
            assert "PEN9" not in shown, shown[-3000:]
            if code == 0:
                break
            named = {
                name for name in left if f"`{shown_name(name)}`" in shown or shown_name(name)[:80] + "` of" in shown
            }
            assert named, f"an error that names none: {left} {shown[-3000:]}"
            refused |= named
            left = [name for name in left if name not in named]
    return left, refused
