"""`--strict=types` and `--strict=data`: a machine of CI has the jobs, and not the files that they read."""

import json

import pytest

from engine.cli import main

JOB = """
source {{
  LocalFile {{ plugin_output = a, path = "{path}", file_format_type = json, schema {{ fields {{ id = bigint }} }} }}
}}
transform {{ Sql {{ plugin_input = a, plugin_output = b, query = "{query}" }} }}
sink {{ Console {{ plugin_input = b }} }}
"""
UNKNOWN = "select id, from_csv('1', concat('a ', 'INT')) x from a"


@pytest.fixture
def codes(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "penstock.conf").write_text("")

    def found(query, *arguments, path="missing.json"):
        (tmp_path / "job.conf").write_text(JOB.format(path=path, query=query))
        code = main(["validate", "job.conf", "--format", "json", *arguments])
        items = json.loads(capsys.readouterr().out)
        return code, sorted(item["code"] for item in items if item["severity"] == "error")

    return found


@pytest.mark.parametrize(
    ("arguments", "types", "data"),
    [([], False, False), (["--strict=types"], True, False), (["--strict=data"], False, True),
     (["--strict"], True, True), (["--strict=types", "--strict=data"], True, True)],
)  # fmt: skip
def test_strict_is_types_and_data_and_each_of_them_alone(codes, tmp_path, arguments, types, data):
    assert codes("select id from a", *arguments) == ((2, ["PEN4030"]) if data else (0, []))
    (tmp_path / "in.json").write_text('{"ID2": 1}\n')
    assert codes("select id from a", *arguments, path="in.json") == ((2, ["PEN4503"]) if data else (0, []))
    (tmp_path / "in.json").write_text('{"id": 1}\n')
    assert codes("select id from a", *arguments, path="in.json") == (0, [])
    assert codes(UNKNOWN, *arguments, path="in.json") == ((2, ["PEN3014"]) if types else (0, []))


def test_a_misspelt_kind_of_strictness_is_refused(tmp_path, capsys):
    assert main(["validate", str(tmp_path), "--strict=typos"]) == 2
    assert "--strict" in capsys.readouterr().err
