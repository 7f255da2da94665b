"""Row kinds travel with the rows, hidden, from the source through every transform to the sink."""

from collections import Counter

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.tables.row_kind import ROW_KIND
from engine.compile import Settings, compile_job
from sql.rewrite.row_kinds import RowKindError, with_row_kinds

SOURCE = """
source {
  FakeSource { plugin_output = "people", schema { fields { id = int, name = string, age = int } }, rows = [
    { kind = INSERT, fields = [1, "A", 10] }, { kind = UPDATE_BEFORE, fields = [1, "A", 10] },
    { kind = UPDATE_AFTER, fields = [1, "B", 11] }, { kind = DELETE, fields = [2, "C", 12] }] }
  FakeSource { plugin_output = "names", schema { fields { id = int, long = string } }, rows = [
    { kind = INSERT, fields = [1, "One"] }, { kind = INSERT, fields = [2, "Two"] }] }
}
"""
SQL = 'Sql { plugin_input = ["people", "names"], plugin_output = "out", query = """%s""" }'


def compiled(folder, transforms, sink="Console { }"):
    file = folder / "job.conf"
    file.write_text(f"{SOURCE}\ntransform {{\n{transforms}\n}}\nsink {{ {sink} }}\n")
    diagnostics = Diagnostics()
    return compile_job(file, Settings(), diagnostics), [(each.code, each.message) for each in diagnostics]


def rows(spark, job):
    from engine.spark.lower import lower
    from engine.spark.session import pipeline_session

    (write,) = job.plan.writes
    df = lower(pipeline_session(spark), job.plan.writes).dataframes[write.input]
    names = [*write.table.schema.names, *([ROW_KIND] if write.table.has_row_kind else [])]
    assert sorted(df.columns) == sorted(names)
    return Counter(tuple(row) for row in df.select(*names).collect())


@pytest.mark.parametrize(
    ("query", "carried"),
    [
        ("select id, name from people", "select id, name , `people`.`__row_kind` from people"),
        ("select * from people p", "select * from people p"),
        ("select p.*, 1 as x from people p", "select p.*, 1 as x from people p"),
        ("select n.* from people p join names n using (id)",
         "select n.* , `p`.`__row_kind` from people p join names n using (id)"),
        ("select id is distinct from 2 from people",
         "select id is distinct from 2 , `people`.`__row_kind` from people"),
        ("select extract(year from d) as y -- from\nfrom people",
         "select extract(year from d) as y -- from\n, `people`.`__row_kind` from people"),
        ("with a as (select id from people) select id + 1 as i from a where id > 0",
         "with a as (select id , `people`.`__row_kind` from people) "
         "select id + 1 as i , `a`.`__row_kind` from a where id > 0"),
        ("select i from (select id as i from people) s",
         "select i , `s`.`__row_kind` from (select id as i , `people`.`__row_kind` from people) s"),
        ("select id from names", "select id from names"),
        ("select count(*) from names", "select count(*) from names"),
    ],
)  # fmt: skip
def test_the_kind_is_read_after_the_other_columns(query, carried):
    assert with_row_kinds(PlacedText.bare(query), ["PEOPLE"]).value == carried


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("select count(*) from people", "aggregates"),
        ("select name from people group by name", "GROUP BY"),
        ("select distinct name from people", "DISTINCT"),
        ("select id from people union all select id from names", "unites"),
        ("select to_json(struct(*)) from people", "inside a function"),
        ("select n.id from names n join people p on p.id = n.id", "right of a join"),
        ("select p.id from people p right join names n on p.id = n.id", "other side"),
        ("select p.id from people p join people q on p.id = q.id", "two inputs"),
        ("select i from (select id as i from people)", "alias"),
    ],
)
def test_queries_without_one_kind_for_each_row_are_refused(query, reason):
    with pytest.raises(RowKindError, match=reason):
        with_row_kinds(PlacedText.bare(query), ["people"])


def test_validation_refuses_what_would_lose_kinds(tmp_path):
    job, errors = compiled(tmp_path, SQL % "select name, count(*) as n from people group by name")
    assert job is None
    assert [code for code, _ in errors] == ["PEN2016"]
    sink = f'LocalFile {{ path = "{tmp_path}/out", file_format_type = "parquet" }}'
    job, errors = compiled(tmp_path, SQL % "select * from people", sink)
    assert job is None
    assert [code for code, _ in errors] == ["PEN4011"]
    for transform in ("FilterRowKind { include_kinds = [INSERT] }", "RowKindExtractor { }"):
        job, errors = compiled(tmp_path, SQL % "select * from people" + "\n" + transform, sink)
        assert errors == []


def test_the_hidden_column_cannot_be_named(tmp_path):
    job, errors = compiled(tmp_path, SQL % f"select id, {ROW_KIND} from people")
    assert job is None
    assert [code for code, _ in errors] == ["PEN3004"]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("transforms", "expected"),
    [
        (SQL % "select upper(name) as n, id from people where id = 1",
         [("A", 1, "+I"), ("A", 1, "-U"), ("B", 1, "+U")]),
        (SQL % "select p.id, n.long from people p left join names n on p.id = n.id and n.id = 2",
         [(1, None, "+I"), (1, None, "-U"), (1, None, "+U"), (2, "Two", "-D")]),
        ('Filter { plugin_input = "people", include_fields = [age, id], condition = "age > 10" }\n'
         'Copy { fields { old = age } }\nFieldRename { suffix = "_" }',
         [(11, 1, 11, "+U"), (12, 2, 12, "-D")]),
        ('FilterRowKind { plugin_input = "people", exclude_kinds = [update_before, INSERT] }\n'
         'Filter { include_fields = ["name"] }',
         [("B", "+U"), ("C", "-D")]),
        ('FilterRowKind { plugin_input = "people", include_kinds = [INSERT] }', [(1, "A", 10)]),
        ('Filter { plugin_input = "people", include_fields = ["id"] }\nRowKindExtractor { transform_type = FULL }'
         '\nFilter { condition = "row_kind <> \'DELETE\'" }',
         [(1, "INSERT"), (1, "UPDATE_BEFORE"), (1, "UPDATE_AFTER")]),
        ('RowKindExtractor { plugin_input = "names", custom_field_name = k }', [(1, "One", "+I"), (2, "Two", "+I")]),
        ('FieldMapper { plugin_input = "names", plugin_output = "a", field_mapper { id = id, long = name } }\n'
         'Filter { plugin_input = "people", plugin_output = "b", include_fields = [id, name] }\n'
         'Filter { plugin_input = ["b", "a"], condition = "id = 2" }',
         [(2, "C", "-D"), (2, "Two", "+I")]),
    ],
)  # fmt: skip
def test_kinds_travel(spark, tmp_path, transforms, expected):
    job, errors = compiled(tmp_path, transforms)
    assert errors == [] or all(code == "PEN2009" for code, _ in errors), errors
    assert rows(spark, job) == Counter(expected)


@pytest.mark.spark
def test_console_shows_kinds(spark, tmp_path, capsys, monkeypatch):
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest

    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job, _ = compiled(tmp_path, SQL % "select id, name from people where age = 12")
    result = run_job(spark, job, RunRequest("kinds"))
    assert result.diagnostics == ()
    assert "|  -D|  2|   C|" in capsys.readouterr().out
