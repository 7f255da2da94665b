"""A folder of ten invalid jobs, as CI sees it: every format names the right places, and the exit code is 2."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from engine.cli import main

HERE = Path(__file__).parent
FOLDER = HERE / "invalid"
SARIF = json.loads((HERE / "sarif" / "sarif-2.1.0-rtm.5.json").read_text())

ERRORS = [
    ("broken_rule.sql", "PEN3004", "amont"),
    ("missing_comma.sql", "PEN3001", "customer amount"),
    ("missing_semicolon.sql", "PEN3001", "CREATE"),
    ("misspelt_column.sql", "PEN3004", "amout"),
    ("misspelt_table.sql", "PEN2009", "LocalFile"),
    ("misspelt_table.sql", "PEN3002", "oders"),
    ("no_sink_table.sql", "PEN2007", "bigg"),
    ("save_mode.sql", "PEN2004", "DROP"),
    ("three_errors.conf", "PEN2003", "delimitter"),
    ("three_errors.conf", "PEN3004", "idd"),
    ("three_errors.conf", "PEN2007", "bigg"),
    ("unclosed.sql", "PEN3001", "("),
    ("variable.sql", "PEN1003", "${first}"),
]
"""File, code, and the text that is marked; everything but PEN2009 is an error."""


@pytest.fixture
def validate(tmp_path, monkeypatch):
    (tmp_path / "orders.csv").write_text("1,2,3\n")
    monkeypatch.chdir(tmp_path)

    def validate(format: str, capsys: pytest.CaptureFixture[str]) -> str:
        assert main(["validate", str(FOLDER), "--format", format]) == 2
        return capsys.readouterr().out

    return validate


def marked(file: str, line: int, column: int, end_column: int) -> str:
    return (FOLDER / file).read_text().split("\n")[line - 1][column - 1 : end_column - 1]


def test_there_are_ten_jobs():
    assert len(list(FOLDER.iterdir())) == 10
    assert {file for file, _, _ in ERRORS} == {path.name for path in FOLDER.iterdir()}


def test_sarif_is_valid_by_the_schema_of_the_standard(validate, capsys):
    log = json.loads(validate("sarif", capsys))
    jsonschema.Draft4Validator(SARIF, format_checker=jsonschema.FormatChecker()).validate(log)
    found = []
    for result in log["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        region, file = place["region"], Path(place["artifactLocation"]["uri"]).name
        assert region["startLine"] == region["endLine"]
        text = marked(file, region["startLine"], region["startColumn"], region["endColumn"])
        found.append((file, result["ruleId"], text))
        assert result["level"] == ("warning" if result["ruleId"] == "PEN2009" else "error")
    assert found == ERRORS


def test_the_schema_refuses_what_the_standard_does(validate, capsys):
    log = json.loads(validate("sarif", capsys))
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SARIF).validate(log)


def test_annotations_of_github_stand_at_the_errors(validate, capsys):
    lines = validate("github", capsys).splitlines()
    found = []
    for line in lines:
        command = re.fullmatch(
            r"::(error|warning) file=([^,:]+),line=(\d+),endLine=\3,col=(\d+),endColumn=(\d+),title=(PEN\d+)::.+", line
        )
        assert command, line
        file = Path(command[2]).name
        found.append((file, command[6], marked(file, int(command[3]), int(command[4]), int(command[5]) + 1)))
    assert found == ERRORS


def test_text_tells_one_cause_once(validate, capsys):
    shown = validate("text", capsys)
    assert len(re.findall(r"^(?:error|warning)\[", shown, re.MULTILINE)) == len(ERRORS)
    assert "a `;` is missing before `CREATE`" in shown
    assert "did you mean `orders`?" in shown
    assert "10 jobs: 12 errors, 1 warning" in shown
