"""Jobs of Apache SeaTunnel's versions before 2.3: their names are read, or answered with those of today."""

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job

TWO = """
  FakeSource { result_table_name = a, schema { fields { x = int } } }
  FakeSource { result_table_name = b, schema { fields { y = string } } }
"""


def compiled(tmp_path, text, **settings):
    job = tmp_path / "job.conf"
    job.write_text(text)
    diagnostics = Diagnostics()
    return compile_job(job, Settings(**{"compat": Compat.SEATUNNEL_2, **settings}), diagnostics), diagnostics


def columns_of(found):
    [output] = [node for node in found.built.nodes() if node.name == "out"]
    return output.table.schema.names


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("select * from a", ("x",)),
        ("select * from b", ("y",)),
        ("select * from dual", ("y",)),
        ("select x, y from A join `b` on true", ("x", "y")),
        ("with c as (select x from a) select * from c", ("x",)),
    ],
)
def test_a_query_without_plugin_input_reads_the_outputs_that_it_names(tmp_path, query, columns):
    transform = f'Sql {{ query = "{query}", result_table_name = out }}'
    found, diagnostics = compiled(
        tmp_path, f"source {{ {TWO} }}\ntransform {{ {transform} }}\nsink {{ Console {{ source_table_name = out }} }}"
    )
    assert found is not None, list(diagnostics)
    assert columns_of(found) == columns


def test_a_query_with_plugin_input_reads_only_that(tmp_path):
    transform = 'Sql { plugin_input = b, query = "select * from a", plugin_output = out }'
    found, _ = compiled(tmp_path, f"source {{ {TWO} }}\ntransform {{ {transform} }}\nsink {{ Console {{}} }}")
    assert found is not None
    assert columns_of(found) == ("y",)


@pytest.mark.parametrize("name", ["type", "file_format"])
def test_the_format_of_files_by_its_old_names(tmp_path, name):
    (tmp_path / "in.json").write_text('{"x": 1}\n')
    source = f'LocalFile {{ path = "{tmp_path}/in.json", {name} = json, schema {{ fields {{ x = int }} }} }}'
    sink = f'LocalFile {{ path = "{tmp_path}/out", {name} = orc }}'
    found, diagnostics = compiled(tmp_path, f"source {{ {source} }}\nsink {{ {sink} }}")
    assert found is not None, list(diagnostics)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("input { Fake {} }", "`input` of SeaTunnel 1 is now `source`"),
        ("filter { remove {} }", "`filter` of SeaTunnel 1 is now `transform`"),
        ("output { stdout {} }", "`output` of SeaTunnel 1 is now `sink`"),
        ("source { FakeSourceStream {} }", "use `FakeSource` with a `schema`"),
        ("source { FileSource {} }", "use `LocalFile` with `file_format_type = …`"),
        ("source { KafkaTableStream {} }", "use `Kafka`"),
        ("transform { json {} }", "use `JsonPath`"),
        ("transform { grok {} }", "use `RegexExtract`"),
        ("sink { json {} }", "use `LocalFile` with `file_format_type = json`"),
        ("sink { ConsoleSink {} }", "use `Console`"),
        ("sink { JdbcSink {} }", "use `Jdbc` with its URL"),
        ('transform { split { fields = [a], delimiter = "," } }', "write `separator`"),
    ],
)
def test_what_is_no_more_is_answered_with_what_it_is_now(tmp_path, text, said):
    _, diagnostics = compiled(tmp_path, text)
    assert said in [each.help for each in diagnostics]


PLAIN = "source { FakeSource { schema { fields { x = int } } } }\nsink { Console {} }\n"


@pytest.mark.parametrize("section", ['params { jobName = "a" }', 'deploy-mode = "run"', "spark { a = 1 }"])
def test_what_is_no_section_is_passed_over_under_the_flag(tmp_path, section):
    found, diagnostics = compiled(tmp_path, PLAIN + section)
    assert found is not None
    assert [(each.code, each.severity.value) for each in diagnostics] == [("PEN2001", "warning")]
    assert compiled(tmp_path, PLAIN + section, compat=Compat.OFF)[0] is None


def test_a_misspelled_section_is_an_error_under_the_flag(tmp_path):
    found, diagnostics = compiled(tmp_path, PLAIN.replace("source {", "sorce {"))
    assert found is None
    assert "did you mean `source`?" in [each.help for each in diagnostics]
