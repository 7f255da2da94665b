"""Small jobs: those of which it is known without Spark that their rows take seconds."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.plan.input_size import are_small

FAKE = 'FakeSource { plugin_output = "t", row.num = 1000, schema { fields { id = bigint, name = string } } }'
FILE = 'LocalFile { path = "out", file_format_type = parquet }'
UPSERT = 'Jdbc { url = "jdbc:postgresql://db/x", table = "public.t", primary_keys = [id], enable_upsert = true }'


def plan_of(folder, source=FAKE, query="", sink=FILE, env=""):
    step = f'Sql {{ plugin_output = "q", query = "{query}" }}' if query else ""
    file = folder / "job.conf"
    file.write_text(f"env {{ {env} }}\nsource {{ {source} }}\ntransform {{ {step} }}\nsink {{ {sink} }}")
    diagnostics = Diagnostics()
    job = compile_job(file, Settings(), diagnostics)
    assert job is not None, [each.message for each in diagnostics]
    return job.plan


def csv(folder, name, megabytes):
    line = f"1,{'x' * 997}\n"
    (folder / name).write_text(line * (megabytes * 1000))
    schema = "schema { fields { id = bigint, name = string } }"
    return f'LocalFile {{ plugin_output = "t", path = "{folder / name}", file_format_type = csv, {schema} }}'


@pytest.mark.parametrize(
    ("query", "is_small"),
    [
        ("select name, count(*) as n from t group by name", True),
        ("select id, explode(sequence(1, 100000)) as x from t", False),
        ("select a.id from t a join t b on a.name = b.name", False),
        ("select t.id, x.id as x from t, range(1000000) x", False),
        ("select id from t lateral view explode(array(1, 2)) e as x", False),
        ("select id, name, count(*) as n from t group by cube(id, name)", False),
    ],
)
def test_a_query_that_may_make_many_rows_is_not_small(tmp_path, query, is_small):
    assert are_small([plan_of(tmp_path, query=query)]) is is_small


def test_what_is_read_decides(tmp_path):
    assert are_small([plan_of(tmp_path, csv(tmp_path, "few.csv", 2))])
    assert not are_small([plan_of(tmp_path, csv(tmp_path, "many.csv", 20))])
    assert not are_small([plan_of(tmp_path, csv(tmp_path, "packed.csv.gz", 3))])
    assert not are_small([plan_of(tmp_path, FAKE.replace("1000", "1000000"))])


def test_what_is_read_elsewhere_is_not_known(tmp_path):
    schema = "schema { fields { id = bigint } }"
    kafka = f'Kafka {{ plugin_output = "t", bootstrap.servers = "broker:9092", topic = "t", {schema} }}'
    assert not are_small([plan_of(tmp_path, kafka)])
    far = f'LocalFile {{ plugin_output = "t", path = "hdfs://there/t.csv", file_format_type = csv, {schema} }}'
    assert not are_small([plan_of(tmp_path, far)])


def test_a_merge_reads_its_target(tmp_path):
    assert not are_small([plan_of(tmp_path, sink=UPSERT)])


def test_a_stream_has_no_end(tmp_path):
    (tmp_path / "in").mkdir()
    assert not are_small(
        [plan_of(tmp_path, csv(tmp_path, "in/a.csv", 1).replace("/a.csv", ""), env='job.mode = "STREAMING"')]
    )


def test_jobs_of_one_application_are_small_together(tmp_path):
    job = plan_of(tmp_path, csv(tmp_path, "some.csv", 12))
    assert are_small([job])
    assert not are_small([job, job])


def test_each_table_may_have_some_rows(tmp_path):
    tables = ", ".join(
        f'{{ schema {{ table = "d.t{number}", fields {{ id = bigint, name = string }} }} }}' for number in range(100)
    )
    many = f'FakeSource {{ plugin_output = "t", row.num = 5000, tables_configs = [{tables}] }}'
    sink = 'LocalFile { path = "out/${table_name}", file_format_type = parquet }'
    assert are_small([plan_of(tmp_path, many, sink=sink)])
