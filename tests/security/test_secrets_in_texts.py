"""A secret within a text is shown by no command, wherever a job has the text."""

import json
from pathlib import Path

import pytest

from engine.cli import main
from tests.catalog.test_connection_texts import TEXTS, is_shown


def in_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def in_sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


SINK = "sink { Console { } }\n"
COLUMNS = "schema { fields { a = int } }"
PLACES = {
    "an option": lambda text: f"source {{ Jdbc {{ url = {in_text(text)}, table_path = t, {COLUMNS} }} }}\n{SINK}",
    "an unknown option": lambda text: f"source {{ Jdbc {{ urll = {in_text(text)}, url = x }} }}\n{SINK}",
    "a target": lambda text: f"source {{ FakeSource {{ {COLUMNS} }} }}\n"
    f"sink {{ Spark {{ format = {in_text(text)}, path = {in_text(text)}, options {{ url = {in_text(text)} }} }} }}",
    "an input": lambda text: f"source {{ FakeSource {{ plugin_output = f, {COLUMNS} }} }}\n"
    f"sink {{ Console {{ plugin_input = {in_text(text)} }} }}",
    "a setting": lambda text: f"env {{ spark.x.y = {in_text(text)}, nope = {in_text(text)} }}\n"
    f"source {{ FakeSource {{ {COLUMNS} }} }}\n{SINK}",
    "a key": lambda text: f"{in_text(text)} = 1\nsource {{ Jdbc {{ {in_text(text)} = 1 }} }}\n{SINK}",
    "a connector": lambda text: f"source {{ {in_text(text)} {{ }} }}\n{SINK}",
    "a line with a syntax error": lambda text: f"source {{ Jdbc {{ url = {in_text(text)} ] }} }}\n{SINK}",
    "a query": lambda text: f"source {{ FakeSource {{ plugin_output = f, {COLUMNS} }} }}\n"
    f"transform {{ Sql {{ query = {in_text(f'select {in_sql(text)} as x, nope from f')} }} }}\n{SINK}",
}  # fmt: skip
COMMANDS = ("validate job.conf", "explain job.conf", "validate --format json job.conf", "fmt --diff job.conf")


@pytest.mark.parametrize("place", PLACES)
def test_no_command_shows_a_secret_within_a_text(place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for number, text in enumerate(TEXTS):
        Path("job.conf").write_text(PLACES[place](text))
        command = COMMANDS[number % len(COMMANDS)]
        assert main(command.split()) in (0, 1, 2)
        written = capsys.readouterr()
        assert "PEN9" not in written.out + written.err, (text, command)
        assert not is_shown(written.out + written.err), (text, command, written)
