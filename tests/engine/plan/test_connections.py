"""`max_connections`: how many connections a pipeline takes of each system, and how its scans share them."""

import pytest

from engine.plan.connections import connections_of, limits_of
from engine.plan.nodes import Scan
from engine.plan.pipelines import pipelines
from engine.plan.rendering.schedule_text import schedule_text
from tests.engine.plan.test_table_sets import plan_of

URL = "jdbc:postgresql://db:5432/shop"
PLACE = "jdbc:postgresql://db:5432/shop"


def jdbc(table, more=""):
    return f"""Jdbc {{ plugin_output = {table}, url = "{URL}", table_path = {table}, username = u, password = p
               schema {{ fields {{ id = bigint }} }}, {more} }}"""


def job(*sources, query="select * from a"):
    return f"""
    source {{ {chr(10).join(sources)} }}
    transform {{ Sql {{ plugin_input = [{", ".join("abc"[: len(sources)])}], plugin_output = q, query = "{query}" }} }}
    sink {{ Console {{ plugin_input = q }} }}"""


def connections(folder, *sources, query="select * from a"):
    plan = plan_of(folder, job(*sources, query=query))
    (pipeline,) = pipelines(plan)
    found = connections_of(pipeline)
    named = {scan.name: cap for scan, cap in found.caps.items()}
    return found.taken, named, limits_of(plan)


@pytest.mark.parametrize(
    ("options", "taken", "cap"),
    [
        ("max_connections = 4", 1, {}),
        ("max_connections = 4, partition_column = id, partition_num = 3", 3, {}),
        ("max_connections = 4, partition_column = id, partition_num = 9", 4, {"a": 4}),
        ("max_connections = 4, partition_column = id", 4, {"a": 4}),
        ("max_connections = 4, partition_column = id, split.size = 1000", 4, {"a": 4}),
    ],
)
def test_a_scan_takes_no_more_than_it_has_partitions(tmp_path, options, taken, cap):
    assert connections(tmp_path, jdbc("a", options)) == ({PLACE: taken}, cap, {PLACE: 4})


def test_without_the_option_there_is_no_limit(tmp_path):
    assert connections(tmp_path, jdbc("a", "partition_column = id, partition_num = 9")) == ({}, {}, {})


def test_scans_of_one_database_share_its_connections(tmp_path):
    options = "partition_column = id, partition_num = 9, max_connections"
    sources = [jdbc("a", f"{options} = 6"), jdbc("b", f"{options} = 4"), jdbc("c")]
    query = "select a.id from a join b using (id) join c using (id)"
    assert connections(tmp_path, *sources, query=query) == ({PLACE: 4}, {"a": 2, "b": 2}, {PLACE: 4})


def test_the_schedule_names_the_connections(tmp_path):
    sources = "\n".join(jdbc(table, "max_connections = 1") for table in "ab")
    sinks = "\n".join(f"Console {{ plugin_input = {table} }}" for table in "ab")
    text = f"source {{ {sources} }}\n sink {{ {sinks} }}"
    plan = plan_of(tmp_path, text)
    assert [scan.name for scan in plan.nodes() if isinstance(scan, Scan)] == ["a", "b"]
    assert f"  1: a (1 sink, 1 of 1 connections to {PLACE})" in schedule_text(plan).splitlines()
