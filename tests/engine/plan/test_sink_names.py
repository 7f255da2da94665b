"""What sinks are called: by the job, by the rows quarantined into them, by their target, by their connector."""

from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, Severity
from engine.compile import Settings, compile_job

HEAD = """
source { FakeSource { plugin_output = "a", schema { fields { id = bigint } },
  expectations = [{ name = r, condition = "id > 0", on_violation = QUARANTINE, quarantine = bad }] } }
transform { Sql { plugin_input = "a", plugin_output = "b", query = "select id from a" } }
"""
QUARANTINE = 'LocalFile { plugin_input = "bad", path = "/o/rejected", file_format_type = csv }\n'


@pytest.fixture
def compiled(tmp_path):
    def compile(sinks):
        (tmp_path / "job.conf").write_text(f"{HEAD}sink {{ {QUARANTINE} {sinks} }}")
        diagnostics = Diagnostics()
        return compile_job(tmp_path / "job.conf", Settings(), diagnostics), diagnostics

    return compile


@pytest.mark.parametrize(
    ("sink", "name"),
    [
        ('LocalFile { plugin_input = "b", path = "/o/x.y", file_format_type = csv, plugin_output = "mine" }', "mine"),
        ('LocalFile { plugin_input = "b", path = "/o/x.y/", file_format_type = csv }', "x_y"),
        ('LocalFile { plugin_input = "b", path = "/o/B", file_format_type = csv }', "B_out"),
        ('LocalFile { plugin_input = "b", path = "/o/bad", file_format_type = csv }', "bad_out"),
        ('LocalFile { plugin_input = "b", path = "/o/2024", file_format_type = csv }', "localfile"),
        ('LocalFile { plugin_input = "b", path = "/o/${table_name}", file_format_type = csv }', "localfile"),
        ('Console { plugin_input = "b" }', "console"),
        ('Console { plugin_input = "b" }, Console { plugin_input = "b" }', "console console_2"),
    ],
)
def test_its_name(compiled, sink, name):
    job, diagnostics = compiled(sink)
    assert not diagnostics.has_errors
    assert [write.name for write in job.plan.writes] == ["bad", *name.split()]


@pytest.mark.parametrize(
    ("sinks", "code", "at"),
    [
        ('Console { plugin_input = "b", plugin_output = "x" }, Console { plugin_input = "b", plugin_output = "X" }',
         "PEN2006", "X"),
        ('Console { plugin_input = "b", plugin_output = ["x", "y"] }', "PEN2011", "y"),
        ('Console { plugin_input = "b", plugin_output = "x" }, Console { plugin_input = "x" }', "PEN2007", "x"),
    ],
)  # fmt: skip
def test_its_errors(compiled, sinks, code, at):
    (diagnostic,) = (each for each in compiled(sinks)[1] if each.severity is Severity.ERROR)
    line = Path(diagnostic.span.file).read_text().split("\n")[diagnostic.span.line - 1]
    assert (diagnostic.code, line[diagnostic.span.column - 1 : diagnostic.span.end_column - 1].strip('"')) == (code, at)
