"""The how-to pages on a day without rows, without a variable, and with a renamed column: all by their commands."""

import json
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from connectors.storage.object_store import StoreSettings
from engine.cli import main
from tests.connectors.http_.service import Request, service
from tests.test_how_to import branch, page, workflow_commands  # noqa: F401 (fixtures)
from tests.test_pages import ROOT, blocks


def edit(file: str, *changes: tuple[str, str]) -> None:
    text = Path(file).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, (file, old)
        text = text.replace(old, new)
    Path(file).write_text(text, encoding="utf-8")


@pytest.fixture
def said(capsys):
    """Runs a command, and returns its exit code and all that it prints."""

    def said(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(list(words))
        written = capsys.readouterr()
        return code, written.out + written.err

    return said


@pytest.mark.spark
def test_environments_with_an_empty_day_a_missing_variable_and_a_renamed_column(spark, page, said):  # noqa: F811
    page("environments")
    run = ("run", "jobs/orders.conf", "--quiet")
    assert said(*run, "--vars", "env/dev.vars")[0] == 0
    assert spark.read.parquet("out/dev/orders").count() == 2
    assert said(*run, "--vars", "env/dev.vars", "-i", "least=1000")[0] == 0  # no row is left
    written = spark.read.parquet("out/dev/orders")
    assert (written.count(), written.columns) == (0, ["id", "amount"])
    code, text = said(*run, "-i", "lake=out/dev")
    assert code == 2
    assert "error[PEN1003]: the variable `least` is not defined" in text
    code, text = said(*run, "--vars", "env/dev.vars", "-i", "lst=5")
    assert code == 2
    assert "error[PEN1501]" in text
    edit("jobs/orders.conf", ("amount = ", "total = "))
    code, text = said("validate", "jobs", "--vars", "env/dev.vars")
    assert code == 2
    assert "error[PEN3004]" in text
    assert "`amount`" in text


@pytest.mark.spark
def test_postgresql_with_an_empty_day_a_missing_variable_and_a_renamed_column(
    spark, postgres, page, said, monkeypatch  # noqa: F811
):  # fmt: skip
    page("postgresql")
    postgres.clear()
    run = ("run", "jobs/load_customers.conf", "--quiet")
    code, text = said(*run)
    assert code == 2
    assert "error[PEN1003]: the variable `SHOP_URL` is not defined" in text
    monkeypatch.setenv("SHOP_URL", postgres.url)
    monkeypatch.setenv("SHOP_USER", postgres.user)
    monkeypatch.setenv("SHOP_PASSWORD", postgres.password)
    assert said(*run)[0] == 0
    rows = [(1, "Ada", "London"), (2, "Grace", "New York")]
    Path("data/customers.csv").write_text("id,name,city\n")
    assert said(*run)[0] == 0
    assert sorted(postgres.rows("select id, name, city from customers")) == rows
    Path("data/customers.csv").write_text("id,fullname,city\n1,Ida,Paris\n")
    code, text = said(*run)
    assert code == 2
    assert "error[PEN3004]: the declared column `name` is not in `data/customers.csv`" in text
    assert sorted(postgres.rows("select id, name, city from customers")) == rows

    assert said("schema", "sync", "jobs/export_customers.conf")[0] == 0
    postgres.run("delete from customers")
    assert said("run", "jobs/export_customers.conf", "--quiet")[0] == 0
    assert spark.read.parquet("out/londoners").count() == 0
    postgres.run("alter table customers rename column name to fullname")
    code, text = said("run", "jobs/export_customers.conf", "--quiet")
    assert code == 1
    assert "`name`" in text
    assert "PEN9001" not in text
    assert said("schema", "sync", "jobs/export_customers.conf")[0] == 0
    code, text = said("validate", "jobs/export_customers.conf")
    assert code == 2
    assert "error[PEN3004]" in text


@pytest.mark.spark
@pytest.mark.delta
def test_a_delta_job_with_an_empty_day_and_a_renamed_column(spark, page, said):  # noqa: F811
    page("delta-cluster")
    job = "jobs/events.conf"
    edit(job, ("row.num = 20", "row.num = 0"))
    assert said("run", job, "--quiet")[0] == 0
    assert said("run", job, "--quiet")[0] == 0
    assert spark.read.format("delta").load("out/lake/events").count() == 0
    edit(job, ("row.num = 0", "row.num = 3"))
    assert said("run", job, "--quiet")[0] == 0
    assert spark.read.format("delta").load("out/lake/events").count() == 3
    edit(job, ("user = string", "account = string"))
    code, text = said("run", job, "--quiet")  # the query takes all columns: the table has none of this name
    assert code == 1
    assert "error[PEN4003]" in text
    assert "`account`" in text
    edit(job, ("at = timestamp", "at_time = timestamp"))
    code, text = said("validate", job)
    assert code == 2
    assert "error[PEN3004]" in text
    assert "known: `account`, `at_time`, `id`" in text


@pytest.mark.spark
def test_a_failed_run_with_an_empty_day_and_a_renamed_column(spark, page, said):  # noqa: F811
    page("failed-run")
    job = "jobs/ratio.conf"
    code, text = said("run", job, "--quiet")
    assert code == 1
    assert "error[PEN5001]: Division by zero (in `averages`)" in text
    edit(
        job,
        ('{ kind = INSERT, fields = ["north", 100, 4] }', ""),
        ('{ kind = INSERT, fields = ["south", 80, 0] }', ""),
    )
    code, text = said("run", job, "--quiet")
    assert (code, "PEN9001" in text) == (0, False), text
    edit(job, ("orders = int", "order_count = int"))
    code, text = said("validate", job)
    assert code == 2
    assert "error[PEN3004]" in text


def test_the_github_workflow_on_a_day_without_rows_or_files(branch, said):  # noqa: F811
    """The files of the day are there without rows, and then not at all: neither is an error of the change."""
    (data,) = Path("data").glob("*01.csv")
    data.write_text("id,amount\n")
    branch.write_text("# a comment\n" + branch.read_text())
    assert [main(command) for command in workflow_commands()] == [0, 0]
    data.write_text("")
    codes = [main(command) for command in workflow_commands()]
    assert codes == [0, 0]
    data.unlink()
    assert [main(command) for command in workflow_commands()] == [0, 0]


def job_of(page: str, number: int, name: str, *changes: tuple[str, str]) -> str:  # noqa: F811
    """Writes the job in a block of a page to a file, changed so that it meets the servers of the tests."""
    jobs = [block for block in blocks(ROOT / "docs" / "how-to" / f"{page}.md") if block["language"] == "hocon"]
    Path(name).write_text(jobs[number]["text"], encoding="utf-8")
    edit(name, *changes)
    return name


@pytest.mark.spark
def test_file_servers_with_an_empty_day_a_missing_variable_and_a_renamed_column(
    spark, sftp, tmp_path, said, monkeypatch
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFTP_PASSWORD", sftp.options["password"])
    orders = sftp.folder / "days" / "in" / "orders"
    orders.mkdir(parents=True)
    job = job_of(
        "file-servers", 0, "job.conf", ("host = files.example.com", f"host = 127.0.0.1, port = {sftp.port}"),
        ('"/in/orders"', '"days/in/orders"'), ('"out/orders"', '"days/out/orders"'),
        ('private_key_file = "~/.ssh/etl"', "password = ${?SFTP_PASSWORD}"),
        ('host_key = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"', ""),
    )  # fmt: skip
    written = sftp.folder / "days" / "out" / "orders"
    day = orders / "orders.csv"
    day.write_text("id,amount\n")
    assert said("run", job, "--quiet")[0] == 0
    assert spark.read.parquet(str(written)).columns == ["id", "amount"]
    day.write_text("id,amount\n1,2.50\n")
    assert said("run", job, "--quiet")[0] == 0
    day.write_text("id,total\n2,3.50\n")
    code, text = said("run", job, "--quiet")
    assert code == 1
    assert "error[PEN3004]: the declared column `amount` is not in" in text
    day.write_text("")  # not even a header
    code, text = said("run", job, "--quiet")
    assert (code, "PEN9001" in text) == (0, False), text
    shutil.rmtree(orders)
    code, text = said("run", job, "--quiet")
    assert (code, "error[PEN5004]" in text) == (1, True), text
    assert spark.read.parquet(str(written)).collect() == [(1, Decimal("2.50"))]
    monkeypatch.delenv("SFTP_PASSWORD")
    code, text = said("run", job, "--quiet")
    assert (code, "PEN9001" in text) == (1, False), text
    assert "No authentication methods available" in text


@pytest.mark.spark
def test_object_store_with_an_empty_day_a_missing_variable_and_a_renamed_column(
    s3_spark, s3, page, said, monkeypatch  # noqa: F811
):  # fmt: skip
    page("object-store")
    bucket = s3.bucket()
    settings = "".join(f'"{name}" = "{value}"\n' for name, value in s3.settings.items() if "key" not in name)
    job = "jobs/daily_sales.conf"
    edit(
        job, ('"s3a://sales-raw"', f'"{bucket}"'), ('"s3a://sales-reports"', f'"{bucket}"'),
        ("secret_key = ${?S3_SECRET}", f"secret_key = ${{?S3_SECRET}}\nhadoop_s3_properties {{ {settings} }}"),
    )  # fmt: skip
    monkeypatch.setenv("S3_KEY", "key")
    monkeypatch.setenv("S3_SECRET", s3.settings["fs.s3a.secret.key"])
    StoreSettings.of(str(bucket), s3.settings).apply(s3_spark)
    for day, count, name in (("01", 2, "amount"), ("02", 0, "amount"), ("03", 2, "total")):
        columns = ("id", "'north' region", f"cast(id as decimal(10,2)) {name}")
        s3_spark.range(count).selectExpr(*columns).write.parquet(f"{bucket}/orders/2024-02-{day}")
    assert said("run", job, "--quiet")[0] == 0
    assert said("run", job, "--quiet", "-i", "day=2024-02-02")[0] == 0
    assert s3_spark.read.parquet(f"{bucket}/by_region/2024-02-02").collect() == []
    code, text = said("run", job, "--quiet", "-i", "day=2024-02-03")
    assert code == 1
    assert "error[PEN3004]: the declared column `amount` is not in" in text
    code, text = said("run", job, "--quiet", "-i", "day=2024-02-04")
    assert (code, "error[PEN5004]" in text) == (1, True), text
    assert said("run", job, "--quiet", "-i", "dya=2024-02-02")[0] == 2
    edit(job, ("${day:2024-02-01}", "${day}"))
    code, text = said("validate", job)
    assert (code, "error[PEN1003]: the variable `day` is not defined" in text) == (2, True), text
    assert [(row.region, row.amount) for row in s3_spark.read.parquet(f"{bucket}/by_region/2024-02-01").collect()] == [
        ("north", 1)
    ]
    assert sorted({key.split("/")[1] for key in bucket.keys() if key.startswith("by_region/")}) == [  # noqa: SIM118
        "2024-02-01", "2024-02-02",
    ]  # fmt: skip


@pytest.mark.spark
def test_secrets_with_an_empty_table_a_missing_variable_and_a_renamed_column(
    spark, postgres, page, said, monkeypatch, tmp_path  # noqa: F811
):  # fmt: skip
    page("secrets")
    postgres.clear()
    postgres.run("create table orders (id bigint)")
    key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    monkeypatch.setenv("PENSTOCK_SHADE_KEY", key)
    shaded = said("encrypt", postgres.password)[1].strip()
    secret = tmp_path / "shop"
    secret.write_text(postgres.password)
    monkeypatch.setenv("SHOP_PASSWORD", postgres.password)
    jobs = [f"jobs/{name}.conf" for name in ("from_variable", "from_file", "encrypted")]
    for job in jobs:
        edit(job, ("jdbc:postgresql://localhost:5432/shop", postgres.url), ('"etl"', f'"{postgres.user}"'))
    edit(jobs[1], ("/run/secrets/shop", str(secret)))
    edit(jobs[2], ('"change-me"', f'"{shaded}"'))
    for job in jobs:
        code, text = said("run", job, "--quiet")
        assert (code, postgres.password in text) == (0, False), text
    postgres.run("alter table orders rename column id to number")
    for job in jobs:
        code, text = said("run", job, "--quiet")
        assert (code, "`id`" in text, postgres.password in text) == (1, True, False), text
    monkeypatch.delenv("SHOP_PASSWORD")
    assert said("validate", jobs[0])[0] == 0
    code, text = said("run", jobs[0], "--quiet")
    assert (code, "password" in text, "PEN9001" in text) == (1, True, False), text
    secret.unlink()
    assert said("validate", jobs[1])[0] == 0
    code, text = said("run", jobs[1], "--quiet")
    assert code in (1, 2)
    assert str(secret) in text
    monkeypatch.delenv("PENSTOCK_SHADE_KEY")
    code, text = said("run", jobs[2], "--quiet")
    assert code in (1, 2)
    assert "PENSTOCK_SHADE_KEY" in text


@pytest.mark.spark
def test_web_services_with_an_empty_day_a_missing_variable_and_a_renamed_column(spark, page, said, monkeypatch):  # noqa: F811
    page("web-services")
    answer: list[object] = [[]]

    def answered(request: Request) -> object:
        if request.headers.get("authorization") not in ("Bearer token", "Bearer hook"):
            return 401, '{"error": "who are you?"}', {}
        return {"data": answer[0]} if request.method == "GET" else "{}"

    with service(answered) as running:
        read = job_of("web-services", 0, "read.conf", ("https://api.example.com/orders", running.url))
        hook = job_of(
            "web-services", 1, "hook.conf", ("https://hooks.example.com/orders", running.url),
            ("in/orders", "out/orders"),
        )  # fmt: skip
        monkeypatch.setenv("API_TOKEN", "token")
        monkeypatch.setenv("HOOK_TOKEN", "hook")
        assert said("run", read, "--quiet")[0] == 0
        assert spark.read.parquet("out/orders").columns == ["id", "amount"]
        assert said("run", hook, "--quiet")[0] == 0
        assert [request.method for request in running.requests] == ["GET"]  # no rows: nothing is sent
        answer[0] = [{"id": 1, "amount": "2.50"}]
        assert said("run", read, "--quiet")[0] == 0
        assert said("run", hook, "--quiet")[0] == 0
        assert json.loads(running.requests[-1].body) == [{"id": 1, "amount": 2.5}]
        answer[0] = [{"id": 2, "total": "3.50"}]
        code, text = said("run", read, "--quiet")
        assert (code, "no row of the response has the declared field `amount`" in text) == (1, True), text
        for job, variable in ((read, "API_TOKEN"), (hook, "HOOK_TOKEN")):
            monkeypatch.delenv(variable)
            code, text = said("run", job, "--quiet")
            assert (code, "401" in text, "PEN9001" in text) == (1, True, False), text
    assert spark.read.parquet("out/orders").count() == 1
