"""Loading: variables, env, wiring and places of values, on job files as users write them."""

from pathlib import Path

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from engine.job.load import load_file
from engine.job.model.job import Job
from engine.job.model.settings import Settings
from engine.job.model.wiring import wire
from engine.job.script.embedded import embedded
from engine.terminal.report import sources_of

SOURCE = 'source { FakeSource { plugin_output = "%s", schema { fields { id = bigint } } } }\n'


def loaded(tmp_path: Path, text: str, *, name: str = "job.conf", **options: object) -> tuple[Job, Diagnostics]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    diagnostics = Diagnostics()
    job = load_file(path, diagnostics, Settings(**options))  # type: ignore[arg-type]
    assert job is not None
    return job, diagnostics


def codes(diagnostics: Diagnostics) -> list[str]:
    return [each.code for each in diagnostics]


def test_blocks_keep_their_order_and_duplicates(tmp_path: Path) -> None:
    sources = "".join(
        f'FakeSource {{ plugin_output = "{name}", schema {{ fields {{ id = int }} }} }}\n' for name in "zay"
    )
    job, diagnostics = loaded(tmp_path, "source {\n" + sources + "}\nsink { Console { plugin_input = [a, z, y] } }")
    assert not codes(diagnostics)
    assert [block.outputs[0].name for block in job.blocks[:3]] == ["z", "a", "y"]
    assert [each.name for each in job.blocks[3].inputs] == ["a", "z", "y"]


@pytest.mark.parametrize(
    "text",
    [
        "source { FakeSource { plugin_output = a, row.num = 7, schema { fields { id = bigint } } } }\n"
        "sink { Console { plugin_input = a } }",
        'source { fakesource { result_table_name = "a", row { num = 7 }, schema.fields.id = bigint } }\n'
        'sink { console { source_table_name = ["a"] } }',
        'source = [{ plugin_name = FakeSource, plugin_output = ["a"], row.num = "7",\n'
        "  schema { fields { id = bigint } } }]\n"
        "sink = [{ plugin_name = Console, plugin_input = a }]",
        '{"source": [{"plugin_name": "FakeSource", "plugin_output": "a", "row.num": 7,'
        ' "schema": {"fields": {"id": "bigint"}}}], "sink": [{"plugin_name": "Console", "plugin_input": "a"}]}',
    ],
)
def test_one_job_in_several_spellings(tmp_path: Path, text: str) -> None:
    job, diagnostics = loaded(tmp_path, text)
    assert not codes(diagnostics)
    source, sink = job.blocks
    assert source.options.integer("row.num") == 7
    assert source.options.mapping("schema") == {"fields": {"id": "bigint"}}
    assert wire(job, diagnostics).inputs[sink][0].producer is source
    assert not codes(diagnostics)


def test_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_ENVIRONMENT", "env")
    monkeypatch.delenv("NOT_THERE", raising=False)
    text = (
        'env { job.name = "${a}-${b:dflt}-${FROM_ENVIRONMENT}", job.mode = ${mode:BATCH}, spark.x = ${?NOT_THERE} }\n'
        + SOURCE % "s"
        + 'transform { Sql { query = """select \'${a}\' as x, \'$${a}\' as y from s""" } }\n'
        'sink { LocalFile { path = "out/${table_name}", file_format_type = parquet } }'
    )
    job, diagnostics = loaded(tmp_path, text, variables={"a": "x, y = z"})
    assert not codes(diagnostics)
    assert (job.env.name, job.env.mode, dict(job.env.spark)) == ("x, y = z-dflt-env", "BATCH", {})
    assert job.blocks[1].options.string("query") == "select 'x, y = z' as x, '${a}' as y from s"
    assert job.blocks[2].options.string("path") == "out/${table_name}"


def test_with_compat_what_is_not_defined_stays_as_it_is_written(tmp_path: Path) -> None:
    text = SOURCE % "s" + 'sink { Console { parallelism = 1, plugin_input = "${nothing_here}", unknown = 1 } }'
    job, diagnostics = loaded(tmp_path, text, compat=Compat.SEATUNNEL_2)
    assert [(each.code, each.severity.value) for each in diagnostics] == [("PEN2003", "warning")]
    assert job.blocks[1].inputs[0].name == "${nothing_here}"


def test_an_undefined_variable_brings_no_further_error(tmp_path: Path) -> None:
    text = SOURCE % "${nothing_here}" + "sink { Console { plugin_input = s } }"
    job, diagnostics = loaded(tmp_path, text)
    wire(job, diagnostics)
    assert codes(diagnostics) == ["PEN1003"]


def test_a_misspelt_section_is_still_read(tmp_path: Path) -> None:
    job, diagnostics = loaded(
        tmp_path, (SOURCE % "s").replace("source {", "sorce {") + "sink { Console { plugin_input = s } }"
    )
    wire(job, diagnostics)
    assert codes(diagnostics) == ["PEN2001"]
    assert diagnostics.items[0].help == "did you mean `source`?"


def test_errors_inside_texts_have_exact_places(tmp_path: Path) -> None:
    text = (
        SOURCE % "s"
        + "transform {\n"
        + '  Sql { query = """\n    select ${columns},\n      wrong\n    from s""" }\n'
        + '  Sql { query = "select \\"a\\",\\n wrong" " from ${t}" }\n'
        + "}\nsink { Console {} }"
    )
    job, diagnostics = loaded(tmp_path, text, variables={"columns": "id, id as a_longer_name", "t": "s"})
    assert not codes(diagnostics)
    lines = text.splitlines()
    for block, words in ((job.blocks[1], ("${columns}", "wrong", "from")), (job.blocks[2], ("wrong", "from"))):
        query = block.options.text("query")
        for word in words:
            written = "id, id as a_longer_name" if word == "${columns}" else word
            start = query.value.index(written)
            span = query.span(start, start + len(written))
            assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == word


