"""Sets of tables: names, options, placeholders, folders."""

import cProfile
from pstats import Stats

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.plan.pipelines import pipelines
from engine.plan.rendering.explain_text import explain


def compiled(folder, text, name="job.conf"):
    file = folder / name
    file.write_text(text)
    diagnostics = Diagnostics()
    return compile_job(file, Settings(), diagnostics), [(each.code, each.message) for each in diagnostics]


def plan_of(folder, text, name="job.conf"):
    job, errors = compiled(folder, text, name)
    assert job is not None, errors
    return job.plan


def test_folders_are_tables(tmp_path):
    for database, table in (("a", "x"), ("a", "y"), ("b", "x")):
        (tmp_path / "in" / database / table).mkdir(parents=True)
        (tmp_path / "in" / database / table / "f.csv").write_text(f"id,{table}\n1,q\n")
    (tmp_path / "in" / "a" / "_hidden").mkdir()
    job = f"""
    source {{ LocalFile {{ plugin_output = in, path = "{tmp_path}/in/{{database}}/{{table}}", file_format_type = csv,
                          csv_use_header_line = true }} }}
    sink {{ LocalFile {{ path = "{tmp_path}/out/${{database_name}}.${{table_name}}", file_format_type = csv }} }}"""
    plan = plan_of(tmp_path, job)
    assert [(write.name, write.table.schema.names, write.options["path"]) for write in plan.writes] == [
        ("localfile.a.x", ("id", "x"), f"{tmp_path}/out/a.x"),
        ("localfile.y", ("id", "y"), f"{tmp_path}/out/a.y"),
        ("localfile.b.x", ("id", "x"), f"{tmp_path}/out/b.x"),
    ]


def test_a_folder_whose_name_cannot_be_a_table_is_reported(tmp_path):
    for name in ("a", "b.c"):
        (tmp_path / "in" / name).mkdir(parents=True)
    job, errors = compiled(tmp_path, f"""
    source {{ LocalFile {{ path = "{tmp_path}/in/{{table}}", file_format_type = csv
                          schema {{ fields {{ a = int }} }} }} }}
    sink {{ Console {{ }} }}""")  # fmt: skip
    assert job is None
    assert [message.split(":")[0] for code, message in errors if code == "PEN4002"] == [
        f"`{tmp_path}/in/b.c` cannot be a table"
    ]


def test_planning_is_linear(tmp_path):
    def calls(count):
        entries = "\n".join(f'{{ schema {{ table = "d.t{number}" }} }}' for number in range(count))
        job = f"""
        source {{ FakeSource {{ schema {{ fields {{ id = int }} }}, tables_configs = [{entries}] }} }}
        transform {{ Filter {{ condition = "id > 3" }} }}
        sink {{ LocalFile {{ path = "out/${{table_name}}", file_format_type = csv, data_save_mode = DROP_DATA }} }}"""
        profile = cProfile.Profile()
        plan = profile.runcall(plan_of, tmp_path, job)
        assert len(pipelines(plan)) == count
        return Stats(profile).total_calls

    calls(10)  # imports
    assert calls(160) < 4.2 * calls(40)  # four times as many tables


def test_placeholders(tmp_path):
    job = """
    source { FakeSource { plugin_output = in, tables_configs = [
      { schema { table = "db.s.t", comment = "all", columns = [{ name = a, type = int }, { name = b, type = int }],
                 primaryKey { columnNames = [b, a] },
                 constraintKeys = [{ constraintType = UNIQUE_KEY, constraintColumns = [{ columnName = a }] }] } }
      { schema { table = "u", fields { c = int } } } ] } }
    sink { LocalFile { file_format_type = csv, null_format = "${comment:none} ${unique_key:-} ${field_names}",
      path = "out/${database_name:no}/${schema_name}/${table_name}-${primary_key:id}-${table_full_name}"
      partition_by = ["${partition_keys}"] } }"""
    first, second = plan_of(tmp_path, job).writes
    assert first.options["path"] == "out/db/s/t-b,a-db.s.t"
    assert second.options["path"] == "out/no//u-id-u"
    assert first.options["null_format"] == "all a a,b"
    assert second.options["null_format"] == "none - c"
    assert first.options["partition_by"] == []


def test_script_and_hocon_give_one_plan(tmp_path):
    script = """
    CREATE TABLES crm WITH ('connector' = 'FakeSource', 'tables_configs' =
      '[{ schema { table = "shop.orders", fields { id = int } } }, { schema { table = "shop.p", fields { b = int } } }]'
    );
    CREATE VIEW named AS SELECT orders.id FROM crm.orders WHERE orders.id > 0;
    CREATE TABLES out WITH ('connector' = 'LocalFile', 'path' = 'o/${table_name}', 'file_format_type' = 'csv');
    INSERT INTO out SELECT * FROM crm;
    CREATE TABLE one WITH ('connector' = 'LocalFile', 'path' = 'one', 'file_format_type' = 'csv');
    INSERT INTO one SELECT * FROM named;"""
    hocon = """
    source { FakeSource { plugin_output = crm, tables_configs = [
      { schema { table = "shop.orders", fields { id = int } } }
      { schema { table = "shop.p", fields { b = int } } }] } }
    transform { Sql { plugin_input = ["crm.orders"], plugin_output = named,
                      query = "SELECT orders.id FROM crm.orders WHERE orders.id > 0" } }
    sink { LocalFile { plugin_input = crm, plugin_output = out, path = "o/${table_name}", file_format_type = csv }
           LocalFile { plugin_input = named, plugin_output = one, path = one, file_format_type = csv } }"""
    assert explain(plan_of(tmp_path, script, "job.sql")) == explain(plan_of(tmp_path, hocon))


def test_merged_tables_are_a_set_of_one(tmp_path):
    job = """
    source { FakeSource { plugin_output = in, tables_configs = [
      { schema { table = "a.t", fields { id = int } } }, { schema { table = "b.t", fields { id = int } } } ] } }
    transform {
      TableMerge { plugin_output = all, database = lake, table = t }
      Sql { table_transform = [{ table_path = "lake.t", query = "select id, 1 as n from all" }] }
    }
    sink { LocalFile { path = "out/${database_name}/${table_name}", file_format_type = csv } }"""
    (write,) = plan_of(tmp_path, job).writes
    assert (write.name, write.options["path"]) == ("localfile.t", "out/lake/t")
    assert write.table.schema.names == ("id", "n")


def test_a_query_without_a_name_cannot_be_written_by_the_name_of_its_table(tmp_path):
    script = """
    CREATE TABLES crm WITH ('connector' = 'FakeSource', 'tables_configs' =
      '[{ schema { table = "shop.orders", fields { id = int } } }]');
    CREATE TABLES out WITH ('connector' = 'LocalFile', 'path' = 'o/${table_name}', 'file_format_type' = 'csv');
    %s"""
    job, errors = compiled(tmp_path, script % "INSERT INTO out SELECT id FROM crm.orders;", "job.sql")
    assert job is None
    assert errors == [("PEN2013", "`out` is written by the name of each table, and this query has none")]
    named = "CREATE VIEW ids AS SELECT id FROM crm.orders; INSERT INTO out SELECT * FROM ids;"
    (write,) = plan_of(tmp_path, script % named, "job.sql").writes
    assert write.options["path"] == "o/ids"
