"""A query of a source that reads tables is a `Sql` transform after it."""

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.plan.nodes import Query

COLUMNS = "schema { fields { id = int, name = string } }"
TABLE = f'warehouse = "/nowhere", database = shop, table = items, {COLUMNS}'


def compiled(tmp_path, source, rest="sink { Console {} }", *, seatunnel=False):
    job = tmp_path / "job.conf"
    job.write_text(f"source {{ {source} }}\n{rest}")
    diagnostics = Diagnostics()
    return compile_job(job, Settings(compat=Compat.SEATUNNEL_2 if seatunnel else Compat.OFF), diagnostics), list(
        diagnostics
    )


def queries(job):
    return [
        (node.name, getattr(node.body, "value", None), node.table.schema.names)
        for node in job.built.nodes()
        if isinstance(node, Query)
    ]


@pytest.mark.parametrize("seatunnel", [False, True])
def test_the_query_is_a_transform(tmp_path, seatunnel):
    source = f'Paimon {{ {TABLE}, plugin_output = ids, query = "select i.id from shop.items i where i.id > 1" }}'
    job, _ = compiled(tmp_path, source, "sink { Console { plugin_input = ids } }", seatunnel=seatunnel)
    assert queries(job) == [("ids", "select i.id from `ids_rows` i where i.id > 1", ("id",))]


def test_transforms_of_the_job_come_after_it(tmp_path):
    rest = "transform { Filter { include_fields = [id] } }\nsink { Console {} }"
    job, _ = compiled(tmp_path, f'Paimon {{ {TABLE}, query = "select * from items where id > 1" }}', rest)
    assert [name for name, _, _ in queries(job)] == ["sql", "filter"]


def test_two_sources_with_a_query(tmp_path):
    sources = "\n".join(
        f'Paimon {{ {TABLE}, result_table_name = "{name}", query = "select id from items" }}' for name in ("a", "b")
    )
    job, _ = compiled(tmp_path, sources, 'sink { Console { source_table_name = "a" }, Console { plugin_input = b } }')
    assert [name for name, _, _ in queries(job)] == ["a", "b"]


def test_an_error_is_where_the_query_has_it(tmp_path):
    job, diagnostics = compiled(tmp_path, f'Paimon {{ {TABLE}, query = "select idd from items" }}')
    (error,) = (each for each in diagnostics if each.severity.value == "error")
    assert job is None
    assert error.code == "PEN3004"
    text = (tmp_path / "job.conf").read_text().splitlines()[error.span.line - 1]
    assert text[error.span.column - 1 : error.span.end_column - 1] == "idd"


def test_a_table_of_a_list_has_none(tmp_path):
    listed = f'tables_configs = [{{ table = a, {COLUMNS}, query = "select id from a" }}]'
    job, diagnostics = compiled(tmp_path, f'Paimon {{ warehouse = "/nowhere", database = shop, {listed} }}')
    assert job is None
    assert "a table of a list has no `query` of its own" in [each.message for each in diagnostics]