def test_includes(tmp_path: Path) -> None:
    (tmp_path / "shared.conf").write_text(SOURCE % "s" + 'base = "/data"')
    text = (
        'include "shared.conf"\ninclude required(file("no_such.conf"))\ninclude "http://localhost/x.conf"\n'
        'include "job.conf"\nsink { LocalFile { path = ${base}"/out", file_format_type = csv, plugin_input = s } }'
    )
    job, diagnostics = loaded(tmp_path, text)
    assert codes(diagnostics) == ["PEN1004"] * 3
    assert [each.span.line for each in diagnostics if each.span] == [2, 3, 4]
    assert job.blocks[-1].options.string("path") == "/data/out"
    assert job.blocks[0].span is not None
    assert job.blocks[0].span.file.endswith("shared.conf")


def test_a_variable_in_the_name_of_an_included_file(tmp_path: Path) -> None:
    for store in ("files", "console"):
        (tmp_path / f"_{store}.conf").write_text(f"env {{ job.name = {store} }}\n" + SOURCE % "s")
    text = 'include required("_${store:files}.conf")\nsink { Console { plugin_input = s } }'
    for variables, name in (({}, "files"), ({"store": "console"}, "console")):
        job, diagnostics = loaded(tmp_path, text, variables=variables)
        assert not codes(diagnostics)
        assert job.env.options["job.name"] == name
    _, diagnostics = loaded(tmp_path, text.replace(":files", ""))
    assert diagnostics.items[0].code == "PEN1004"
    assert diagnostics.items[0].help == "give it with `-i store=…`, or a default: `${store:…}`"
    assert diagnostics.items[0].span.line == 1


def test_spark_settings(tmp_path: Path) -> None:
    env = 'env { spark.sql.shuffle.partitions = 8, spark.executor.memory = 2g, "spark.sql.ansi.enabled" = TRUE }\n'
    job, diagnostics = loaded(tmp_path, env + SOURCE % "s" + "sink { Console {} }")
    assert not codes(diagnostics)
    assert job.env.spark["spark.executor.memory"] == "2g"
    assert job.env.spark["spark.sql.shuffle.partitions"] == "8"


@pytest.mark.parametrize(
    ("content", "message"), [(None, "cannot be read"), (b"a = \xff", "is not UTF-8")], ids=["missing", "latin-1"]
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "job.conf"
    if content is not None:
        path.write_bytes(content)
    diagnostics = Diagnostics()
    assert load_file(path, diagnostics) is None
    assert codes(diagnostics) == ["PEN1001"]
    assert message in diagnostics.items[0].message


def test_the_place_of_a_byte_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "job.conf"
    path.write_bytes("\ufeff# größe\nenv { a = ü".encode() + b"\xfc }\n")
    diagnostics = Diagnostics()
    assert load_file(path, diagnostics) is None
    span = diagnostics.items[0].span
    assert span is not None
    assert (span.line, span.column) == (2, 12)


def test_inputs_of_blocks_without_names(tmp_path: Path) -> None:
    text = (SOURCE % "s").replace('plugin_output = "s", ', "") + "transform { Copy { fields { a = id } } }\n"
    job, diagnostics = loaded(tmp_path, text + "sink { Console {}, Console {} }")
    inputs = wire(job, diagnostics).inputs
    source, copy, first, second = job.blocks
    assert not codes(diagnostics)
    assert [inputs[block][0].producer for block in (copy, first, second)] == [source, copy, copy]


def test_a_cycle_is_reported_once_and_claims_nothing_below(tmp_path: Path) -> None:
    blocks = "".join(
        f'Sql {{ plugin_input = ["{a}"], plugin_output = "{b}", query = "select * from {a}" }}\n'
        for a, b in (("c", "a"), ("a", "b"), ("b", "c"), ("c", "d"))
    )
    job, diagnostics = loaded(
        tmp_path, SOURCE % "s" + "transform {\n" + blocks + "}\nsink { Console { plugin_input = d } }"
    )
    wiring = wire(job, diagnostics)
    assert codes(diagnostics) == ["PEN2008"]
    assert diagnostics.items[0].span is not None
    assert diagnostics.items[0].span.line == 5
    assert len(wiring.order) == len(job.blocks)


def test_a_error_behind_a_character_that_only_some_take_for_a_line_end_is_placed():
    diagnostics = Diagnostics()
    embedded(PlacedText.bare('{ a = "x\u2028y"\n  b = ] }'), diagnostics)
    assert next((each.span.line, each.span.column) for each in diagnostics if each.span) == (2, 3)


def test_what_is_hidden_is_known_whatever_ends_the_lines(tmp_path):
    """Reports read the file again, and know the ranges by its text."""
    path = tmp_path / "job.conf"
    text = (SOURCE % "a") + 'sink { Spark { format = jdbc, options { password = "sesame" } } }\nsnik { }\n'
    path.write_bytes(text.replace("\n", "\r\n").encode())
    diagnostics, settings = Diagnostics(), Settings()
    job = load_file(path, diagnostics, settings)
    (source,) = sources_of(diagnostics)
    assert settings.masks.hidden(source) == settings.masks.hidden(job.source)
    assert settings.masks.hidden(source)
