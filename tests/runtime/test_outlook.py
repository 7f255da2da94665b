"""`run --dry-run` and `explain --connect` show what is at each target, and what the commit will do there."""

import pytest

from engine.cli import main

pytestmark = pytest.mark.spark

SOURCE = 'FakeSource { plugin_output = "rows", row.num = 2, schema { fields { id = bigint, name = string } } }'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    return tmp_path


def shown(folder, capsys, *sinks):
    path = folder / "job.conf"
    path.write_text(f"source {{ {SOURCE} }}\nsink {{\n{chr(10).join(sinks)}\n}}\n")
    capsys.readouterr()
    assert main(["run", "--dry-run", str(path)]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_a_database_with_a_table_of_rows(spark, folder, capsys, sqlite):
    sqlite.clear()
    sqlite.run("create table kept (id bigint, name text)", "insert into kept values (7, 'x')")
    sqlite.run("create table filled (id bigint)")
    sinks = [
        f'Jdbc {{ url = "{sqlite.url}", table = "kept", data_save_mode = DROP_DATA }}',
        f'Jdbc {{ url = "{sqlite.url}", table = "filled", schema_evolution = add_columns }}',
        f'Jdbc {{ url = "{sqlite.url}", table = "made", primary_keys = [id], write_mode = upsert }}',
    ]
    text = shown(folder, capsys, *sinks)
    lines = [line.lstrip("│ ").rstrip() for line in text.splitlines()]
    kept, filled, made = (
        [*lines[start:], ""] for start in (i for i, line in enumerate(lines) if line.startswith("write "))
    )
    assert "target: it exists, it holds rows" in kept
    assert 'commit: delete from "kept"' in kept
    assert 'commit: insert into "kept" ("id", "name") select s."id", s."name" from "penstock_stg" s' in kept
    assert "target: it exists, it is empty" in filled
    assert "schema: added `name` string" in " ".join(filled) or any(
        "name" in line for line in filled if line.startswith("schema:")
    )
    assert 'commit: alter table "filled" add column "name" text' in filled
    assert "target: it does not exist" in made
    assert any(line.startswith('commit: create table "made"') and 'primary key ("id")' in line for line in made)
    assert sqlite.tables() == ["filled", "kept"]
    assert sqlite.rows("select * from kept") == [(7, "x")]


@pytest.mark.delta
def test_a_merge_is_shown_as_it_is_run(spark, folder, capsys):
    spark.sql(f"create table delta.`{folder}/t` (id bigint, name string, more int) using delta")
    sink = f'Delta {{ path = "{folder}/t", write_mode = upsert, primary_keys = [id] }}'
    text = shown(folder, capsys, sink)
    assert "target: it exists, it is empty" in text
    assert f"commit: MERGE INTO delta.`{folder}/t` AS t USING staged_rows AS s ON t.`id` = s.`id`" in text
