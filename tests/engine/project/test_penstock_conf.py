"""`penstock.conf`: found upwards, its environments, connections and defaults, and what paths are relative to."""

import json
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import JobError
from engine.cli import main
from engine.project.read_project import read_project

CONF = """
name = "shop"
variables { raw = "raw", suffix = "v1" }
connections {
  warehouse { connector = Jdbc, url = "jdbc:postgresql://db/shop", user = etl, password = ${?SHOP_PASSWORD} }
}
defaults {
  env { parallelism = 3 }
  sink { LocalFile { file_format_type = parquet } }
}
environments {
  dev { default = true, variables { lake = "lake/dev/${suffix}" } }
  prod {
    variables { lake = "lake/prod", token = ${SHOP_TOKEN} }
    connections { warehouse { url = "jdbc:postgresql://prod/shop" } }
    spark { sql.shuffle.partitions = 8 }
    state_dir = "state"
  }
}
folders { "jobs/marts" { tags = [mart], owner = bi } }
"""
SOURCE = "source { FakeSource { plugin_output = rows, row.num = 5, schema { fields { id = int, at = date } } } }\n"
ORDERS = SOURCE + 'sink { LocalFile { path = "${lake}/orders" } }\n'
REVENUE = SOURCE + "sink { Jdbc { connection = warehouse, table = revenue, driver = org.postgresql.Driver } }\n"


@pytest.fixture
def shop(tmp_path, monkeypatch) -> Path:
    for name in ("SHOP_PASSWORD", "SHOP_TOKEN", "PENSTOCK_ENV", "PENSTOCK_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "shop"
    for file, text in {
        "penstock.conf": CONF, "jobs/staging/orders.conf": ORDERS, "jobs/marts/revenue.conf": REVENUE,
    }.items():  # fmt: skip
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
    monkeypatch.chdir(root)
    return root


def explained(capsys, *words: str) -> dict:
    code = main(["explain", "--format", "json", *words])
    out, err = capsys.readouterr()
    assert code == 0, out + err
    return json.loads(out)


def sink_options(plan: dict) -> dict:
    return next(node for node in plan["nodes"] if node["kind"] == "write")["options"]


def test_a_job_has_the_variables_and_defaults_of_the_default_environment(shop, capsys):
    options = sink_options(explained(capsys, "jobs/staging/orders.conf"))
    assert (options["path"], options["file_format_type"]) == ("lake/dev/v1/orders", "parquet")


def test_the_command_line_wins_over_the_project(shop, capsys):
    options = sink_options(explained(capsys, "jobs/staging/orders.conf", "-i", "lake=elsewhere"))
    assert options["path"] == "elsewhere/orders"


def test_a_block_has_the_options_of_its_connection_in_the_chosen_environment(shop, capsys, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "t")
    for environment, host in {"dev": "db", "prod": "prod"}.items():
        options = sink_options(explained(capsys, "jobs/marts/revenue.conf", "--env", environment))
        assert (options["url"], options["table"]) == (f"jdbc:postgresql://{host}/shop", "revenue")


def test_a_connection_serves_sources_in_sql_too(shop, capsys):
    (shop / "jobs/copy.sql").write_text(
        "CREATE TABLE revenue (id INT) WITH ('connector' = 'Jdbc', 'connection' = 'warehouse',"
        " 'table_path' = 'revenue', 'driver' = 'org.postgresql.Driver');\n"
        "CREATE TABLE copy WITH ('connector' = 'LocalFile', 'path' = '${lake}/copy');\n"
        "INSERT INTO copy SELECT * FROM revenue;\n"
    )
    plan = explained(capsys, "jobs/copy.sql")
    scan = next(node for node in plan["nodes"] if node["kind"] == "scan")
    assert scan["options"]["url"] == "jdbc:postgresql://db/shop"


def test_secrets_of_another_environment_are_not_needed(shop, capsys):
    assert main(["validate", "jobs"]) == 0
    assert main(["validate", "jobs", "--env", "prod"]) == 2
    error = capsys.readouterr().err
    assert "the variable `SHOP_TOKEN` is not defined" in error
    assert "penstock.conf:14:" in error


def test_each_environment_has_a_state_directory_of_its_own(shop, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "t")
    assert read_project(shop).state_dir == ".penstock/dev"
    assert read_project(shop, "prod").state_dir == "state"
    monkeypatch.setenv("PENSTOCK_STATE_DIR", "/var/penstock")
    assert read_project(shop).state_dir == "/var/penstock/dev"


def test_paths_are_relative_to_the_root_and_reported_files_to_the_current_folder(shop, capsys, monkeypatch):
    monkeypatch.chdir(shop / "jobs/staging")
    (shop / "raw").mkdir()
    (shop / "raw/a.csv").write_text("id\n1\n")
    (shop / "jobs/staging/orders.conf").write_text(
        'source { LocalFile { plugin_output = rows, path = "${raw}", file_format_type = csv,'
        " csv_use_header_line = true } }\n"
        'transform { Sql { plugin_output = picked, query = "select idd from rows" } }\n'
        'sink { LocalFile { path = "${lake}/orders" } }\n'
    )
    assert main(["validate", "."]) == 2
    out = capsys.readouterr().out
    assert "did you mean `id`?" in out
    assert " orders.conf:2:59" in out
    assert "select idd from rows" in out
    assert Path.cwd() == shop / "jobs/staging"


def test_a_job_outside_of_a_project_is_read_as_it_was(shop, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("alone.conf").write_text(SOURCE + 'sink { LocalFile { path = "${lake}/x", file_format_type = json } }\n')
    assert main(["validate", "alone.conf"]) == 2
    assert "the variable `lake` is not defined" in capsys.readouterr().out
    assert main(["validate", "alone.conf", "--env", "dev"]) == 2
    assert "PEN2704" in capsys.readouterr().err


def test_a_job_named_penstock_conf_is_no_project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("penstock.conf").write_text(SOURCE + 'sink { LocalFile { path = "x", file_format_type = json } }\n')
    assert main(["validate", "."]) == 0
    assert capsys.readouterr().out.startswith("1 job: no errors found")


def test_jobs_of_two_projects_are_refused_in_one_command(shop, tmp_path, capsys):
    (tmp_path / "other.conf").write_text(ORDERS)
    assert main(["validate", "jobs", str(tmp_path / "other.conf")]) == 2
    assert "PEN2710" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("nam = shop", "PEN2003", "did you mean `name`?"),
        ("environments { a {}, b {} }", "PEN2704", "give one `default = true`, or `--env`"),
        ("environments { a { default = true }, b { default = true } }", "PEN2704", "`a` and `b` are both the default"),
        ("environments { a { default = true, variabels {} } }", "PEN2003", "did you mean `variables`?"),
        ("connections { warehouse = 3 }", "PEN2703", "`connections.warehouse` is a number, not a block"),
        ("variables { a = [1] }", "PEN2703", "the variable `a` is a list, not a text"),
        ("defaults { sinks {} }", "PEN2703", "did you mean `sink`?"),
        ('jobs = ["nowhere"]', "PEN2703", "the job folder `nowhere` is not in the project"),
        ('folders { "nowhere" { tags = [a] } }', "PEN2703", "the folder `nowhere` is not in the project"),
        ('selectors { a = "tagg:x" }', "PEN2701", "did you mean `tag`?"),
        ("selectors { a = 3 }", "PEN2701", "this is no selector"),
        ("[1]", "PEN1002", "is a block of settings, not a list"),
    ],
)
def test_errors_in_penstock_conf_name_their_place_and_a_remedy(tmp_path, text, code, message):
    (tmp_path / "penstock.conf").write_text(text)
    with pytest.raises(JobError) as caught:
        read_project(tmp_path)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert message in f"{diagnostic.message} {diagnostic.help}"
    assert diagnostic.span is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("connection = warehose", "did you mean `warehouse`?"),
        ("connection = [a]", "`connection` is a list, not the name of a connection"),
    ],
)
def test_an_unknown_connection_is_an_error_at_the_block(shop, capsys, options, message):
    (shop / "jobs/marts/revenue.conf").write_text(REVENUE.replace("connection = warehouse", options))
    assert main(["validate", "jobs/marts"]) == 2
    assert message in capsys.readouterr().out


