"""Ids, pipelines, placeholders and what a plan never shows."""

import json

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, InternalError
from catalog.tables.savemode import Action, TargetState, WritePreview
from engine.compile import Settings, compile_job
from engine.optimizer import check_writes
from engine.plan.nodes import Query, Scan, rewrite
from engine.plan.pipelines import pipelines
from engine.plan.rendering.explain_json import to_json
from engine.plan.rendering.explain_text import explain
from engine.plan.rendering.mermaid import to_mermaid

JOB = """
source {
  FakeSource { plugin_output = "orders", schema { table = "shop.public.orders", fields { id = bigint, amount = int },
               primaryKey { name = "pk", columnNames = ["id"] } } }
  FakeSource { plugin_output = "other", row.num = 7, schema { fields { id = bigint, amount = int } } }
}
transform {
  Filter { plugin_input = "orders", plugin_output = "big", condition = "amount > 10" }
  Sql { plugin_input = "other", plugin_output = "query", query = "select id, amount from other" }
}
sink {
  LocalFile { plugin_input = "big", path = "out/${database_name}/${table_name}", file_format_type = "csv" }
  Console { plugin_input = "query" }
  Console { plugin_input = "query" }
}
"""


@pytest.fixture
def compiled(tmp_path):
    def compile(text):
        (tmp_path / "job.conf").write_text(text)
        diagnostics = Diagnostics()
        job = compile_job(tmp_path / "job.conf", Settings(), diagnostics)
        assert job is not None, diagnostics.items
        return job

    return compile


def ids(plan):
    return {node.name: node.id for node in plan.nodes()}


def test_ids_are_those_of_what_a_node_does(compiled):
    before = ids(compiled(JOB).built)
    assert before["console_2"] == before["console"] + "-2"
    assert len(set(before.values())) == len(before)
    layout = JOB.replace('"select id, amount from other"', '"""select  id,\n amount -- both\n from other"""')
    assert ids(compiled(layout).built) == before
    unrelated = compiled(JOB.replace("amount > 10", "amount > 11"))
    changed = {name for name, id in ids(unrelated.built).items() if before[name] != id}
    assert changed == {"big", "localfile"}


def test_a_uid_is_the_id(compiled):
    named = ids(
        compiled(JOB.replace('condition = "amount > 10"', 'condition = "amount > 10", uid = "my-filter"')).built
    )
    assert named["big"] == "my-filter"


def test_ids_differ_though_a_uid_is_that_of_a_numbered_one(compiled):
    twice = JOB.replace("sink {", 'sink {\n  Console { plugin_input = "big" }\n  Console { plugin_input = "big" }', 1)
    numbered = next(node.id for node in compiled(twice).built.nodes() if node.id.endswith("-2"))
    named = twice.replace('condition = "amount > 10"', f'condition = "amount > 10", uid = "{numbered}"')
    found = [node.id for node in compiled(named).built.nodes()]
    assert numbered in found
    assert len(set(found)) == len(found)


def test_rules_keep_ids(compiled):
    job = compiled(JOB)
    assert ids(job.plan).items() <= ids(job.built).items()


def test_pipelines_share_nothing(compiled):
    parts = pipelines(compiled(JOB).plan)
    assert [[write.name for write in part.writes] for part in parts] == [["localfile"], ["console", "console_2"]]
    assert not {*parts[0].nodes()} & {*parts[1].nodes()}


def test_transforms_keep_the_path_and_key_of_their_input(compiled):
    write = compiled(JOB).plan.writes[0]
    assert str(write.table.path) == "shop.public.orders"
    assert write.table.schema.primary_key.columns == ("id",)
    assert write.options["path"] == "out/shop/orders"


def test_json(compiled):
    nodes = {node["name"]: node for node in json.loads(json.dumps(to_json(compiled(JOB).built)))["nodes"]}
    assert nodes["big"]["kind"] == "query"
    assert nodes["big"]["inputs"] == [nodes["orders"]["id"]]
    assert nodes["big"]["columns"] == [
        {"name": "id", "type": "bigint", "nullable": True},
        {"name": "amount", "type": "int", "nullable": True},
    ]
    assert nodes["localfile"]["data_save_mode"] == "APPEND_DATA"


def test_actions_are_shown(compiled):
    plan = compiled(JOB).plan
    previews = {plan.writes[0].id: WritePreview(TargetState(exists=False), (Action.CREATE, Action.ADD_ROWS))}
    assert "│  now: create the target; add rows" in explain(plan, previews=previews)


def test_mermaid(compiled):
    text = to_mermaid(compiled(JOB).plan)
    assert text.startswith("flowchart LR\n")
    assert text.count("-->") == 5


def test_sensitive_options_are_in_no_form_of_a_plan(compiled):
    plan = compiled(JOB).built

    def hide(node):
        if isinstance(node, Scan):
            values = {**node.options.values, "password": "hunter2"}
            options = type(node.options)(values, sensitive=frozenset({"password"}))
            return type(node)(node.name, node.connector, options, node.table, id=node.id)
        return node

    hidden = rewrite(plan, hide)
    assert "hunter2" not in explain(hidden, columns=True) + json.dumps(to_json(hidden)) + to_mermaid(hidden)


def test_a_rule_that_changes_what_is_written_is_named(compiled):
    plan = compiled(JOB).built

    def narrow(node):
        return node.inputs[0].node if isinstance(node, Query) and node.name == "big" else node

    assert check_writes("fine", plan, rewrite(plan, narrow)) is None  # same table: only the rows differ
    wrong = type(plan)(plan.env, plan.writes[1:])
    with pytest.raises(InternalError, match="the rule `lose_a_write` changed what is written") as error:
        check_writes("lose_a_write", plan, wrong)
    assert len(error.value.diagnostics[0].notes) == 2
