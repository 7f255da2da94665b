"""Files whose columns were renamed, dropped, added, retyped, reordered or written in another case: what is read equals
what a reading by hand gives, or the job says what it does."""

import json

import pytest

from engine.cli import main

BASE = "select 1L id, 1.5D amount, 'x' name"
CHANGES = {
    "same": "select 2L id, 2.5D amount, 'y' name",
    "reorder": "select 'y' name, 2L id, 2.5D amount",
    "recase": "select 2L ID, 2.5D Amount, 'y' name",
    "rename": "select 2L id, 2.5D amout, 'y' name",
    "drop": "select 2L id, 'y' name",
    "add": "select 2L id, 2.5D amount, 'y' name, 'z' city",
    "retype": "select 2L id, 'many' amount, 'y' name",
}
SILENT = {
    "parquet": {"same", "reorder", "recase"},
    "orc": {"same", "reorder", "recase"},
    "avro": {"same", "reorder", "recase"},
    "csv": {"same", "recase"},
    "json": {"same", "reorder", "add", "drop"},
}
"""Changes that need no word: the rows are what a reading by hand gives. The fields of a row of JSON are its own."""


def job_of(folder, kind, *, options="", declares=True):
    header = ", csv_use_header_line = true" if kind == "csv" else ""
    schema = "schema { fields { id = bigint, amount = double, name = string } }" if declares else ""
    job = folder / f"{kind}.conf"
    job.write_text(f"""
source {{ LocalFile {{ path = "{folder}/{kind}", file_format_type = {kind}{header}{options}
  {schema} }} }}
sink {{ LocalFile {{ path = "{folder}/{kind}_out", file_format_type = parquet, data_save_mode = DROP_DATA }} }}
""")
    return str(job)


def write_files(spark, folder, kind, *queries):
    for index, query in enumerate(queries):
        own = folder / "written" / f"{kind}{index}"
        writer = spark.sql(query).coalesce(1).write.mode("overwrite").format(kind)
        writer.option("header", "true").save(str(own))
        (file,) = [path for path in own.iterdir() if path.name.startswith("part-")]
        (folder / kind).mkdir(exist_ok=True)
        file.rename(folder / kind / f"{index}{file.name[file.name.index('.') :]}")


def diagnosed(capsys, *arguments):
    capsys.readouterr()
    main(["validate", "--format", "json", *arguments])
    return [found for found in json.loads(capsys.readouterr().out) if found["code"] != "PEN4501"]


@pytest.mark.spark
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.soak if kind == "orc" else ()) for kind in SILENT]
)
def test_changed_columns_are_read_as_by_hand_or_reported(spark, tmp_path, monkeypatch, capsys, kind):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    for change, query in CHANGES.items():
        folder = tmp_path / change
        folder.mkdir()
        write_files(spark, folder, kind, BASE, query)
        job = job_of(folder, kind)
        found = diagnosed(capsys, job)
        if found:
            assert change not in SILENT[kind], (kind, change, found)
            continue
        assert change in SILENT[kind] or change == "retype", (kind, change)
        code = main(["run", job])
        if change == "retype":
            assert code == 1, (kind, change)
            continue
        assert code == 0, (kind, change, capsys.readouterr().err)
        rows = spark.read.parquet(f"{folder}/{kind}_out").orderBy("id").collect()
        wanted = [(1, 1.5, "x"), (2, None if change == "drop" else 2.5, "y")]
        assert [tuple(row) for row in rows] == wanted, (kind, change)


@pytest.mark.spark
def test_a_renamed_column_is_named_with_the_one_that_it_was(spark, tmp_path, capsys):
    write_files(spark, tmp_path, "parquet", BASE, CHANGES["rename"])
    (found,) = diagnosed(capsys, job_of(tmp_path, "parquet"))
    assert found["code"] == "PEN4503"
    assert "1.snappy.parquet` lacks `amount`, read as NULL and holds `amout`, which nobody reads" in found["message"]
    assert "was `amount` renamed to `amout`?" in found["help"]
    (strict,) = diagnosed(capsys, "--strict", job_of(tmp_path, "parquet"))
    assert strict["severity"] == "error"
    (left,) = diagnosed(capsys, job_of(tmp_path, "parquet", options=", missing_columns = allow"))
    assert "holds `amout`, which nobody reads" in left["message"]


