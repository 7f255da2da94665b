"""`run --dry-run` and `explain --connect` show what is at each target, and what the commit will do there."""

import json

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


def test_a_new_table_of_postgresql_is_shown_as_it_is_staged(spark, folder, capsys, postgres):
    postgres.clear()
    login = ", ".join(f'{name} = "{value}"' for name, value in postgres.options.items())
    text = shown(folder, capsys, f'Jdbc {{ {login}, table = "made", primary_keys = [id] }}')
    lines = [line.lstrip("│ ").rstrip() for line in text.splitlines()]
    steps = [line for line in lines if line.startswith(("stage:", "commit:"))]
    assert steps == [
        'stage: create table "penstock_stg" ("id" bigint not null, "name" text)',
        'commit: alter table "penstock_stg" rename to "made"',
        'commit: alter table "made" add primary key ("id")',
    ]
    assert postgres.tables() == []


@pytest.mark.delta
def test_a_merge_is_shown_as_it_is_run(spark, folder, capsys):
    spark.sql(f"create table delta.`{folder}/t` (id bigint, name string, more int) using delta")
    sink = f'Delta {{ path = "{folder}/t", write_mode = upsert, primary_keys = [id] }}'
    text = shown(folder, capsys, sink)
    assert "target: it exists, it is empty" in text
    assert f"commit: MERGE INTO delta.`{folder}/t` AS t USING staged_rows AS s ON t.`id` = s.`id`" in text


def test_tables_of_iceberg_and_paimon_are_shown_as_they_are_made(spark, folder, capsys):
    sinks = [
        f'Iceberg {{ warehouse = "{folder}/ice", table = "db.t", partition_by = ["bucket(4, id)"] }}',
        f'Paimon {{ warehouse = "{folder}/paimon", table = "db.t", write_mode = upsert, primary_keys = [id] }}',
    ]
    lines = [line.lstrip("│ ").rstrip() for line in shown(folder, capsys, *sinks).splitlines()]
    commits = [line for line in lines if line.startswith("commit:")]
    assert "(`id` bigint, `name` string) USING iceberg PARTITIONED BY (bucket(4, `id`))" in commits[0]
    assert "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '4')" in " ".join(lines)
    assert lines.count("commit: one snapshot: add the staged data files") == 2
    assert not [*folder.glob("ice/*"), *folder.glob("paimon/*")]


@pytest.mark.delta
def test_a_delta_table_is_made_by_the_statement_that_is_shown(spark, folder, capsys):
    path = folder / "job.conf"
    columns = """[{ name = id, type = bigint, nullable = false, comment = "it's \\"the\\" key" },
                  { name = select, type = "array<int>" }]"""
    properties = 'partition_by = [id], table_properties { delta.appendOnly = "true" }'
    path.write_text(
        f'source {{ FakeSource {{ row.num = 2, schema {{ comment = "all of them", columns = {columns} }} }} }}\n'
        f'sink {{ Delta {{ path = "{folder}/t", {properties} }} }}\n'
    )
    assert main(["explain", "--connect", "--format", "json", str(path)]) == 0, capsys.readouterr().err
    (create,) = [text for text in texts_of(json.loads(capsys.readouterr().out)) if text.startswith("CREATE TABLE")]
    spark.sql(create.replace(f"{folder}/t", f"{folder}/shown"))
    assert main(["run", str(path)]) == 0, capsys.readouterr().err
    made, shown_table = (spark.sql(f"describe detail delta.`{folder}/{name}`").first() for name in ("t", "shown"))
    for name in ("description", "partitionColumns", "properties"):
        assert made[name] == shown_table[name]
    schemas = [spark.table(f"delta.`{folder}/{name}`").schema.jsonValue() for name in ("t", "shown")]
    assert schemas[0] == schemas[1]


def texts_of(value):
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_of(inner)


def test_rows_of_other_types_are_shown_as_they_are_stored(spark, folder, capsys):
    target = folder / "kept"
    spark.sql("select 1 id, 'x' name, date'2024-01-01' more").write.parquet(str(target))
    path = f'path = "{target}", file_format_type = parquet'
    text = shown(folder, capsys, f"LocalFile {{ {path} }}")
    assert (
        "schema: `id` bigint is stored as int; a value that does not fit without loss fails the run; "
        "`more` date is not in the rows: NULL is stored" in " ".join(text.replace("│", " ").split())
    )
    text = shown(folder, capsys, f"LocalFile {{ {path}, store_assignment = ansi }}")
    assert "`id` bigint is stored as int, rounded or cut where it does not fit" in text
