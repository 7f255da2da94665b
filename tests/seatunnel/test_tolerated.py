"""What is an error for Penstock alone, and a warning or nothing under the flag, since SeaTunnel runs it."""

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
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


def test_a_rule_without_values_checks_the_type_under_the_flag(tmp_path, capsys):
    sink = "Assert { rules { field_rules = [{ field_name = id, field_type = %s }] } }"
    assert validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink % "int")[0] == 0
    assert "is int, not string" in validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink % "string")[1]
    for flags, type in (((), "int"), (("--compat", "seatunnel"), "int, field_value = []")):
        assert "the rule of `id` has no `field_value`" in validated(tmp_path, capsys, *flags, sink=sink % type)[1]


def test_a_constraint_may_be_a_key(tmp_path):
    key = "{ constraintName = k, constraintType = KEY, constraintColumns = [{ columnName = name, sortType = DESC }] }"
    columns = "{ name = id, type = int }, { name = name, type = string }"
    job = tmp_path / "job.conf"
    schema = f"schema {{ columns = [{columns}], constraintKeys = [{key}] }}"
    job.write_text(f"source {{ FakeSource {{ {schema} }} }}\nsink {{ Console {{}} }}")
    compiled = compile_job(job, Settings(compat=Compat.SEATUNNEL_2), Diagnostics())
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
    compiled = compile_job(job, Settings(compat=Compat.SEATUNNEL_2), diagnostics)
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
    compiled = compile_job(job, Settings(compat=Compat.SEATUNNEL_2), Diagnostics())
    assert compiled is not None
    assert compiled.job.env.mode == "STREAMING"


KAFKA = 'Kafka { topic = t, bootstrap.servers = "k:9092", format = json, schema { fields { id = int } }, %s }'
HTTP = 'Http { url = "http://h/x", schema { fields { id = int } }, %s }'


@pytest.mark.parametrize(
    "source",
    [
        KAFKA % "debezium_record_include_schema = true",
        KAFKA % "start_mode.timestamp = 0",
        KAFKA % 'avro_schema = "{}"',
        f"Jdbc {{ {JDBC}, table_path = public.t, partition_column = id, partition_num = 4, split.size = 8096 }}",
        HTTP % 'method = GET, body = "{}"',
    ],
    ids=["debezium", "timestamp", "avro", "split.size", "body"],
)
def test_an_option_without_effect_beside_others_is_a_warning_under_the_flag(tmp_path, capsys, source):
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", source=source)
    assert code == 0, shown
    assert "warning[PEN2011]" in shown
    code, shown = validated(tmp_path, capsys, source=source)
    assert code == 2
    assert "error[PEN2011]" in shown


@pytest.mark.parametrize("value", ['""', "[]", "{}"])
def test_an_unsupported_option_that_is_empty_is_nothing_under_the_flag(tmp_path, capsys, value):
    sink = f"Jdbc {{ {JDBC}, table = public.t, table_options = {value} }}"
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink)
    assert code == 0, shown
    assert "table_options" not in shown
    assert validated(tmp_path, capsys, sink=sink)[0] == 2


@pytest.mark.parametrize("value", ['""', "[]", "{}"])
def test_an_optional_list_that_is_empty_is_as_if_not_written_under_the_flag(tmp_path, capsys, value):
    sink = f'Kafka {{ topic = t, bootstrap.servers = "k:9092", assign_partitions = {value} }}'
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink)
    assert code == 0, shown
    assert "assign_partitions" not in shown


def test_another_branch_of_iceberg_than_the_main_one_takes_appends(tmp_path, capsys):
    table = "catalog_name = c, namespace = n, table = t, iceberg.catalog.config { warehouse = file:///nowhere }"
    for branch, more, expected in (("main", "", 0), ("other", "", 0), ("other", "data_save_mode = DROP_DATA", 2)):
        sink = f"Iceberg {{ {table}, iceberg.table.commit-branch = {branch}\n{more} }}"
        code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink)
        assert code == expected, shown


@pytest.mark.parametrize(
    ("source", "sink"),
    [
        (FAKE, f'Jdbc {{ {JDBC}, table = "public.t", query = "", custom_sql = "", primary_keys = [] }}'),
        (FAKE, f'Jdbc {{ {JDBC}, query = "insert into t (id, name) values (?, ?)", table = "", database = "" }}'),
        (f'Jdbc {{ {JDBC}, table_path = public.t, query = "", partition_column = "" }}', "Console {}"),
    ],
)
def test_an_optional_text_that_is_empty_is_as_if_not_written_under_the_flag(tmp_path, capsys, source, sink):
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", source=source, sink=sink)
    assert code == 0, shown


PAIMON = "Paimon { warehouse = file:///nowhere, database = d, table = t"
ICEBERG = "Iceberg { catalog_name = c, namespace = n, table = t, iceberg.catalog.config { warehouse = file:///nowhere }"


