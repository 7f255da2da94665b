"""One stream of many tables: read once, each row in the table that it names, however the rows get there."""

import json
from collections import Counter

import pytest

from engine.cli import main

pytestmark = pytest.mark.spark

TABLES = [f"shop.t{number}" for number in range(18)] + ["007", "a/b=c %41"]
ROWS = 400


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    lines = [
        json.dumps({"t": TABLES[number % 20], "id": number, "data": {"x": number * 2, "only": TABLES[number % 20]}})
        for number in range(ROWS)
    ]
    (tmp_path / "in.json").write_text("\n".join(lines) + "\n")
    return tmp_path


def job(route, query="select t, id, data from stream", sink=""):
    return f"""
    env {{ job.retry.times = 0 }}
    source {{ LocalFile {{ plugin_output = "stream", path = "${{folder}}/in.json", file_format_type = "json"
                          schema {{ fields {{ t = string, id = bigint, data = string }} }} }} }}
    transform {{
      Sql {{ plugin_output = "rows", query = "{query}" }}
      TableRoute {{ plugin_output = "crm", table_column = "t", {route} }}
    }}
    sink {{
      LocalFile {{ plugin_input = "crm", path = "${{folder}}/out/${{table_name}}", file_format_type = "parquet"
                  data_save_mode = DROP_DATA }}
      {sink}
    }}"""


def listed(fields, tables=TABLES):
    entries = (
        f'{{ schema {{ table = "d.n{index}"{fields(index)} }}, value = "{value}" }}'
        for index, value in enumerate(tables)
    )
    return f"tables_configs = [{', '.join(entries)}]"


def run(folder, text, *arguments):
    (folder / "job.conf").write_text(text)
    return main(["run", "job.conf", "-i", f"folder={folder}", *arguments])


def counts(folder, run_id):
    return json.loads((folder / "state" / "runs" / run_id / "run.json").read_text())["counts"]


def written(spark, folder):
    return {path.name: spark.read.parquet(str(path)) for path in (folder / "out").iterdir()}


def test_twenty_tables_each_with_columns_of_its_own_are_read_once(spark, folder):
    def fields(index):
        return f", fields {{ only = string, x = {'int' if index % 2 else 'bigint'} }}"

    route = f'data_column = "data", {listed(fields)}'
    assert run(folder, job(route), "--run-id", "one") == 0
    tables = written(spark, folder)
    for index, value in enumerate(TABLES):
        df = tables[f"n{index}"]
        assert df.dtypes == [("only", "string"), ("x", "int" if index % 2 else "bigint")]
        assert [tuple(row) for row in df.orderBy("x").collect()] == [
            (value, number * 2) for number in range(index, ROWS, 20)
        ]
    source = counts(folder, "one")["sources"]["stream"]
    size = pytest.approx((folder / "in.json").stat().st_size, rel=0.01)  # Spark prints `26.2 KiB`
    assert source == {"rows": ROWS, "bytes": size, "passes": 1}
    sinks = counts(folder, "one")["sinks"]
    assert {(sink["rows"], sink["filtered"], sink["rejected"]) for sink in sinks.values()} == {(20, 0, None)}
    assert not (folder / "state" / "runs" / "one" / "scratch").exists()


def test_values_that_spark_or_a_disk_takes_for_others_keep_their_rows(spark, folder):
    values = ["__HIVE_DEFAULT_PARTITION__", "a", "A", "t" * 300]
    lines = [json.dumps({"t": values[number % 4], "id": number}) for number in range(12)]
    (folder / "in.json").write_text("\n".join(lines) + "\n")
    route = listed(lambda index: ", fields { t = string, id = bigint }", values)
    assert run(folder, job(route, "select t, id from stream"), "--run-id", "odd") == 0
    tables = written(spark, folder)
    for index, value in enumerate(values):
        expected = [(value, number) for number in range(index, 12, 4)]
        assert [tuple(row) for row in tables[f"n{index}"].orderBy("id").collect()] == expected
    assert counts(folder, "odd")["sources"]["stream"]["passes"] == 1


def test_each_row_is_in_one_table_after_a_step_that_varies(spark, folder):
    query = "select concat('s', cast(floor(rand() * 3) as int)) as t, id from stream"
    route = listed(lambda index: "", ["s0", "s1", "s2"])
    assert run(folder, job(route, query), "--run-id", "varies") == 0
    ids = Counter(row.id for df in written(spark, folder).values() for row in df.collect())
    assert ids == Counter(range(ROWS))
    assert counts(folder, "varies")["sources"]["stream"]["passes"] == 1


@pytest.mark.parametrize(
    ("data", "tables", "said", "help"),
    [
        ('{"x": "abc"}', 3, "the value abc", "declare the column as string"),
        ('{"x": 99999999999}', 2, "out of range of int", "declare the column as string"),
        ('{"x": ', 2, "it is not a JSON object", "try_parse_json(`data`)"),
    ],
)
def test_json_that_does_not_fit_its_table_is_an_error_of_the_route(spark, folder, capsys, data, tables, said, help):
    lines = [{"t": TABLES[0], "id": 0, "data": {"x": 1}}, {"t": TABLES[1], "id": 1, "data": data}]
    (folder / "in.json").write_text("\n".join(map(json.dumps, lines)) + "\n")
    route = f'data_column = "data", {listed(lambda index: ", fields { x = int }", TABLES[:tables])}'
    assert run(folder, job(route)) == 1
    _, _, error = capsys.readouterr().err.partition("error[PEN5001]: ")
    message, place, *_, advice = error.strip().splitlines()
    assert message.startswith("JSON in the `data_column` `data` does not fit the schema of `d.n1`: ")
    assert said in message
    assert place.endswith("job.conf:7:7")
    assert help in advice


def test_rows_of_no_table_fail_the_job_or_are_dropped_and_counted(spark, folder, capsys):
    route = listed(lambda index: "", TABLES[:3])
    assert run(folder, job(route), "--run-id", "refused") == 1
    assert "`known_table` of `crm_checked` is violated" in capsys.readouterr().err
    assert not (folder / "out").exists()
    assert run(folder, job(f"unknown_tables = DROP, {route}"), "--run-id", "dropped") == 0
    sinks = counts(folder, "dropped")["sinks"]
    assert {name: (sink["rows"], sink["rejected"]) for name, sink in sinks.items()} == {
        "localfile.n0": (20, None),
        "localfile.n1": (20, None),
        "localfile.n2": (20, None),
        "crm (before its tables)": (None, ROWS - 60),
    }
    strays = 'LocalFile { plugin_input = "strays", path = "${folder}/strays", file_format_type = "parquet" }'
    text = job(f"unknown_tables = QUARANTINE, quarantine = strays, cache = memory, {route}", sink=strays)
    assert run(folder, text, "--run-id", "kept") == 0
    assert spark.read.parquet(str(folder / "strays")).count() == ROWS - 60
    assert {name: df.count() for name, df in written(spark, folder).items()} == {"n0": 20, "n1": 20, "n2": 20}