def test_a_connection_of_another_connector_is_refused(shop, capsys):
    (shop / "jobs/marts/revenue.conf").write_text(SOURCE + "sink { LocalFile { connection = warehouse, path = x } }\n")
    assert main(["validate", "jobs/marts"]) == 2
    assert "the connection `warehouse` is for `Jdbc`, not for `LocalFile`" in capsys.readouterr().out


def test_folders_give_their_jobs_tags_and_an_owner(shop):
    project = read_project(shop)
    assert project.settings_of("jobs/marts/revenue.conf").tags == ("mart",)
    assert project.settings_of("jobs/marts/revenue.conf").owner == "bi"
    assert project.settings_of("jobs/staging/orders.conf").tags == ()
    assert project.fqn("jobs/marts/revenue.conf") == ("shop", "marts", "revenue")


def test_a_folder_above_several_projects_validates_each_as_its_own(shop, tmp_path, capsys, monkeypatch):
    (shop / "jobs/marts/copy.conf").write_text(
        'source { LocalFile { plugin_output = rows, path = "${lake}/orders", file_format_type = parquet } }\n'
        'transform { Sql { query = "select idd from rows" } }\n'
        'sink { LocalFile { path = "${lake}/copy" } }\n'
    )
    (tmp_path / "alone.conf").write_text(SOURCE + 'sink { LocalFile { path = "x", file_format_type = json } }\n')
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "."]) == 2
    out = capsys.readouterr().out
    assert " shop/jobs/marts/copy.conf:2:" in out
    assert "select idd from rows" in out
    assert "shop/jobs/staging/orders.conf:2:18" in out
    assert "4 jobs: 1 error, 0 warnings" in out
    assert Path.cwd() == tmp_path
