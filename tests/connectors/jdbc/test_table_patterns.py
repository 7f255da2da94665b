"""Tables of a database by a regular expression: recorded by `schema sync`, then a set of tables."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.jdbc.connector import connector
from connectors.jdbc.table_names import parse_table_name, quoted_name
from connectors.matching.table_patterns import pattern_of
from engine.compile import Settings, compile_job
from engine.schema.lock_file import sync
from tests.connectors.given_options import options_of

JOB = """
env {{ job.name = "copy" }}
source {{
  Jdbc {{ plugin_output = db, {login}, table_path = "{path}", use_regex = true }}
}}
sink {{ LocalFile {{ plugin_input = db, path = "{out}/${{table_name}}", file_format_type = parquet }} }}
"""


def errors_of(job):
    diagnostics = Diagnostics()
    compiled = compile_job(job, Settings(reads_secrets=True), diagnostics)
    return compiled, [diagnostic.code for diagnostic in diagnostics if diagnostic.code != "PEN1001"]


@pytest.mark.parametrize(
    ("pattern", "fits", "others"),
    [
        (r"shop.orders_\d+", ["shop.orders_1", "shop.orders_22"], ["shop.orders_x", "shop2orders_1", "orders_1"]),
        (r"shop.\.*", ["shop.orders", "shop.a_b"], ["other.orders", "shop"]),
        (r"(a|b).t", ["a.t", "b.t"], ["c.t", "a"]),
        ("orders", ["orders"], ["orders2"]),
    ],
)
def test_a_dot_separates_names_and_an_escaped_dot_is_any_character(pattern, fits, others):
    expression = pattern_of(pattern)
    assert [bool(expression.fullmatch(name)) for name in (*fits, *others)] == [True] * len(fits) + [False] * len(others)


@pytest.mark.parametrize("name", [("a",), ("s", "a b"), ("s", 'a"b'), ("s", "a.b"), ("d", "s", "t")])
def test_quoted_names_are_read_back(name):
    assert parse_table_name(quoted_name(name)) == name


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"table_path": "a.*"}, "PEN2004"),
        ({"table_path": "a.t(", "query": None}, "PEN2004"),
        ({}, "PEN2011"),
        ({"table_path": "t", "query": "select 1"}, "PEN2011"),
    ],
)
def test_contradictions_are_reported(given, code):
    options = options_of(connector.source_options, url="jdbc:postgresql://db:5432/shop", use_regex=True, **given)
    diagnostics = Diagnostics()
    connector.tables(options, diagnostics)
    assert code in [diagnostic.code for diagnostic in diagnostics]


def test_tables_that_are_not_recorded_are_reported(tmp_path):
    job = tmp_path / "job.conf"
    login = 'url = "jdbc:postgresql://h/db", user = u, password = "planted-9"'
    job.write_text(JOB.format(login=login, path="public.t", out=tmp_path))
    (tmp_path / "penstock.lock").write_text("")
    _, codes = errors_of(job)
    assert codes == ["PEN4002"]
    (tmp_path / "penstock.lock").write_text(
        "[job.conf] db public.t\n  id int not null\n\n[job.conf] db public.u\n  x int\n"
    )
    compiled, codes = errors_of(job)
    assert codes == []
    (write,) = compiled.plan.writes
    assert [str(column) for column in write.table.columns] == ["id int not null"]


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
def test_recorded_tables_are_read(spark, request, tmp_path, kind):
    from tests.connectors.jobs import run_writes

    database = request.getfixturevalue(kind)
    database.clear()
    for number in (1, 2):
        database.run(
            f"create table orders_{number} (id int not null)", f"insert into orders_{number} values ({number})"
        )
    database.run("create table customers (id int)")
    job = tmp_path / "job.conf"
    login = ", ".join(f'{name} = "{value}"' for name, value in database.options.items())
    path = r"public.orders_\\d+" if kind == "postgres" else r"orders_\\d+"
    job.write_text(JOB.format(login=login, path=path, out=tmp_path / "out"))
    (tmp_path / "penstock.lock").write_text("")
    diagnostics = Diagnostics()
    assert sync([job], Settings(), diagnostics) == {tmp_path / "penstock.lock": 2}
    compiled, codes = errors_of(job)
    assert codes == []
    assert sorted(write.input.name for write in compiled.plan.writes) == ["db.orders_1", "db.orders_2"]
    run_writes(spark, compiled.plan.writes, str(tmp_path / "state"), "run")
    for number in (1, 2):
        assert spark.read.parquet(str(tmp_path / "out" / f"orders_{number}")).collect() == [(number,)]
