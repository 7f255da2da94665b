"""The JSON Schema of job files that editors take: it accepts every example and refuses what the check refuses."""

import json
import os
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.cli import main
from engine.job.find import find_jobs
from engine.job.hocon.parse import parse
from engine.job.hocon.sections import resolve_job
from engine.job.load import job_tree, read_file
from engine.job.model.tree import plain
from engine.job.options.variables import Variables
from engine.schema.job_schema import job_schema

ROOT = Path(__file__).parents[3]
EXAMPLES = [
    path
    for path in find_jobs([str(ROOT / "examples")], Diagnostics())
    if not path.is_relative_to(ROOT / "examples/flights_project")  # its penstock.conf has options that jobs leave out
]


@pytest.fixture(scope="module")
def validator():
    schema = job_schema()
    of_schemas = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    for part in different_parts(schema, set()):
        of_schemas.validate(part)
    return Draft202012Validator(schema)


def different_parts(schema, seen):
    """Each different schema in a schema once, with `true` for those below it: most options are those of many blocks."""
    text = json.dumps(schema, sort_keys=True)
    if isinstance(schema, bool) or text in seen:
        return
    seen.add(text)
    shallow = {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties"):
            below, shallow[key] = value.values(), dict.fromkeys(value, True)
        elif key in ("allOf", "anyOf"):
            below, shallow[key] = value, [True] * len(value)
        elif key in ("items", "if", "then", "additionalProperties"):
            below, shallow[key] = [value], True
        else:
            below, shallow[key] = (), value
        for part in below:
            yield from different_parts(part, seen)
    yield shallow


def test_a_wrong_part_of_a_schema_is_seen():
    of_schemas = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    for wrong in ({"type": "text"}, {"required": "a"}, {"minimum": "1"}):
        schema = {"allOf": [{"if": {}, "then": {"properties": {"a": {"items": {"anyOf": [wrong]}}}}}]}
        assert not all(of_schemas.is_valid(part) for part in different_parts(schema, set()))


def tree(text):
    diagnostics = Diagnostics()
    return plain(
        resolve_job(parse(SourceFile("a.conf", text), diagnostics), diagnostics, {}, {}, compat=Compat.SEATUNNEL_2)
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_are_accepted(validator, path):
    diagnostics = Diagnostics()
    job = job_tree(read_file(path, diagnostics), Variables({}, os.environ, Compat.SEATUNNEL_2), diagnostics)
    errors = [f"{'.'.join(map(str, each.absolute_path))}: {each.message}" for each in validator.iter_errors(plain(job))]
    assert not errors


def test_there_are_examples():
    assert EXAMPLES


JOB = """
env { job.name = a, spark.x.y = 1 }
source { FakeSource { row.num = 3, schema { fields { id = bigint } } } }
sink { Console { limit = 5 } }
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("row.num = 3", 'row.num = "3"'),
        ("row.num = 3", 'row { num = "${n}" }'),
        ("FakeSource", "fake_source"),
        ("limit = 5", "limit = null"),
        ("job.name = a", "job.mode = batch"),
        ("limit = 5", "log.print.data = no"),
        ("row.num = 3, schema { fields { id = bigint } }", "tables_configs = [{ row.num = 3, schema { table = t } }]"),
        (
            "FakeSource { row.num = 3, schema { fields { id = bigint } } }",
            "Jdbc { url = u, table_list = [{ table_path = t }] }",
        ),
        ("FakeSource { row.num = 3, schema { fields { id = bigint } } }", "Table { table_list = [{ table = t }] }"),
    ],
)
def test_accepted(validator, old, new):
    assert list(validator.iter_errors(tree(JOB.replace(old, new)))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("row.num", "row.nmu"),
        ("row.num = 3", "row.num = many"),
        ("limit = 5", "limit = -1"),
        ("limit = 5", "limit = [1]"),
        ("FakeSource", "FakeSuorce"),
        ("job.name = a", "job.mode = never"),
        ("job.name = a", "job.nam = a"),
        ("schema { fields { id = bigint } }", "schema = x"),
        ("sink", "sinks"),
        ("Console { limit = 5 }", "LocalFile { file_format_type = csv }"),
    ],
)
def test_refused(validator, old, new):
    assert old in JOB
    assert not validator.is_valid(tree(JOB.replace(old, new)))


def test_the_command_prints_it(capsys):
    assert main(["schema", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(job_schema()))