@pytest.mark.parametrize("source", [PAIMON, ICEBERG])
def test_an_empty_query_of_a_table_is_as_if_not_written_under_the_flag(tmp_path, capsys, source):
    _, shown = validated(tmp_path, capsys, "--compat", "seatunnel", source=f'{source}, query = "" }}')
    assert "the query is empty" not in shown
    assert "Sql" not in shown
    assert "the query is empty" in validated(tmp_path, capsys, source=f'{source}, query = "" }}')[1]


def test_an_empty_query_of_a_transform_is_an_error_under_the_flag_too(tmp_path, capsys):
    sink = 'Console {} }\ntransform { Sql { query = "" }'
    for flags in ((), ("--compat", "seatunnel")):
        assert "the query is empty" in validated(tmp_path, capsys, *flags, sink=sink)[1]


def test_the_default_of_krb5_path_is_nothing_under_the_flag(tmp_path, capsys):
    source = f'Jdbc {{ {JDBC}, table_path = public.t, use_kerberos = false, krb5_path = "/etc/krb5.conf" }}'
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", source=source)
    assert code == 0, shown
    assert "does not support" not in shown


def test_changes_without_a_key_are_a_warning_under_the_flag(tmp_path, capsys):
    sink = 'Kafka { topic = t, bootstrap.servers = "k:9092", format = canal_json }'
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink)
    assert code == 0, shown
    assert "needs a key" in shown
    assert validated(tmp_path, capsys, sink=sink)[0] == 2


@pytest.mark.parametrize("where", ["source", "sink"])
def test_a_url_that_is_an_undefined_variable_is_refused(tmp_path, capsys, where):
    block = 'Jdbc { url = "${db_url}", query = "insert into t (a, b) values (?, ?)" }'
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", **{where: block})
    assert code == 2
    assert "the variable `db_url` is not defined" in shown
    assert "-i db_url=" in shown
    url = "jdbc:mysql://h:3306/d"
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", "-i", f"db_url={url}", **{where: block})
    assert code == 0, shown


def test_a_host_in_a_url_may_be_an_undefined_variable(tmp_path, capsys):
    sink = 'Jdbc { url = "jdbc:mysql://${host}:3306/d", table = t }'
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink)
    assert code == 0, shown


@pytest.mark.parametrize("name", ["table_path", "tablePath"])
def test_an_entry_of_table_transform_names_its_table(tmp_path, name):
    job = tmp_path / "job.conf"
    source = 'FakeSource { schema { table = "a.b", fields { x = int, y = int } } }'
    transform = f'Filter {{ table_transform = [{{ {name} = "a.b", include_fields = [y] }}], plugin_output = out }}'
    job.write_text(f"source {{ {source} }}\ntransform {{ {transform} }}\nsink {{ Console {{}} }}")
    compiled = compile_job(job, Settings(compat=Compat.SEATUNNEL_2), Diagnostics())
    assert compiled is not None
    [out] = [node for node in compiled.built.nodes() if node.name == "out"]
    assert out.table.schema.names == ("y",)


def test_an_entry_of_table_transform_for_no_table_is_a_warning_under_the_flag(tmp_path):
    job = tmp_path / "job.conf"
    transform = 'Filter { table_transform = [{ table_path = "other", include_fields = [id] }] }'
    job.write_text(f"source {{ {FAKE} }}\ntransform {{ {transform} }}\nsink {{ Console {{}} }}")
    for seatunnel in (True, False):
        diagnostics = Diagnostics()
        assert (
            compile_job(job, Settings(compat=Compat.SEATUNNEL_2 if seatunnel else Compat.OFF), diagnostics) is not None
        ) == seatunnel
        assert "PEN2007" in [each.code for each in diagnostics]


def test_a_schema_of_names_alone_is_one_of_fields_under_the_flag(tmp_path, capsys):
    source = "FakeSource { schema = { id = int, name = string } }"
    sink = "Assert { rules { field_rules = [{ field_name = name, field_type = string }] } }"
    assert validated(tmp_path, capsys, "--compat", "seatunnel", source=source, sink=sink)[0] == 0
    code, shown = validated(tmp_path, capsys, source=source, sink=sink)
    assert code == 2
    assert "`schema` has no `name`" in shown


@pytest.mark.parametrize("url", ["jdbc:postgresql://db:5432", "jdbc:postgresql://db:5432/?ssl=false"])
def test_the_database_of_a_url_of_postgresql_may_be_an_option_under_the_flag(tmp_path, capsys, url):
    sink = f'Jdbc {{ url = "{url}", database = shop, table = "public.t", user = u, password = p }}'
    code, shown = validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink)
    assert code == 0, shown
    assert validated(tmp_path, capsys, sink=sink)[0] == (2 if url.endswith("5432") else 0)
