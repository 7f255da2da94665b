"""What a name is called does not matter to a terminal, a CI log, or a file that keeps it."""

import json
import os
import re

import pytest

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.render import Format, render
from catalog.diagnostics.shown_names import shown_name
from catalog.diagnostics.source import SourceFile
from catalog.tables.schema_lock import Lock, parse_lock
from catalog.tables.table import Column, PrimaryKey, TableSchema
from catalog.types.datatypes import INT, STRING
from engine.cli import main
from tests.security.hostile_names import NAMES, random_names

ALL = "PENSTOCK_TEST_ALL_VALUES" in os.environ
EACH = 1 if ALL else 3
"""Every name with every command, as `make soak` does; else each name with a third of the commands."""
ALL_NAMES = (*NAMES, *random_names(500, seed=2))
MOVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
COMMANDS = re.compile(r"^\s*(::|##\[)", re.MULTILINE)


def test_a_shown_name_is_one_line_that_moves_nothing():
    for name in ALL_NAMES:
        shown = shown_name(name)
        assert not MOVES.search(shown), repr(name)
        assert "\n" not in shown
        assert not COMMANDS.search(shown)


@pytest.mark.parametrize("format", list(Format))
def test_no_format_of_diagnostics_shows_a_name_as_more_than_a_text(format):
    for name in ALL_NAMES:
        source = SourceFile("a.conf", f"x = {name}")
        item = Diagnostic("PEN3004", f"column `{name}`", source.span(0, 3), help=name, notes=(name, f"\n{name}"))
        text = render([item], format, [source])
        assert not MOVES.search(text), repr(name)
        text.encode()
        if format is Format.GITHUB:
            assert len(COMMANDS.findall(text)) == 1
            assert text.count("\n") == 1
        else:
            assert not COMMANDS.search(text)
        if format in (Format.JSON, Format.SARIF):
            json.loads(text)


def test_a_lock_keeps_every_name():
    columns = {name.lower(): Column(name, INT if index % 2 else STRING) for index, name in enumerate(ALL_NAMES) if name}
    schema = TableSchema(tuple(columns.values()), PrimaryKey((next(iter(columns.values())).name,)))
    small = TableSchema((Column("a", INT),), None)
    sources = {(f"jobs/{name}.conf", name): small if number else schema for number, name in enumerate(ALL_NAMES)}
    text = str(Lock(sources))
    text.encode()
    read = parse_lock(text)
    assert set(read.sources) == set(sources)
    assert [column.name for column in read.sources[next(iter(sources))].columns] == [c.name for c in columns.values()]


JOB = """
source {{ LocalFile {{ plugin_output = {name}, path = "in.csv", file_format_type = csv,
         schema {{ fields {{ {name} = string }} }} }} }}
transform {{ Sql {{ plugin_output = {name2}, query = "select * from {in_sql}" }} }}
sink {{ Console {{ plugin_output = {name3} }} }}
"""
COMMANDS_OF_PENSTOCK = (
    ["validate"], ["explain"], ["explain", "--columns", "--rules"], ["explain", "--format", "json"],
    ["explain", "--format", "mermaid"], ["lineage"], ["lineage", "--format", "json"],
    ["lineage", "--format", "openlineage"], ["schema", "show"],
    *(["validate", "--format", name.value] for name in Format),
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS_OF_PENSTOCK, ids=" ".join)
def test_no_command_prints_a_name_as_more_than_a_text(command, tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("1\n")
    first = 0 if ALL else COMMANDS_OF_PENSTOCK.index(command)
    for number, name in list(enumerate(NAMES))[first % EACH :: EACH]:
        quoted = json.dumps(name)
        in_sql = json.dumps("`" + name.replace("`", "``") + "`")[1:-1]
        job = JOB.format(name=quoted, name2=json.dumps(name + "2"), name3=json.dumps(name + "3"), in_sql=in_sql)
        (tmp_path / "job.conf").write_text(job)
        code = main([*command, "job.conf"])
        out, err = (part.decode() for part in capsysbinary.readouterr())
        assert code in (0, 2), (number, name, out, err)
        assert "PEN9" not in out + err, (name, out, err)
        assert not MOVES.search(out + err), repr(name)
        allowed = (out + err).count("::error ") + (out + err).count("::warning ") if "github" in command else 0
        assert len(COMMANDS.findall(out + err)) <= allowed, (name, out)
        if "json" in command or "sarif" in command:
            json.loads(out) if out else None
