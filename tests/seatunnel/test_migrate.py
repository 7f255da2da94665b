"""`penstock migrate`: a job of Apache SeaTunnel becomes a strict one with the same rows."""

from datetime import datetime
from io import StringIO
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, JobError, PenstockError
from engine.cli import main
from engine.compile import Settings, compile_job
from engine.migrating.file_globs import as_glob
from engine.migrating.migrate import migrate
from engine.plan.nodes import Scan

JOBS = Path(__file__).parent / "jobs"
PASSING = sorted(path for path in JOBS.rglob("*.conf") if path.read_text(encoding="utf-8").startswith("# passes"))
RUN = (
    "compat/null_types", "compat/one_name_twice", "compat/unknown_input", "compat/row_kinds_1_write",
    "compat/row_kinds_2_read", "files/csv_1_write", "files/csv_2_read",
    "files/text_formats_1_write", "files/text_formats_2_read", "files/partitions_1_write", "files/partitions_2_read",
    "files/custom_names_1_write", "files/custom_names_2_read", "transforms/sql_any_table", "transforms/sql_exploded",
    "transforms/sql_joined",
)  # fmt: skip

JOB = """
# what the job is for
env {
  # how many at once
  execution.parallelism = 2
  read_limit.rows_per_second = 10
  checkpoint.timeout = 5000
  flink { execution.checkpointing.mode = EXACTLY_ONCE }
}
source {
  FakeSource {
    result_table_name = "fake"
    row.num = 3
    # the columns
    schema { fields { id = "int", day = date } }
    unknown_option = 1
  }
}
transform {
  Sql { source_table_name = "fake", result_table_name = "out", query = "QUERY" }
}
sink {
  Console { source_table_name = "out" }
}
"""


def written(tmp_path: Path, query: str = "select id, '${day}' as d from fake", job: str = JOB) -> Path:
    path = tmp_path / "job.conf"
    path.write_text(job.replace("QUERY", query))
    return path


def strict(path: Path, folder: Path, variables: dict[str, str], *, to_spark_sql: bool = False) -> Path:
    migrated = migrate(path, Settings(variables), to_spark_sql=to_spark_sql)
    assert migrated.left == ()
    target = folder / path.name
    target.write_text(migrated.text)
    return target


@pytest.mark.parametrize("path", PASSING, ids=lambda path: str(path.relative_to(JOBS)))
@pytest.mark.parametrize("to_spark_sql", [False, True], ids=["as_written", "spark_sql"])
def test_what_runs_there_is_valid_without_the_flag(path, to_spark_sql, tmp_path):
    variables = {"work": str(tmp_path), "data": "data"}
    diagnostics = Diagnostics()
    compiled = compile_job(
        strict(path, tmp_path, variables, to_spark_sql=to_spark_sql), Settings(variables), diagnostics
    )
    assert compiled is not None, diagnostics.items


@pytest.mark.spark
def test_migrated_jobs_have_the_rows_that_they_have_there(spark, tmp_path, monkeypatch):
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest
    from engine.state.run_state import State

    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    variables = {"work": str(tmp_path), "data": "data"}
    for number, name in enumerate(RUN):
        path = strict(JOBS / f"{name}.conf", tmp_path, variables, to_spark_sql=number % 2 == 1)
        diagnostics = Diagnostics()
        compiled = compile_job(path, Settings(variables), diagnostics)
        assert compiled is not None, (name, diagnostics.items)
        try:
            result = run_job(spark, compiled, RunRequest(f"migrated-{number}"))
        except PenstockError as error:
            raise AssertionError(name) from error
        assert result.state is State.FINISHED, (name, result.diagnostics)


def test_it_says_what_changed(tmp_path, capsys):
    assert main(["migrate", str(written(tmp_path))]) == 0
    text = capsys.readouterr().out
    assert "# what the job is for" in text
    assert "  # how many at once\n  parallelism = 2\n" in text
    assert "    # the columns\n" in text
    assert "# needs its variables: -i day=…" in text
    assert "  read_limit.rows_per_second = 10\n" in text
    assert "left out of `env`, without effect: `checkpoint.timeout`, `flink`" in text
    assert "left out, without effect in SeaTunnel: `unknown_option`" in text
    assert "  # migrated: row.num: 3 for each of 2 readers\n" in text
    assert "    row.num = 6\n" in text
    assert f"date.year.template = [{datetime.now().year}]" in text
    assert 'plugin_input = "fake"' in text
    assert "sql.dialect" not in text


def test_queries_keep_the_dialect_or_are_rewritten(tmp_path):
    path = written(tmp_path, "select trim('xax', 'x') as a from fake")
    kept = migrate(path, Settings()).text
    assert 'sql.dialect = "seatunnel"' in kept
    assert "trim('xax', 'x') as a" in kept
    rewritten = migrate(path, Settings(), to_spark_sql=True).text
    assert "sql.dialect" not in rewritten
    assert "BOTH" in rewritten


def test_it_says_what_it_cannot_do_and_where(tmp_path, capsys):
    path = written(tmp_path, job=JOB.replace("Console {", "ClickhouseFile {").replace("QUERY", "select id from fake"))
    assert main(["migrate", str(path), "-o", str(tmp_path / "new.conf")]) == 2
    shown = capsys.readouterr()
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if "ClickhouseFile" in text)
    assert f"job.conf:{line}:3" in shown.err
    assert "error[PEN2002]: there is no sink `ClickhouseFile`" in shown.err
    text = (tmp_path / "new.conf").read_text()
    assert f"  # NOT MIGRATED: PEN2002 at {line}:3: there is no sink `ClickhouseFile`" in text


