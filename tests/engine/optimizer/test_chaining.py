"""Which transforms become one query, and what `explain` says of those that do not."""

import json

import pytest

from engine.cli import main

JOB = """
env {{ {env} }}
source {{ FakeSource {{ plugin_output = rows, schema {{ fields {{ id = int, name = string }} }} }} }}
transform {{
  Filter {{ plugin_input = rows, plugin_output = a, include_fields = [id, name], {a} }}
  FieldMapper {{ plugin_input = a, plugin_output = b, field_mapper {{ id = key, name = name }}, {b} }}
  Filter {{ plugin_input = b, plugin_output = c, include_fields = [key], {c} }}
  {more}
}}
sink {{
  Console {{ plugin_input = c }}
  {sinks}
}}
"""


def explained(tmp_path, capsys, env="", a="", b="", c="", more="", sinks="") -> tuple[dict, str]:
    job = tmp_path / "job.conf"
    job.write_text(JOB.format(env=env, a=a, b=b, c=c, more=more, sinks=sinks))
    assert main(["explain", "--format", "json", str(job)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["explain", str(job)]) == 0
    return found, capsys.readouterr().out.partition("not chained:\n")[2]


def queries(found: dict) -> list[str]:
    return [node["plugin"] for node in found["nodes"] if node["kind"] == "query"]


def test_without_a_hindrance_they_are_one(tmp_path, capsys):
    found, reasons = explained(tmp_path, capsys)
    assert (queries(found), found["not_chained"], reasons) == (["Filter + FieldMapper + Filter"], [], "")


@pytest.mark.parametrize(
    ("parts", "expected", "reason"),
    [
        ({"b": "chain = head"}, ["Filter", "FieldMapper + Filter"], "a -> c: `chain = head`"),
        ({"c": "chain = head"}, ["Filter + FieldMapper", "Filter"], "b -> c: `chain = head`"),
        ({"a": "uid = first"}, ["Filter", "FieldMapper + Filter"], "a -> c: `a` has a `uid`"),
        ({"b": "parallelism = 3"}, ["Filter", "FieldMapper", "Filter"], "a -> b: `a` has another `parallelism`"),
        ({"sinks": "Console { plugin_input = b }"}, ["Filter + FieldMapper", "Filter"], "b -> c: 2 blocks read `b`"),
        ({"env": "chaining = false"}, ["Filter", "FieldMapper", "Filter"], "a -> b: `chaining = false`"),
        ({"b": "chain = never"}, ["Filter", "FieldMapper", "Filter"], "b -> c: `b` has `chain = never`"),
        (
            {
                "more": 'Sql { plugin_input = a, plugin_output = d, query = "select id from a" }',
                "sinks": "Console { plugin_input = d }",
            },
            ["Filter", "FieldMapper + Filter", "Sql"],
            "a -> d: Spark gets a query of the job as it is written",
        ),
    ],
)
def test_each_edge_that_is_not_chained_has_its_reason(tmp_path, capsys, parts, expected, reason):
    found, reasons = explained(tmp_path, capsys, **parts)
    assert sorted(queries(found)) == sorted(expected)
    assert f"  {reason}\n" in reasons
    assert len(found["not_chained"]) == len(reasons.splitlines())


def test_a_strategy_that_is_none_is_refused(tmp_path, capsys):
    job = tmp_path / "job.conf"
    job.write_text(JOB.format(env="", a="chain = tail", b="", c="", more="", sinks=""))
    assert main(["validate", str(job)]) == 2
    assert "`chain` must be `always` or `head` or `never`" in capsys.readouterr().out