@pytest.mark.spark
def test_a_new_column_is_reported_where_the_first_file_gives_the_schema(spark, tmp_path, capsys):
    write_files(spark, tmp_path, "parquet", BASE, CHANGES["add"])
    (found,) = diagnosed(capsys, job_of(tmp_path, "parquet", declares=False))
    assert "holds `city`, which nobody reads" in found["message"]


@pytest.mark.spark
def test_a_column_that_no_file_holds_is_an_error_unless_it_is_allowed(spark, tmp_path, capsys):
    write_files(spark, tmp_path, "avro", CHANGES["drop"])
    (found,) = diagnosed(capsys, job_of(tmp_path, "avro"))
    assert (found["code"], found["severity"]) == ("PEN3004", "error")
    assert diagnosed(capsys, job_of(tmp_path, "avro", options=", missing_columns = allow")) == []


def test_fields_of_json_are_matched_by_case(tmp_path, capsys):
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "a.json").write_text('{"id": 1, "place": {"city": "Oslo"}}\n')
    job = tmp_path / "job.conf"
    job.write_text(f"""
source {{ LocalFile {{ path = "{tmp_path}/json", file_format_type = json
  schema {{ fields {{ id = int, place {{ CITY = string }} }} }} }} }}
sink {{ Console {{}} }}
""")
    (found,) = diagnosed(capsys, str(job))
    assert found["code"] == "PEN3004"
    assert "the declared field `place.CITY` is `place.city` in `" in found["message"]


def test_a_field_of_json_in_another_case_in_some_rows_is_reported(tmp_path, capsys):
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "a.json").write_text('{"id": 1}\n{"ID": 2}\n')
    job = tmp_path / "job.conf"
    job.write_text(f"""
source {{ LocalFile {{ path = "{tmp_path}/json", file_format_type = json, schema {{ fields {{ id = int }} }} }} }}
sink {{ Console {{}} }}
""")
    (found,) = diagnosed(capsys, str(job))
    assert (found["code"], found["severity"]) == ("PEN4503", "warning")
    assert "holds `id` and `ID`: where a row has only `ID`, `id` is NULL" in found["message"]


def test_a_field_of_json_that_is_gone_while_another_is_new_is_reported(tmp_path, capsys):
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "a.json").write_text('{"id": 1, "u": {"land": "NO"}}\n')
    job = tmp_path / "job.conf"
    text = f"""
source {{{{ LocalFile {{{{ path = "{tmp_path}/json", file_format_type = json {{}}
  schema {{{{ fields {{{{ id = int, u {{{{ country = string }}}} }}}} }}}} }}}} }}}}
sink {{{{ Console {{{{}}}} }}}}
"""
    job.write_text(text.format(""))
    (found,) = diagnosed(capsys, str(job))
    assert (found["code"], found["severity"]) == ("PEN4503", "warning")
    assert "lack `u.country`, which is read as NULL; they hold `u.land`, which nobody reads" in found["message"]
    job.write_text(text.format(", missing_columns = allow"))
    assert diagnosed(capsys, str(job)) == []


def test_described_structs_keep_the_case_of_their_fields(tmp_path, capsys):
    (tmp_path / "a.json").write_text('{"place": {"city": "Oslo"}}\n')
    from catalog.types.typetext import parse_type
    from engine.describe.describe_data import _sql_type

    assert _sql_type(parse_type("struct<city:string>")) == "struct<city:string>"
    assert _sql_type(parse_type("decimal(10,2)")) == "DECIMAL(10,2)"