def test_each_table_of_a_list_is_migrated(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name / "day=1").mkdir(parents=True)
        (tmp_path / name / "day=1" / "rows.txt").write_text("1\n")
    path = tmp_path / "job.conf"
    path.write_text(f"""
source {{ LocalFile {{ tables_configs = [
  {{ path = "{tmp_path}/a", file_format_type = json, file_filter_pattern = "rows.*\\.txt", field_delimiter = ","
     schema {{ table = "one", fields {{ id = int }} }} }}
  {{ path = "{tmp_path}/b", file_format_type = text, field_delimiter = ",", schema {{ table = "two", fields {{ id = int }} }} }}
] }} }}
sink {{ Console {{}} }}""")  # noqa: E501
    target = strict(path, tmp_path, {})
    text = target.read_text()
    assert 'file_filter_pattern = "rows*.txt"' in text
    assert text.count('day = "string"') == 2
    diagnostics = Diagnostics()
    compiled = compile_job(target, Settings(), diagnostics)
    assert compiled is not None, diagnostics.items
    assert [node.table.schema.names for node in compiled.plan.nodes() if isinstance(node, Scan)] == [("id", "day")] * 2


def test_placeholders_of_models_are_no_variables(tmp_path):
    path = tmp_path / "job.conf"
    path.write_text("""
source { FakeSource { schema { fields { id = int } } } }
transform { LLM { model_provider = CUSTOM, model = m, prompt = "what is it", api_path = "http://localhost:1/${model}"
  custom_config { custom_response_parse = "$.answer"
    custom_request_body { model = "${model}", text = "${input}" } } } }
sink { Console {} }""")
    text = strict(path, tmp_path, {}).read_text()
    assert "$${input}" in text
    assert "needs its variables" not in text


def test_sql_jobs_are_refused(tmp_path):
    path = tmp_path / "job.sql"
    path.write_text("select 1")
    with pytest.raises(JobError, match="PEN2015"):
        migrate(path, Settings())


@pytest.mark.parametrize(
    ("expression", "glob"),
    [
        (r".*\.csv", "*.csv"),
        (r"^abc.*$", "abc*"),
        (r"part-.+\.(csv|txt)", "part-?*.{csv,txt}"),
        (r"day=2024-\d\d\.txt", "day=2024-[0-9][0-9].txt"),
        (r"a.c", "a?c"),
        (r"[ab]x\*", "[ab]x[*]"),
        (r"\d+", None),
        (r"a?b", None),
        (r"a{2}", None),
        (r".*/in/.*", None),
        (r"(?i)a", None),
    ],
)
def test_expressions_of_file_names_become_globs(expression, glob):
    assert as_glob(expression) == glob


def test_the_closing_statistics_are_those_of_seatunnel():
    from engine.runtime.counting.counts import ReadCount, WriteCount
    from engine.runtime.results import JobResult, PipelineResult
    from engine.state.run_state import State
    from engine.terminal.summary import print_statistics

    pipeline = PipelineResult("1", State.FINISHED, 1, 2.0, (ReadCount("fake", 16, 0, 1),), (WriteCount("out", 15, 1),))
    out = StringIO()
    print_statistics(JobResult("j", "r", State.FINISHED, 2.2, (pipeline,)), datetime(2024, 5, 1, 12, 0, 2), out)
    lines = out.getvalue().splitlines()
    assert lines[1].strip() == "Job Statistic Information"
    assert lines[3:-1] == [
        "Start Time                : 2024-05-01 11:59:59",
        "End Time                  : 2024-05-01 12:00:02",
        "Total Time(s)             :                   2",
        "Total Read Count          :                  16",
        "Total Write Count         :                  15",
        "Total Failed Count        :                   0",
    ]


def test_a_streaming_job_over_sources_that_end_becomes_a_batch_job(tmp_path):
    job = tmp_path / "job.conf"
    job.write_text(
        "env { job.mode = STREAMING, parallelism = 1 }\n"
        "source { FakeSource { schema { fields { id = int } } } }\nsink { Console {} }\n"
    )
    migrated = migrate(job, Settings())
    assert not migrated.left
    assert 'job.mode = "BATCH"' in migrated.text
    assert "no source yields rows that arrive later" in migrated.text


def test_a_query_of_a_source_becomes_a_transform(tmp_path):
    job = tmp_path / "job.conf"
    job.write_text(
        'source { Paimon { warehouse = "/nowhere", database = shop, table = items, plugin_output = ids\n'
        'query = "select id from items", schema { fields { id = int } } } }\nsink { Console {} }\n'
    )
    migrated = migrate(job, Settings())
    assert not migrated.left
    assert 'plugin_output = "ids_rows"' in migrated.text
    assert "Sql {" in migrated.text


def test_unsupported_options_that_change_nothing_are_left_out(tmp_path):
    job = tmp_path / "job.conf"
    options = 'recursive_file_scan = true, target_path = "", target_hadoop_conf {}'
    source = f'LocalFile {{ path = "in.json", file_format_type = json, schema {{ fields {{ x = int }} }}, {options} }}'
    job.write_text(f"source {{ {source} }}\nsink {{ Console {{}} }}")
    migrated = migrate(job, Settings())
    assert migrated.left == ()
    assert "left out, without effect in SeaTunnel: `recursive_file_scan`, `target_path`" in migrated.text


def test_empty_options_are_left_out(tmp_path):
    job = tmp_path / "job.conf"
    sink = 'Jdbc { url = "jdbc:postgresql://db/shop", user = u, query = "", table = "public.t", custom_sql = "" }'
    job.write_text(f"source {{ FakeSource {{ schema {{ fields {{ x = int }} }} }} }}\nsink {{ {sink} }}")
    migrated = migrate(job, Settings())
    assert migrated.left == ()
    assert "left out, without effect in SeaTunnel: `query`, `custom_sql`" in migrated.text
