"""The schema lock: its text, what it is a source of, and what a change of a schema breaks."""

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.tables.schema_lock import Lock, LockError, parse_lock
from catalog.tables.table import Column, PrimaryKey, TableSchema
from catalog.types.datatypes import BIGINT, STRING, TIMESTAMP, Array, Decimal, Field, Struct
from engine.cli import main

TYPES = st.sampled_from([BIGINT, STRING, TIMESTAMP, Decimal(10, 2), Array(STRING), Struct((Field("a b", BIGINT),))])
NAMES = st.text(alphabet="ab `.ä1[]#", min_size=1, max_size=6)
COLUMNS = st.lists(
    st.builds(Column, NAMES, TYPES, st.booleans()), min_size=1, max_size=4, unique_by=lambda column: column.name.lower()
).map(tuple)


@st.composite
def schemas(draw):
    """Columns, some of them the primary key."""
    columns = draw(COLUMNS)
    keyed = draw(st.lists(st.sampled_from([column.name for column in columns]), max_size=3, unique=True))
    return TableSchema(columns, PrimaryKey(tuple(keyed)) if keyed else None)


@given(st.dictionaries(st.tuples(st.sampled_from(["a.conf", "x/b.sql"]), st.sampled_from(["s", "t u"])), schemas()))
def test_a_lock_is_what_was_written(sources):
    assert parse_lock(str(Lock(sources))) == Lock(sources)


def test_a_damaged_lock_names_the_line():
    with pytest.raises(LockError, match="line 2 is neither"):
        parse_lock("[a] b\nid bigint")
    with pytest.raises(LockError, match="line 2"):
        parse_lock("[a] b\n  id nonsense")
    with pytest.raises(LockError, match="the column `line`"):
        parse_lock("[a] b\n  id int not null\n  primary key (line)")


JOB = """
CREATE TABLE orders WITH ('connector' = 'LocalFile', 'path' = '%s', 'file_format_type' = 'csv',
                          'csv_use_header_line' = true);
CREATE TABLE totals WITH ('connector' = 'LocalFile', 'path' = 'totals', 'file_format_type' = 'parquet');
INSERT INTO totals SELECT customer, count(amount) AS orders FROM orders GROUP BY customer;
"""
READER = """
CREATE TABLE totals (customer string, orders bigint)
  WITH ('connector' = 'LocalFile', 'path' = 'totals', 'file_format_type' = 'parquet');
CREATE TABLE shown WITH ('connector' = 'Console');
INSERT INTO shown SELECT customer AS who FROM totals;
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with a job, its data outside, the lock of it, and a job that reads what the first writes."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "orders.csv").write_text("customer,amount\n1,2\n")
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "orders.sql").write_text(JOB % (data / "orders.csv"))
    (repository / "reader.sql").write_text(READER)
    monkeypatch.chdir(repository)
    assert main(["schema", "sync", "--no-types", "."]) == 0
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *command], check=True)
    return repository


def test_sync_writes_what_build_then_takes(project, capsys):
    assert parse_lock((project / "penstock.lock").read_text()).sources.keys() == {("orders.sql", "orders")}
    os.rename(project.parent / "data", project.parent / "gone")
    assert main(["validate", "."]) == 0, capsys.readouterr()
    text = (project / "penstock.lock").read_text()
    (project / "penstock.lock").write_text(text.replace("amount", "amt"))
    capsys.readouterr()
    assert main(["validate", "orders.sql"]) == 2
    assert "column `amount`" in capsys.readouterr().out


def test_drift_of_a_source_names_what_breaks(project, capsys):
    assert main(["schema", "diff"]) == 0
    assert "no schema changed" in capsys.readouterr().out
    (project.parent / "data/orders.csv").write_text("customer,amt\n1,2\n")
    assert main(["schema", "diff"]) == 1
    said = capsys.readouterr().out
    assert "orders.sql: source orders: breaking: `amount` dropped" in said
    assert "read by totals.orders (aggregation)" in said
    assert "additive: `amt` added" in said


def test_a_renamed_column_against_a_revision(project, capsys):
    (project.parent / "data/orders.csv").write_text("customer,amt\n1,2\n")
    assert main(["schema", "sync", "--no-types"]) == 0
    capsys.readouterr()
    assert main(["schema", "diff", "--against", "HEAD"]) == 1
    said = capsys.readouterr().out
    assert "orders.sql: source orders: breaking: `amount` dropped" in said
    assert "read by totals.orders (aggregation)" in said
    assert "orders.sql: broken: [PEN3004] column `amount`" in said


def test_a_changed_sink_against_a_revision(project, capsys):
    job = project / "orders.sql"
    old, new = "customer, count(amount) AS orders", "count(amount) AS orders, 1 AS more, customer AS buyer"
    job.write_text(job.read_text().replace(old, new))
    assert main(["schema", "diff", "--against", "HEAD"]) == 1
    said = capsys.readouterr().out
    assert "orders.sql: sink totals: breaking: `customer` dropped" in said
    assert "read by reader.sql totals -> shown.who" in said
    assert "orders.sql: sink totals: additive: `more` added (int)" in said


def test_an_unknown_revision_is_a_error(project, capsys):
    assert main(["schema", "diff", "--against", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_show(project, capsys):
    assert main(["schema", "show", "orders.sql"]) == 0
    assert "orders.sql: sink totals\n  customer" in capsys.readouterr().out
