"""What many terms, columns and steps cost: bounds on structure and on calls, none on time."""

from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column, TableSchema
from catalog.types.datatypes import BIGINT, INT, Field, Struct
from engine.compile import Settings, compile_job
from engine.optimizer.chain_transforms import MOST_STEPS
from engine.plan.nodes import Query
from engine.plan.rendering.explain_text import explain
from sql.analyze import Analysis, analyze
from sql.parsing.query_text import tables_named
from sql.parsing.recursion import FRAMES, MOST_NESTED, with_room

T = CatalogTable.of("t", [Column("a", BIGINT), Column("b", BIGINT)])


def of(query: str) -> Analysis:
    return analyze(PlacedText.bare(query), {"t": T})


DEEP: dict[str, Callable[[int], str]] = {
    "and": lambda n: "select a from t where " + " and ".join(f"a <> {i}" for i in range(n)),
    "or": lambda n: "select a from t where " + " or ".join(f"a = {i}" for i in range(n)),
    "plus": lambda n: "select " + " + ".join(["a"] * n) + " as a from t",
    "union": lambda n: " union all ".join(["select a from t"] * n),
    "brackets": lambda n: "select " + "(" * (n // 2) + "a" + ")" * (n // 2) + " as a from t",
    "calls": lambda n: "select " + "abs(" * (n // 2) + "a" + ")" * (n // 2) + " as a from t",
    "subqueries": lambda n: "select a from " + "(select a from " * (n // 2) + "t" + ")" * (n // 2),
    "cases": lambda n: "select " + "case when a > 1 then " * (n // 2) + "a" + " else b end" * (n // 2) + " as a from t",
    "not": lambda n: "select a from t where " + "not " * n + "true",
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_queries_are_analyzed(kind: str) -> None:
    analysis = of(DEEP[kind](1000))
    assert not analysis.diagnostics
    assert [(column.name, column.type) for column in analysis.columns] == [("a", BIGINT)]


@pytest.mark.parametrize("kind", ["brackets", "calls", "subqueries", "cases"])
def test_what_no_parser_takes_is_a_error_at_its_place(kind: str) -> None:
    text = DEEP[kind](50_000 if kind == "brackets" else 10_000)
    (diagnostic,) = of(text).diagnostics
    assert diagnostic.code == "PEN3001"
    assert f"{MOST_NESTED:,}" in diagnostic.message
    assert diagnostic.span is not None
    assert 1 < diagnostic.span.column < len(text) // 2
    assert tables_named(text) == ()


def test_a_deep_query_names_its_tables() -> None:
    assert tables_named(DEEP["brackets"](1600)) == ("t",)


class Counted(str):
    """A name that counts how often it is folded."""

    folded = 0

    def lower(self) -> str:
        Counted.folded += 1
        return super().lower()


def test_a_wide_table_folds_a_name_only_when_made() -> None:
    Counted.folded = 0
    schema = TableSchema(tuple(Column(Counted(f"c{i}"), INT) for i in range(500)))
    made = Counted.folded
    assert made <= 2 * 500
    assert all(schema.column(f"C{i}") is column for i, column in enumerate(schema.columns))
    assert Counted.folded == made


def test_a_wide_struct_folds_a_name_only_when_made() -> None:
    Counted.folded = 0
    struct = Struct(tuple(Field(Counted(f"f{i}"), INT) for i in range(500)))
    made = Counted.folded
    assert made <= 2 * 500
    assert all(struct.named(f"F{i}") == (field,) for i, field in enumerate(struct.fields))
    assert Counted.folded == made


def test_a_struct_keeps_fields_of_one_name() -> None:
    twice = Struct((Field("a", INT), Field("A", BIGINT)))
    assert twice.field("a") == Field("a", INT)
    assert len(twice.named("a")) == 2


def test_long_chains_of_transforms_are_fused_in_parts(tmp_path: Path) -> None:
    count = 4 * MOST_STEPS
    steps = [f'Filter {{ plugin_output = "m{i}", condition = "a <> {i}" }}' for i in range(count)]
    job = tmp_path / "job.conf"
    source = 'FakeSource { plugin_output = "t", schema { fields { a = bigint } } }'
    job.write_text(f"source {{ {source} }}\ntransform {{\n" + "\n".join(steps) + "\n}\nsink { Console {} }\n")
    diagnostics = Diagnostics()
    compiled = compile_job(job, Settings(), diagnostics)
    assert compiled is not None, list(diagnostics)
    queries = [node for node in compiled.plan.nodes() if isinstance(node, Query)]
    assert [query.kind.count("Filter") for query in queries] == [MOST_STEPS] * 4


def test_a_plan_deeper_than_the_stack_is_explained(tmp_path: Path) -> None:
    views = [f"CREATE VIEW v{i} AS SELECT a FROM {f'v{i - 1}' if i else 't'};" for i in range(1500)]
    job = tmp_path / "job.sql"
    head = "CREATE TABLE t (a bigint) WITH ('connector' = 'FakeSource');\n"
    tail = "\nCREATE TABLE o WITH ('connector' = 'Console');\nINSERT INTO o SELECT a FROM v1499;\n"
    job.write_text(head + "\n".join(views) + tail)
    diagnostics = Diagnostics()
    compiled = compile_job(job, Settings(), diagnostics)
    assert compiled is not None, list(diagnostics)
    assert sum(" v0: " in f" {line.lstrip('│└─├ ')} " for line in explain(compiled.plan).splitlines()) >= 1


def test_what_is_too_deep_on_its_own_stack_too_is_the_callers():
    """Not that the inner function waits for the stack that the outer one has."""
    outer = with_room(with_room(depth_of))
    assert outer(5_000) == 5_000
    with pytest.raises(RecursionError):
        outer(FRAMES)


def depth_of(depth):
    return depth and 1 + depth_of(depth - 1)
