"""What a commit reads of the SQL that users wrote."""

import pytest

from connectors.jdbc.writing.sql_text import filled_columns, insert_from, named_placeholders

COLUMNS = {"id": '"id"', "name": '"name"'}


@pytest.mark.parametrize(
    ("query", "names", "rewritten"),
    [
        ("insert into t (a, b) values (?, upper(?))", (), 'select s."id", upper(s."name") from'),
        ("insert into t (a, b) values (:name, :id)", ("name", "id"), 'select s."name", s."id" from'),
        ("insert into t (a, b) values (:id, :id + 1)", ("id", "id"), 'select s."id", s."id" + 1 from'),
        ("insert into t (a, b) values (?, cast(? as text)::varchar)", (), 'select s."id", cast(s."name" as text)::var'),
        ("insert into t (a, b) values (:id::text, ':name')", ("id",), "select s.\"id\"::text, ':name' from"),
        ("insert into t (a, b, c) values (?, ?, '12:30')", (), 'select s."id", s."name", \'12:30\' from'),
    ],
)
def test_placeholders_stand_for_columns(query, names, rewritten):
    assert named_placeholders(query) == names
    assert rewritten in insert_from(query, COLUMNS, "staged")


@pytest.mark.parametrize(
    ("values", "rewritten"),
    [
        ("(?, ?)", 'select s."id",cast(s."name" as uuid) from'),
        ("( ? , ? )", 'select  s."id" , cast(s."name" as uuid)  from'),
        ("(?, lower(?))", 'select s."id", lower(s."name") from'),
        ("(?, ?::text)", 'select s."id", s."name"::text from'),
        ("('a,b', ?)", "select 'a,b',"),
    ],
)
def test_a_text_is_cast_to_the_type_of_the_column_that_it_fills(values, rewritten):
    found = insert_from(f"insert into t values {values}", COLUMNS, "staged", ("int", "uuid"), ("name",))
    assert rewritten.replace(",cast", ", cast") in found.replace(",cast", ", cast")


def test_the_columns_that_an_insert_fills():
    assert filled_columns('insert into s.t (a, "B c" , `d`) values (?, ?, ?)') == ("a", "B c", "d")
    assert filled_columns("insert into t values (?)") == ()
