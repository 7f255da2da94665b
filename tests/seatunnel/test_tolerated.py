"""What is an error for Penstock alone, and a warning or nothing under the flag, since SeaTunnel runs it."""

import pytest

from catalog.diagnostics import Diagnostics
from engine.cli import main
from engine.compile import Settings, compile_job

FAKE = "FakeSource { schema { fields { id = int, name = string } } }"
JDBC = 'url = "jdbc:postgresql://db:5432/shop", driver = "org.postgresql.Driver", username = u, password = p'


def validated(tmp_path, capsys, *flags, env="", source=FAKE, sink="Console {}"):
    job = tmp_path / "job.conf"
    job.write_text(f"env {{ job.mode = BATCH, {env} }}\nsource {{ {source} }}\nsink {{ {sink} }}")
    code = main(["validate", *flags, str(job)])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"env": "parallelism = 1, execution.parallelism = 2"}, "are one option"),
        ({"source": f"Jdbc {{ {JDBC}, table_path = public.t, split.size = 100 }}"}, "has no effect without"),
        ({"source": 'LocalFile { path = "s3a://bucket/t", file_format_type = orc }'}, "Spark reads them"),
        ({"env": "spark.sql.catalogImplementation = hive"}, "is fixed when the Spark application starts"),
        ({"env": "spark.sql.ansi.enabled = false"}, "is always `true`"),
        (
            {
                "source": 'FakeSource { schema { fields { m = "map<string, int>" } }, rows = [{ kind = INSERT, '
                'fields = ["{ a = 1 }"] }] }'
            },
            "a map without entries",
        ),
        (
            {
                "source": "FakeSource { schema { fields { id = int } }, rows = [{ kind = INSERT, "
                "fields { id = 1, other = 2 } }] }"
            },
            "the schema has no column `other`",
        ),
    ],
    ids=[
        "two parallelisms",
        "split.size alone",
        "orc elsewhere",
        "static setting",
        "fixed setting",
        "map as text",
        "unknown field",
    ],
)
def test_an_error_is_a_warning_under_the_flag(tmp_path, capsys, parts, said):
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", **parts)
    assert code == 0, shown
    assert said in shown
    assert validated(tmp_path, capsys, **parts)[0] == 2


def test_a_constraint_may_be_a_key(tmp_path):
    key = "{ constraintName = k, constraintType = KEY, constraintColumns = [{ columnName = name, sortType = DESC }] }"
    columns = "{ name = id, type = int }, { name = name, type = string }"
    job = tmp_path / "job.conf"
    schema = f"schema {{ columns = [{columns}], constraintKeys = [{key}] }}"
    job.write_text(f"source {{ FakeSource {{ {schema} }} }}\nsink {{ Console {{}} }}")
    compiled = compile_job(job, Settings(seatunnel=True), Diagnostics())
    assert compiled is not None
    [found] = next(iter(compiled.built.nodes())).table.schema.constraint_keys
    assert (found.type.value, found.columns) == ("INDEX_KEY", (("name", "DESC"),))


@pytest.mark.parametrize("kind", ["json", "parquet", "excel"])
def test_an_empty_folder_is_a_table_of_text(tmp_path, capsys, kind):
    (tmp_path / "empty").mkdir()
    source = f'LocalFile {{ path = "{tmp_path}/empty", file_format_type = {kind}, schema {{}} }}'
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", source=source)
    assert code == 0, shown


@pytest.mark.parametrize("values", [":id, :name", ":name, :name", "?, ?"])
def test_a_query_of_jdbc_names_its_columns(tmp_path, capsys, values):
    sink = f'Jdbc {{ {JDBC}, query = "insert into t (a, b) values ({values})", primary_keys = [id] }}'
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink)
    assert code == 0, shown


def test_a_name_that_is_no_column_is_refused(tmp_path, capsys):
    sink = f'Jdbc {{ {JDBC}, query = "insert into t (a) values (:nam)" }}'
    code, shown = validated(tmp_path, capsys, sink=sink)
    assert code == 2
    assert "`query` has the placeholder `:nam`, and the rows have no such column" in shown
    assert "did you mean `name`?" in shown


def test_tables_of_topics_are_called_by_them(tmp_path, capsys):
    topics = ", ".join(f"{{ topic = {topic}, format = json, schema {{ fields {{ id = int }} }} }}" for topic in "ab")
    source = f'Kafka {{ bootstrap.servers = "h:9092", plugin_output = read, tables_configs = [{topics}] }}'
    code, shown = validated(
        tmp_path, capsys, "--compat", "seatunnel", source=source, sink="Console { plugin_input = read.b }"
    )
    assert code == 0, shown


STREAMING = "job.mode = STREAMING, checkpoint.interval = 5000"


@pytest.mark.parametrize("source", [FAKE, f"Jdbc {{ {JDBC}, query = 'select 1 as id' }}".replace("'", '"')])
def test_a_streaming_job_whose_source_ends_is_a_batch_job(tmp_path, source):
    job = tmp_path / "job.conf"
    job.write_text(f"env {{ {STREAMING} }}\nsource {{ {source} }}\nsink {{ Console {{}} }}")
    diagnostics = Diagnostics()
    compiled = compile_job(job, Settings(seatunnel=True), diagnostics)
    assert compiled is not None
    assert compiled.job.env.mode == "BATCH"
    assert "the job runs as a batch job" in "".join(each.message for each in diagnostics)
    strict = Diagnostics()
    assert compile_job(job, Settings(), strict) is None
    assert "PEN2030" in [each.code for each in strict]


def test_a_streaming_job_with_a_source_that_goes_on_stays_one(tmp_path):
    job = tmp_path / "job.conf"
    kafka = 'Kafka { topic = t, bootstrap.servers = "k:9092", format = text }'
    job.write_text(f"env {{ {STREAMING} }}\nsource {{ {kafka} }}\nsink {{ Console {{}} }}")
    compiled = compile_job(job, Settings(seatunnel=True), Diagnostics())
    assert compiled is not None
    assert compiled.job.env.mode == "STREAMING"
