"""Statements of a SQL job file: what is read, where it stands, and every error of a script at once."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.tables.violation import OnViolation
from sql.script.split_statements import read_script
from sql.script.statements import ConfigBlock, CreateTable, CreateView, Insert, SetOption, Statement
from sql.script.tokens import unquoted


def read(text: str) -> tuple[tuple[Statement, ...], Diagnostics]:
    diagnostics = Diagnostics()
    return read_script(PlacedText.bare(text, "job.sql"), diagnostics), diagnostics


def statement(text: str) -> Statement:
    statements, diagnostics = read(text)
    assert not list(diagnostics)
    (only,) = statements
    return only


def placed_texts(value: object) -> Iterator[PlacedText]:
    if isinstance(value, PlacedText):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from placed_texts(each)
    elif is_dataclass(value):
        for each in fields(value):
            yield from placed_texts(getattr(value, each.name))


def test_a_table_with_everything() -> None:
    table = statement(
        """CREATE OR REPLACE TABLE IF NOT EXISTS orders (
             id BIGINT NOT NULL COMMENT 'the order''s number', -- a comment, with 'quotes'
             `a b` array<struct<x:int,y:map<string,array<int>>>>,
             amount DECIMAL(10, 2) DEFAULT 1.5,
             primary string PRIMARY KEY,
             UNIQUE (amount), CONSTRAINT pk PRIMARY KEY (id, `a b`) NOT ENFORCED,
             CONSTRAINT positive EXPECT (amount > 0 AND (id) > (1)) ON VIOLATION QUARANTINE INTO bad,
             CONSTRAINT plain EXPECT (id > 1), CONSTRAINT c CHECK (id > 2),
             CONSTRAINT d EXPECT (id > 3) ON VIOLATION DROP ROW, CONSTRAINT f EXPECT (id > 4) ON VIOLATION FAIL UPDATE
           ) COMMENT 'all orders' PARTITIONED BY (id, amount)
           WITH ('connector' = 'LocalFile', 'n' = 5, format = csv, "q" = r'a\\d', 'flag' = true)"""
    )
    assert isinstance(table, CreateTable)
    assert table.or_replace
    assert table.query is None
    assert table.name.value == "orders"
    assert [(c.name.value, c.type.value, c.nullable) for c in table.columns if c.type] == [
        ("id", "BIGINT", False),
        ("a b", "array<struct<x:int,y:map<string,array<int>>>>", True),
        ("amount", "DECIMAL(10, 2)", True),
        ("primary", "string", True),
    ]
    assert table.columns[0].comment is not None
    assert table.columns[0].comment.value == "the order's number"
    assert table.columns[2].default is not None
    assert table.columns[2].default.value == "1.5"
    assert [(tuple(c.value for c in k.columns), k.is_primary) for k in table.keys] == [
        (("primary",), True),
        (("amount",), False),
        (("id", "a b"), True),
    ]
    assert [(e.name.value, e.condition.value, e.on_violation) for e in table.expectations] == [
        ("positive", "amount > 0 AND (id) > (1)", OnViolation.QUARANTINE),
        ("plain", "id > 1", OnViolation.FAIL),
        ("c", "id > 2", OnViolation.FAIL),
        ("d", "id > 3", OnViolation.DROP),
        ("f", "id > 4", OnViolation.FAIL),
    ]
    assert table.expectations[0].quarantine is not None
    assert table.expectations[0].quarantine.value == "bad"
    assert table.comment is not None
    assert table.comment.value == "all orders"
    assert [each.value for each in table.partitioned_by] == ["id", "amount"]
    assert [(p.key.value, p.value.value, p.is_text) for p in table.properties] == [
        ("connector", "LocalFile", True),
        ("n", "5", False),
        ("format", "csv", False),
        ("q", "a\\d", True),
        ("flag", "true", False),
    ]


def test_views_and_inserts() -> None:
    text = """
    create or replace temporary view big (constraint c expect (x > 1) on violation warn) as
      select * from orders -- inner
      where amount > 100 /* tail */;
    CREATE VIEW named WITH ('transform' = 'Copy');
    CREATE TABLE copied AS WITH a AS (SELECT 1) SELECT * FROM a;
    INSERT INTO t (a, `b c`) SELECT 1, 2;
    INSERT INTO TABLE t BY NAME SELECT 1 AS a;
    INSERT OVERWRITE t PARTITION (day) (SELECT 1);
    INSERT INTO t (SELECT 1) UNION ALL (SELECT 2)
    """
    statements, diagnostics = read(text)
    assert not list(diagnostics)
    big, named, copied, columns, by_name, overwrite, union = statements
    assert isinstance(big, CreateView)
    assert big.query is not None
    assert big.query.value == "select * from orders -- inner\n      where amount > 100"
    assert big.expectations[0].on_violation is OnViolation.WARN
    assert isinstance(named, CreateView)
    assert named.query is None
    assert isinstance(copied, CreateTable)
    assert copied.query is not None
    assert copied.query.value == "WITH a AS (SELECT 1) SELECT * FROM a"
    assert isinstance(columns, Insert)
    assert [each.value for each in columns.columns] == ["a", "b c"]
    assert columns.query.value == "SELECT 1, 2"
    assert isinstance(by_name, Insert)
    assert by_name.by_name
    assert isinstance(overwrite, Insert)
    assert overwrite.overwrite
    assert [each.value for each in overwrite.partition] == ["day"]
    assert overwrite.query.value == "(SELECT 1)"
    assert isinstance(union, Insert)
    assert union.query.value == "(SELECT 1) UNION ALL (SELECT 2)"


def test_settings_config_blocks_and_comments() -> None:
    text = """-- the job
