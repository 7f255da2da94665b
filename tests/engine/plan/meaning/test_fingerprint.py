# ruff: noqa: E501 (edits of a text, one a line)
"""Fingerprints: edits that change nothing in what a job does never change it, every other edit does."""

import os
import random
import re

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.compile import compile_text
from engine.job.formatting.format_job import format_job
from engine.job.model.settings import Settings
from engine.plan.meaning.fingerprint import fingerprint

EDITS = int(os.environ.get("PENSTOCK_TEST_EDITS", "150"))
JOB = """
env { parallelism = 2 }
source {
  LocalFile { plugin_output = orders, path = "${lake}/orders", file_format_type = parquet,
    schema { fields { id = bigint, customer = int, amount = "decimal(10,2)", at = date, note = string } } }
  LocalFile { plugin_output = customers, path = "${lake}/customers", file_format_type = parquet,
    schema { fields { id = int, region = string } } }
}
transform {
  Filter { plugin_input = [orders], plugin_output = slim, include_fields = [id, customer, amount, at] }
  Sql { plugin_input = [slim, customers], plugin_output = daily, query = \"\"\"
    with paid as (select s.customer as who, amount * 2 as twice, s.at from slim s where s.amount > 10 and s.at is not null),
      totals as (select who, sum(twice) as total, count(*) as n from paid group by who having count(*) > 1)
    select c.region, t.total, t.n, case when t.total > 100 then 'big' else 'small' end as size
    from totals t join customers c on c.id = t.who
    where c.region in ('north', 'south') order by t.total desc limit 50
  \"\"\" }
}
sink {
  LocalFile { plugin_input = [daily], path = "${lake}/by_region", file_format_type = parquet, data_save_mode = DROP_DATA }
}
"""


def fingerprint_of(text: str, name: str = "job.conf", **variables: str) -> str:
    found = Diagnostics()
    settings = Settings(variables={"lake": "lake", **variables})
    compiled = compile_text(SourceFile(name, text), settings, found)
    assert compiled is not None, [str(item) for item in found]
    return fingerprint(compiled.built)


