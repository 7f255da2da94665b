"""The graph of a project's jobs, and the contracts between them."""

from pathlib import Path

import pytest

from engine.cli import main
from engine.job.model.settings import Settings
from engine.project.compile_project import compile_project
from engine.project.read_project import read_project

ROWS = "source { FakeSource { plugin_output = rows, row.num = 5, schema { fields { id = int, at = date, n = int } } } }"


def writes(path: str, more: str = "", rows: str = ROWS) -> str:
    return f'{rows}\nsink {{ LocalFile {{ path = "{path}", file_format_type = parquet, {more} }} }}\n'


def reads(source: str, target: str, query: str = "", schema: str = "", format: str = "parquet") -> str:
    declared = f"schema {{ fields {{ {schema} }} }}" if schema else ""
    transform = f'transform {{ Sql {{ query = "{query}" }} }}\n' if query else ""
    return (
        f'source {{ LocalFile {{ plugin_output = rows, path = "{source}", file_format_type = {format}'
        f", {declared} }} }}\n"
        f'{transform}sink {{ LocalFile {{ path = "{target}", file_format_type = parquet }} }}\n'
    )


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def compile(conf: str = "", **jobs: str):
        (tmp_path / "penstock.conf").write_text(f"name = shop\n{conf}")
        (tmp_path / "jobs").mkdir(exist_ok=True)
        for name, text in jobs.items():
            (tmp_path / "jobs" / f"{name}.conf").write_text(text)
        project = read_project(Path())
        return compile_project(project, Settings(project=project.defaults))

    return compile


def found(compiled) -> list[tuple[str, str]]:
    return [(item.code, str(item.span)) for item in compiled.all_diagnostics()]


def test_jobs_depend_on_those_whose_datasets_they_read(compiled):
    project = compiled(
        b=reads("lake/a", "lake/b"), a=writes("lake/a"), c=reads("lake/b", "lake/c"), other=writes("lake/other")
    )
    assert found(project) == []
    assert project.graph.parents() == {"a": (), "b": ("a",), "c": ("b",), "other": ()}
    assert list(project.graph.selectable().in_order(project.graph.jobs)) == ["a", "b", "c", "other"]


def test_a_job_that_reads_a_part_or_a_pattern_of_a_dataset_depends_on_its_writer(compiled):
    project = compiled(
        a=writes("lake/a", "partition_by = [at]"),
        part=reads("lake/a/at=2013-01-01", "lake/p", schema="id = int"),
        pattern=reads("lake/a/*", "lake/q", schema="id = int"),
        folder=reads("lake", "out/r", schema="id = int"),
    )
    parents = project.graph.parents()
    assert (parents["part"], parents["pattern"]) == (("a",), ("a",))
    assert set(parents["folder"]) == {"a", "part", "pattern"}


def test_depends_on_adds_an_edge(compiled):
    project = compiled(a=writes("lake/a"), b=f"env {{ depends_on = [a] }}\n{writes('lake/b')}")
    assert project.graph.parents() == {"a": (), "b": ("a",)}


def test_a_dependency_that_is_no_job_is_an_error(compiled):
    project = compiled(orders=writes("lake/a"), b=f"env {{ depends_on = [order] }}\n{writes('lake/b')}")
    (item,) = project.all_diagnostics()
    assert (item.code, str(item.span), item.help) == ("PEN2709", "jobs/b.conf:1:21", "did you mean `orders`?")


def test_a_source_without_schema_takes_the_columns_of_the_job_that_writes_it(compiled):
    project = compiled(
        a=writes("lake/a", "partition_by = [id]"),
        b=reads("lake/a", "lake/b", "select at, n + 1 as more, id from rows"),
        c=reads("lake/b", "lake/c"),
    )
    assert found(project) == []
    (write,) = project.graph.jobs["c"].writes
    assert [(column.name, str(column.type)) for column in write.columns] == [
        (column.name, str(column.type)) for column in project.graph.jobs["b"].writes[0].columns
    ]
    assert [column.name for column in write.columns] == ["at", "more", "id"]


def test_a_column_that_the_writer_lacks_is_an_error_in_the_query_and_where_it_is_written(compiled):
    project = compiled(a=writes("lake/a"), b=reads("lake/a", "lake/b", "select idd from rows"))
    (item,) = project.all_diagnostics()
    assert (item.code, str(item.span), item.help) == ("PEN3004", "jobs/b.conf:2:35", "did you mean `id`?")
    assert [str(span) for span in item.also] == ["jobs/a.conf:2:18"]


