"""An update changes a text also where the collation of the target takes the new one for equal."""

from connectors.jdbc.known_dialects import MARIADB
from connectors.jdbc.writing.statements import TargetChange, upsert


def test_case_and_accents_are_updated(mariadb):
    mariadb.clear()
    for table in ("target", "staged"):
        mariadb.run(f"create table {table} (id int primary key, name longtext, amount decimal(9,2))")
    mariadb.run("insert into target values (1, 'A', 1), (2, 'a', 2), (3, 'same', 3), (4, null, 4)")
    mariadb.run("insert into staged values (1, 'Ä', 1), (2, 'A', 2), (3, 'same', 3), (4, null, 4)")
    change = TargetChange(
        MARIADB, ("target",), ("staged",), ("id", "name", "amount"), ("s.`id`", "s.`name`", "s.`amount`"), ("id",)
    )
    update, _ = upsert(change)
    with mariadb.connect() as connection:
        cursor = connection.cursor()
        assert cursor.execute(update) == 2  # the other rows are passed over
    assert mariadb.rows("select * from target order by id") == mariadb.rows("select * from staged order by id")