def renamed(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{old}\b", new, text)


def with_comment(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    is_query, places = False, []
    for at, line in enumerate(lines):
        if not is_query:
            places.append(at)
        is_query ^= line.count('"""') == 1
    lines.insert(rng.choice(places), f"# comment {rng.random()}")
    return "\n".join(lines)


def in_query(text: str, change) -> str:
    before, query, after = text.split('"""')
    return f'{before}"""{change(query)}"""{after}'


def other_case(text: str, rng: random.Random) -> str:
    word = rng.choice(["select", "from", "where", "group by", "sum", "count", "join", "case", "when", "order by"])
    return in_query(text, lambda query: re.sub(rf"\b{word}\b", word.upper(), query))


COSMETIC = {
    "comment": with_comment,
    "blank": lambda text, rng: in_query(text, lambda query: query.replace("\n", rng.choice([" \n\n", "\n\t", "  "]))),
    "comment in the query": lambda text, rng: in_query(text, lambda query: query.replace("\n", f" -- {rng.random()}\n", 1)),
    "case": other_case,
    "alias of a table": lambda text, rng: in_query(text, lambda q: renamed(q, rng.choice("stc"), f"q{rng.randint(0, 99)}")),
    "name of a CTE": lambda text, rng: renamed(text, rng.choice(["paid", "totals"]), f"step_{rng.randint(0, 99)}"),
    "inner column": lambda text, rng: renamed(text, rng.choice(["who", "twice"]), f"column_{rng.randint(0, 99)}"),
    "name of a block": lambda text, rng: renamed(text, rng.choice(["slim", "daily"]), f"block_{rng.randint(0, 99)}"),
    "format": lambda text, _: format_job(SourceFile("job.conf", text), Diagnostics()),
    "setting that changes no row": lambda text, rng: text.replace("parallelism = 2", f"parallelism = {rng.randint(3, 9)}"),
    "order of sources": lambda text, _: re.sub(r"(  LocalFile \{ plugin_output = orders.*?\} \} \}\n)(.*?\} \} \}\n)", r"\2\1", text,
                                              count=1, flags=re.S),
    "default that is written": lambda text, _: text.replace("data_save_mode = DROP_DATA", "data_save_mode = DROP_DATA, "
                                                            "schema_save_mode = CREATE_SCHEMA_WHEN_NOT_EXIST"),
    "order of options": lambda text, _: text.replace('path = "${lake}/by_region", file_format_type = parquet',
                                                     'file_format_type = parquet, path = "${lake}/by_region"'),
    "column that is not used": lambda text, rng: text.replace("note = string", rng.choice(["note = int", "more = date"])),
    "description": lambda text, rng: text.replace("env {", f'env {{ description = "{rng.random()}", tags = [a], '),
}  # fmt: skip

REAL = [
    ("amount * 2", "amount * 3"), ("s.amount > 10", "s.amount >= 10"), ("s.amount > 10", "s.amount > 11"),
    ("and s.at is not null", "and s.at is null"), ("and s.at is not null", "or s.at is not null"),
    ("and s.at is not null", ""), ("sum(twice)", "max(twice)"), ("count(*) as n", "count(who) as n"),
    ("having count(*) > 1", ""), ("having count(*) > 1", "having count(*) > 2"), ("t.total > 100", "t.total > 101"),
    ("then 'big'", "then 'Big'"), ("then 'big' else 'small'", "then 'small' else 'big'"), ("join", "left join"),
    ("c.id = t.who", "c.id = t.n"), ("'north', 'south'", "'north'"), ("c.region in", "c.region not in"),
    (" desc", ""), ("limit 50", "limit 51"), ("limit 50", ""), ("as size", "as Scale"), ("t.total, t.n,", "t.n, t.total,"),
    ("select c.region,", "select distinct c.region,"), ("s.customer as who", "cast(s.id as int) as who"),
    ("select c.region, t.total", "select c.region, t.total as total_amount"),
    ("/by_region", "/by_region2"), ("/orders", "/orders2"), ("DROP_DATA", "APPEND_DATA"), ("amount = \"decimal(10,2)\"",
    "amount = \"decimal(12,2)\""), ("customer = int", "customer = bigint"),
    ("file_format_type = parquet, data_save_mode", "file_format_type = orc, data_save_mode"),
    ("env {", "env { spark.sql.legacy.timeParserPolicy = LEGACY, "),
    ("include_fields = [id, customer, amount, at]", "include_fields = [customer, amount, at]"),
    ("c.region, t.total", "upper(c.region) as region, t.total"), ("case when", "case when t.n > 3 then 'many' when"),
    ("where c.region in", "where t.n < 10 and c.region in"), ("group by who", "group by who, at"),
]  # fmt: skip


@pytest.mark.parametrize("edit", COSMETIC)
def test_an_edit_that_changes_nothing_keeps_the_fingerprint(edit):
    rng = random.Random(edit)
    assert COSMETIC[edit](JOB, rng) != JOB
    assert fingerprint_of(COSMETIC[edit](JOB, rng)) == fingerprint_of(JOB)


def test_many_cosmetic_edits_on_top_of_each_other_keep_the_fingerprint():
    expected, text, rng = fingerprint_of(JOB), JOB, random.Random(7)
    for number in range(EDITS):
        text = text if number % 12 else JOB
        edit = rng.choice([name for name in COSMETIC if name not in ("description", "blank")])
        text = COSMETIC[edit](text, rng)
        assert fingerprint_of(text) == expected, f"{edit}: {text}"


@pytest.mark.parametrize(("before", "after"), REAL)
def test_an_edit_that_changes_rows_changes_the_fingerprint(before, after):
    assert before in JOB
    assert fingerprint_of(JOB.replace(before, after, 1)) != fingerprint_of(JOB)


def test_real_edits_are_seen_through_cosmetic_ones():
    rng = random.Random(11)
    for _ in range(EDITS):
        before, after = rng.choice(REAL)
        text = JOB.replace(before, after, 1)
        text = COSMETIC[rng.choice(["comment", "case", "name of a CTE", "order of options"])](text, rng)
        assert fingerprint_of(text) != fingerprint_of(JOB), (before, after)


def test_a_variable_counts_by_its_value_where_it_is_used():
    assert fingerprint_of(JOB, unrelated="x") == fingerprint_of(JOB)
    assert fingerprint_of(JOB, lake="other") != fingerprint_of(JOB)