def test_errors_of_a_writer_are_not_repeated_for_its_readers(compiled):
    project = compiled(
        a=writes("lake/a", rows=ROWS + '\ntransform { Sql { query = "select idd from rows" } }'),
        b=reads("lake/a", "lake/b", "select id from rows"),
        c=reads("lake/b", "lake/c"),
    )
    assert [code for code, _ in found(project)] == ["PEN3004"]


@pytest.mark.parametrize("columns", ["", "schema { fields { id = int, is_current = boolean, valid_to = timestamp } }"])
def test_the_columns_of_versions_are_those_of_the_target(compiled, columns):
    """The sink fills them: the rows of its job do not have them."""
    versions = f'{ROWS}\nsink {{ Delta {{ path = "lake/a", write_mode = scd2, primary_keys = [id] }} }}'
    source = f'source {{ Delta {{ plugin_output = a, path = "lake/a", {columns} }} }}'
    query = 'transform { Sql { query = "select id, valid_to from a where is_current" } }'
    target = 'sink { LocalFile { path = "lake/b", file_format_type = parquet } }'
    project = compiled(a=versions, b=f"{source}\n{query}\n{target}")
    assert found(project) == []
    assert [column.name for column in project.graph.jobs["a"].writes[0].columns][-3:] == [
        "valid_from", "valid_to", "is_current",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "format", "expected"),
    [
        ("id = int, at = date", "parquet", []),
        ("id = bigint", "parquet", []),
        ("id = string", "parquet", ["PEN4702"]),
        ("id = smallint", "parquet", ["PEN4702"]),
        ("idd = int", "parquet", ["PEN4701"]),
        ("id = string, at = string", "csv", []),
        ("at = int", "csv", ["PEN4702"]),
        ("id = string, gone = int", "csv", ["PEN4701"]),
    ],
)
def test_declared_columns_must_be_those_that_are_written(compiled, schema, format, expected):
    written = writes("lake/a").replace("= parquet", f"= {format}")
    project = compiled(a=written, b=reads("lake/a", "lake/b", schema=schema, format=format))
    items = project.all_diagnostics()
    assert [item.code for item in items] == expected
    for item in items:
        assert str(item.span).startswith("jobs/b.conf:1:")
        assert [str(span) for span in item.also] == ["jobs/a.conf:2:18"]


def test_jobs_that_need_each_other_are_an_error_at_each_edge(compiled):
    project = compiled(
        a=reads("lake/c", "lake/a", schema="id = int"),
        b=reads("lake/a", "lake/b", schema="id = int"),
        c=reads("lake/b", "lake/c", schema="id = int"),
    )
    (item,) = project.all_diagnostics()
    assert (item.code, item.message) == ("PEN2706", "these jobs form a cycle: `a` -> `b` -> `c` -> `a`")
    assert {str(span.file) for span in (item.span, *item.also)} == {f"jobs/{name}.conf" for name in "abc"}


def test_a_cycle_of_jobs_without_schemas_is_reported_too(compiled):
    project = compiled(a=reads("lake/b", "lake/a"), b=reads("lake/a", "lake/b"))
    assert [item.code for item in project.all_diagnostics()] == ["PEN2706"]


@pytest.mark.parametrize(
    ("one", "other", "is_allowed"),
    [
        ("", "", True),
        ("data_save_mode = DROP_DATA", "", False),
        ("data_save_mode = DROP_DATA", "data_save_mode = DROP_DATA", False),
        ('write_mode = overwrite_partitions, partition_by = ["at"]',
         'write_mode = overwrite_partitions, partition_by = ["at"]', True),
        ('write_mode = overwrite_partitions, partition_by = ["at"]', 'partition_by = ["at"]', False),
    ],
)  # fmt: skip
def test_two_jobs_write_one_dataset_only_if_none_replaces_rows_of_the_other(compiled, one, other, is_allowed):
    project = compiled(a=writes("lake/a", one), b=writes("lake/a", other))
    items = project.all_diagnostics()
    assert [item.code for item in items] == ([] if is_allowed else ["PEN2708"])
    assert [str(span) for item in items for span in (item.span, *item.also)] == (
        [] if is_allowed else ["jobs/b.conf:2:18", "jobs/a.conf:2:18"]
    )