/* config
env { job.name = "x" }
*/
-- one
/* two
 * three */
SET 'job.name' = 'a;b'; -- on the line before: belongs to none
SET spark.sql.ansi.enabled = true;
set k = several words, with commas;
/* config env { parallelism = 2 } */
"""
    statements, diagnostics = read(text)
    assert not list(diagnostics)
    config, name, ansi, words, tail = statements
    assert isinstance(config, ConfigBlock)
    assert config.body.value.strip() == 'env { job.name = "x" }'
    assert config.comments == ("the job",)
    assert isinstance(name, SetOption)
    assert (name.key.value, name.value.value) == ("job.name", "a;b")
    assert name.comments == ("one", "two", "three")
    assert isinstance(ansi, SetOption)
    assert (ansi.key.value, ansi.value.value, ansi.comments) == ("spark.sql.ansi.enabled", "true", ())
    assert isinstance(words, SetOption)
    assert words.value.value == "several words, with commas"
    assert isinstance(tail, ConfigBlock)


ERRORS = {
    "SELECT 1": ("SELECT", "a query alone does nothing"),
    "INSRT INTO t SELECT 1": ("INSRT", "expected a statement"),
    "DROP TABLE t": ("DROP", "expected a statement"),
    "DECLARE OR REPLACE VARIABLE x INT DEFAULT 5": ("DECLARE", "a job file has no session variables"),
    "SET VAR x = 5": ("VAR", "a job file has no session variables"),
    "DROP TEMPORARY VARIABLE x": ("DROP", "a job file has no session variables"),
    "CREATE TABLE t (a, b INT)": (",", "expected the type of `a`"),
    "CREATE TABLE t (a INT NOT b)": ("NOT", "expected `,`"),
    "CREATE TABLE t (a INT": ("INT", "found the end of the statement"),
    "CREATE TABLE a.b WITH ('x' = 'y')": ("a", "has one part"),
    "CREATE TABLE t USING parquet": ("USING", "a clause that a job file does not have"),
    "CREATE TABLE t WITH ('a' 'b')": (")", "expected `=`"),
    "CREATE TABLE t WITH ('a' = )": (")", "expected the value of `a`"),
    "CREATE TABLE t (CONSTRAINT c EXPECT ())": (")", "expected a condition"),
    "CREATE TABLE t (CONSTRAINT c EXPECT (x) ON VIOLATION EXPLODE)": ("EXPLODE", "expected `FAIL`"),
    "CREATE TABLE t (CONSTRAINT c EXPECT (x) ON VIOLATION QUARANTINE)": (")", "expected `INTO`"),
    "CREATE VIEW v": ("v", "expected `AS` and a query"),
    "CREATE TEMPORARY TABLE t": ("TABLE", "expected `VIEW`"),
    "CREATE VIEW v PARTITIONED BY (a) AS SELECT 1": ("a", "a view has no partitions"),
    "INSERT INTO t PARTITION (a = 1) SELECT 1": ("(", "a partition with a value"),
    "INSERT t SELECT 1": ("t", "expected `INTO`"),
    "INSERT INTO t": ("t", "expected a query"),
    "SET": ("SET", "expected a key"),
    "SET x": ("x", "expected `=`"),
    "SET x =": ("=", "expected a value"),
    "SET x = 'a' b": ("b", "expected `;`"),
    "SET x = 'abc": ("'", "is not closed"),
    "SET x = 1 /* no end": ("/*", "the comment is not closed"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_a_error_is_placed(text: str) -> None:
    marked, message = ERRORS[text]
    _, diagnostics = read("\n\n  " + text)
    (diagnostic,) = diagnostics
    assert diagnostic.code == "PEN3001"
    assert message in diagnostic.message
    assert diagnostic.span is not None
    assert (diagnostic.span.line, diagnostic.span.end_line) == (3, 3)
    assert text[diagnostic.span.column - 3 : diagnostic.span.end_column - 3] == marked


def test_all_errors_of_a_script_at_once() -> None:
    statements, diagnostics = read(";\n".join(text for text in ERRORS if "abc" not in text and "/*" not in text))
    assert not [each for each in statements if isinstance(each, Insert | SetOption)]
    assert [each.span.line for each in diagnostics if each.span] == list(range(1, len(ERRORS) - 1))


@given(st.text(alphabet=st.sampled_from("ab'\"\\n%_ü😀u0041 ")))
def test_a_string_literal_gives_back_what_was_written(value: str) -> None:
    literal = "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    read_back = unquoted(PlacedText.bare(literal))
    assert read_back.value == value
    assert read_back.span().end_column == len(literal) or not value


PIECES = (
    "CREATE TABLE", "CREATE VIEW", "t", "(", ")", "a INT", ",", "'x'", "=", ";", "WITH", "AS", "SELECT 1",
    "INSERT INTO", "SET", "-- c\n", "/* config env {} */", "CONSTRAINT c EXPECT (x)",
    "ON VIOLATION", "FAIL", "`", "'", "PRIMARY KEY", "PRIMARY KEY",    "PARTITIONED BY",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES)))
def test_any_text_is_read_or_refused_with_a_place(parts: list[str]) -> None:
    text = " ".join(parts)
    statements, diagnostics = read(text)
    assert all(each.span is not None for each in diagnostics)
    for each in placed_texts(statements):
        assert each.source.text[each.segments[0].file_start : each.segments[-1].file_end] in text


def test_ctes_may_be_before_the_insert():
    found = statement("WITH x AS (SELECT 1 AS a)\nINSERT INTO t SELECT * FROM x")
    assert isinstance(found, Insert)
    assert found.target.value == "t"
    assert found.query.value == "WITH x AS (SELECT 1 AS a)\nSELECT * FROM x"
    assert found.query.span(found.query.value.index("SELECT *")).line == 2


def test_several_inserts_may_be_behind_one_from():
    statements, diagnostics = read("FROM s\nINSERT INTO a SELECT x\nINSERT OVERWRITE TABLE b SELECT y WHERE y > 0;")
    assert not list(diagnostics)
    assert [(each.target.value, each.query.value, each.overwrite) for each in statements] == [
        ("a", "FROM s\nSELECT x", False),
        ("b", "FROM s\nSELECT y WHERE y > 0", True),
    ]


def test_a_refused_create_still_makes_its_name():
    refused: set[str] = set()
    text = "CREATE STREAMING TABLE `A b` AS SELECT 1; CREATE TABLE k LIKE s;"
    read_script(PlacedText.bare(text), Diagnostics(), refused)
    assert refused == {"a b", "k"}