def test_two_jobs_of_one_name_are_an_error_at_both(compiled, tmp_path):
    (tmp_path / "jobs/more").mkdir(parents=True)
    (tmp_path / "jobs/more/a.conf").write_text(writes("lake/b"))
    (item,) = compiled(a=writes("lake/a")).all_diagnostics()
    assert (item.code, item.message) == ("PEN2707", "`jobs/a.conf` and `jobs/more/a.conf` are both the job `a`")


def test_two_jobs_that_would_share_watermarks_are_refused(compiled):
    project = compiled(
        a=f"env {{ job.name = load }}\n{writes('lake/a')}", b=f"env {{ job.name = load }}\n{writes('lake/b')}"
    )
    assert found(project) == [("PEN2707", "jobs/b.conf:1:18")]


def test_validate_reports_what_concerns_the_jobs_that_it_is_asked_about(compiled, capsys):
    compiled(
        a=writes("lake/a"), b=reads("lake/a", "lake/b", schema="idd = int"), broken=reads("x", "y"), c=writes("lake/c")
    )
    assert main(["validate"]) == 2
    assert (
        capsys.readouterr().out.endswith("4 jobs: 2 errors, 0 warnings; typed 100 % of 0 columns (0.00 s)\n") is False
    )
    assert main(["validate", "jobs/c.conf"]) == 0
    capsys.readouterr()
    assert main(["validate", "a"]) == 2
    out = capsys.readouterr().out
    assert "PEN4701" in out
    assert "PEN4002" not in out


def test_ls_prints_the_selected_jobs_in_dependency_order(compiled, capsys):
    compiled(
        "folders { jobs { tags = [all] } }",
        b=reads("lake/a", "lake/b"),
        a=writes("lake/a"),
        c=reads("lake/b", "lake/c"),
    )
    assert main(["ls"]) == 0
    assert capsys.readouterr().out == "a\nb\nc\n"
    assert main(["ls", "--select", "+b", "c", "--exclude", "a", "--output", "path"]) == 0
    assert capsys.readouterr().out == "jobs/b.conf\njobs/c.conf\n"
    assert main(["ls", "--select", "tag:all,a+1", "--output", "json"]) == 0
    assert capsys.readouterr().out.count('"tags": ["all"]') == 2
    assert main(["ls", "--select", "tagg:x"]) == 2
    assert "did you mean `tag`?" in capsys.readouterr().err


def test_with_strict_files_that_another_job_writes_may_be_missing_and_others_not(compiled, capsys):
    compiled(
        a=writes("lake/a"),
        b=reads("lake/a", "lake/b", schema="id = int"),
        c=reads("lake/b", "lake/c", "select id + 1 as more from rows"),
        d=reads("elsewhere", "lake/d", schema="id = int"),
    )
    assert main(["validate", "--strict"]) == 2
    out = capsys.readouterr().out
    assert out.count("error[") == out.count("error[PEN4030]") == 1
    assert "elsewhere" in out
    assert main(["validate", "--strict", "c"]) == 0
    assert "typed 100 % of 1 column" in capsys.readouterr().out


DATABASE = 'url = "jdbc:postgresql://db/shop", user = u, password = p'


@pytest.mark.parametrize(
    ("schema", "option", "expected"),
    [
        ("id = int, price = int", "", ["PEN4501"]),
        ('id = bigint, price = "decimal(10,2)"', "", ["PEN4501"]),
        ("id = bigint, price = double", "", []),
        ("id = smallint, price = string", "", ["PEN4501"]),
        ("id = int, price = int", ", store_assignment = ansi", []),
    ],
)
def test_a_column_that_a_database_holds_in_a_narrower_type_is_a_warning(compiled, schema, option, expected):
    rows = "source { FakeSource { row.num = 1, schema { fields { id = int, price = double } } } }\n"
    project = compiled(
        a=rows + f"sink {{ Jdbc {{ {DATABASE}, table = public.t{option} }} }}",
        b=f"source {{ Jdbc {{ {DATABASE}, table_path = public.t, schema {{ fields {{ {schema} }} }} }} }}\n"
        "sink { Console {} }",
    )
    items = project.all_diagnostics()
    assert [item.code for item in items] == expected
    for item in items:
        assert str(item.span).startswith("jobs/a.conf:2:")
        assert str(item.also[0]).startswith("jobs/b.conf:1:")
