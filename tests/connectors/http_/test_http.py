"""Http: what `validate` reports of its options, and jobs that read a service on this machine."""

import json
from pathlib import Path

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, Severity
from connectors.http_.staged_lines import distributed_lines
from engine.cli import main
from engine.job.load import load_file
from engine.job.model.settings import Settings
from tests.connectors.http_.service import service

ROW = {
    "c_map": {"a": 1},
    "c_array": ["1", 2],
    "c_string": 1.50,
    "c_boolean": True,
    "c_int": "12",
    "c_double": 0.1,
    "c_decimal": 0,
    "c_bytes": "YWI=",
    "c_date": "2024-02-29",
    "c_timestamp": "2024-02-29T12:00:00",
    "c_row": {"C_INT": 3, "C_STRING": {"b": 1.5}},
    "unknown": 1,
}
TEXT = (
    json.dumps([ROW, {}])
    .replace('"c_string": 1.5', '"c_string": 1.50')
    .replace('"c_decimal": 0', '"c_decimal": 12345678901234567890.125')
)
SCHEMA = """
  c_map = "map<string, int>", c_array = "array<int>", c_string = string, c_boolean = boolean, c_int = int
  c_double = double, c_decimal = "decimal(30, 3)", c_bytes = bytes, c_date = date, c_timestamp = timestamp
  c_row = { C_INT = int, C_STRING = string }
"""


def job_of(folder: Path, options: str, query: str = "") -> str:
    path = folder / "job.conf"
    transform = (
        f'transform {{ Sql {{ plugin_input = http, plugin_output = some, query = "{query}" }} }}' if query else ""
    )
    path.write_text(
        f"env {{ job.retry.times = 0 }}\nsource {{ Http {{ plugin_output = http\n{options}\n}} }}\n{transform}\n"
        f'sink {{ LocalFile {{ path = "{folder}/out", file_format_type = json }} }}\n'
    )
    return str(path)


def written(folder: Path) -> list[dict[str, object]]:
    files = sorted((folder / "out").glob("*.json"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    return tmp_path


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ('url = "file:///etc/passwd"', "PEN2004", "neither an http:// nor an https:// URL"),
        ('url = "http://h/", body = "{}"', "PEN2011", "a GET has no `body`"),
        ('url = "http://h/", method = PUT', "PEN2004", "PUT"),
        ('url = "http://h/", json_field { a = "$.a" }', "PEN2005", "`json_field` needs a `schema`"),
        ('url = "http://h/", json_field { b = "$.a" }, schema { fields { a = int } }', "PEN2004", "no column `b`"),
        ('url = "http://h/", content_field = "$.a[?(@.b)]"', "PEN2004", "no JSON path"),
        ('url = "http://h/", pageing { page_type = Cursor, cursor_field = c }', "PEN2011", "cursor_response_field"),
        ('url = "http://h/", pageing { total_page_size = 2 }', "PEN2011", "needs `pageing.page_field`"),
        ('url = "http://h/", pageing { page_feld = p }', "PEN2003", "page_feld"),
        ('url = "http://h/", format = text, schema { fields { a = int } }', "PEN2011", "one string column"),
        (
            'url = "http://h/", method = POST, body = "{}", params { a = 1 }, keep_params_as_form = true',
            "PEN2011",
            "two bodies",
        ),
    ],
)
def test_errors_in_options(folder, capsys, options, code, message):
    assert main(["validate", job_of(folder, options)]) == 2
    out = "".join(capsys.readouterr())
    assert code in out
    assert message in out


def test_a_job_as_the_documentation_of_seatunnel_has_it(tmp_path):
    job = tmp_path / "job.conf"
    job.write_text(
        """
        source {
          Http {
            plugin_output = "http"
            url = "http://localhost:8080/mock/queryData"
            method = "POST"
            format = "json"
            body = \"\"\"{"id":1,"page":"${page}"}\"\"\"
            content_field = "$.data.*"
            params = { page: "${page}" }
            pageing = { total_page_size = 20, page_field = page, use_placeholder_replacement = true }
            schema = { fields { name = string, age = string } }
          }
        }
        sink { Console { parallelism = 1 } }
        """
    )
    diagnostics = Diagnostics()
    load_file(str(job), diagnostics, Settings(compat=Compat.SEATUNNEL_2))
    assert [each for each in diagnostics if each.severity is Severity.ERROR] == []


def test_explain_shows_no_secret(folder, capsys):
    options = """
      url = "http://host/items?api_key=hunter2", params { token = "hunter22", page = 1 }
      headers { Authorization = "Bearer hunter222", Accept = "application/json" }
    """
    assert main(["explain", job_of(folder, options)]) == 0
    out = "".join(capsys.readouterr())
    assert "Http" in out
    assert "application/json" in out
    assert "hunter2" not in out


@pytest.mark.spark
def test_rows_have_the_declared_types(spark, folder, capsys):
    with service(lambda request: TEXT) as there:
        job = job_of(
            folder,
            f'url = "{there.url}", schema {{ fields {{ {SCHEMA} }} }}',
            "select *, cast(c_decimal as string) as exact from http",
        )
        assert main(["run", job]) == 0, capsys.readouterr()
    first, second = written(folder)
    assert first == {
        "c_map": {"a": 1},
        "c_array": [1, 2],
        "c_string": "1.50",
        "c_boolean": True,
        "c_int": 12,
        "c_double": 0.1,
        "c_decimal": 12345678901234567890.125,
        "exact": "12345678901234567890.125",
        "c_bytes": "YWI=",
        "c_date": "2024-02-29",
        "c_timestamp": first["c_timestamp"],
        "c_row": {"C_INT": 3, "C_STRING": '{"b": 1.5}'},
    }
    assert str(first["c_timestamp"]).startswith("2024-02-29T12:00:00")
    assert set(second.values()) <= {None}
    assert len(there.requests) == 1


@pytest.mark.spark
def test_pages_are_read_and_some_columns_of_them(spark, folder, capsys):
    def answer(request):
        number = int(request.params["page"])
        return {"data": [{"id": number * 10 + each, "name": f"n{each}"} for each in range(2 if number < 3 else 1)]}

    options = """
      url = "{url}", content_field = "$.data", schema {{ fields {{ id = int, name = string }} }}
      pageing {{ page_field = page, batch_size = 2 }}
    """
    with service(answer) as there:
        job = job_of(folder, options.format(url=there.url), "select id + 1 as next from http where id > 10")
        assert main(["run", job]) == 0, capsys.readouterr()
    assert sorted(row["next"] for row in written(folder)) == [12, 21, 22, 31]
    assert there.param("page") == ["1", "2", "3"]


@pytest.mark.spark
def test_text_without_a_schema(spark, folder, capsys):
    with service(lambda request: '{"a":\n1}') as there:
        assert main(["run", job_of(folder, f'url = "{there.url}"')]) == 0, capsys.readouterr()
    assert written(folder) == [{"content": '{"a":\n1}'}]


@pytest.mark.spark
def test_a_failed_read_changes_nothing(spark, folder, capsys):
    with service(lambda request: (401, "", {})) as there:
        options = f'url = "{there.url}?token=hunter2", schema {{ fields {{ id = int }} }}'
        assert main(["run", job_of(folder, options)]) == 1
        out = "".join(capsys.readouterr())
        assert "PEN5040" in out
        assert "the server answered 401 Unauthorized" in out
        assert "check the credentials" in out
        assert "hunter2" not in out
    with service(lambda request: [{"id": "ten"}]) as there:
        assert main(["run", job_of(folder, f'url = "{there.url}", schema {{ fields {{ id = int }} }}')]) == 1
        out = "".join(capsys.readouterr())
        assert "ten" in out
    assert not (folder / "out").exists()


@pytest.mark.spark
def test_a_field_that_no_row_of_a_response_has_is_an_error(spark, folder, capsys):
    """As a column that no file has: it was renamed, or is misspelt."""
    schema = 'schema {{ fields {{ id = int, amount = "decimal(10,2)" }} }}'.format()
    with service(lambda request: [{"id": 1, "amuont": 2.5}, {"id": 2}]) as there:
        assert main(["run", job_of(folder, f'url = "{there.url}", {schema}')]) == 1
        err = capsys.readouterr().err
        assert "error[PEN3004]: no row of the response has the declared field `amount`" in err
        assert "did you mean `amuont`? `missing_columns = allow` reads it as NULL" in err
        assert main(["run", job_of(folder, f'url = "{there.url}", missing_columns = allow, {schema}')]) == 0
    assert [row["id"] for row in written(folder)] == [1, 2]


@pytest.mark.spark
def test_a_decimal_of_a_response_is_not_rounded(spark, folder, capsys):
    schema = 'schema {{ fields {{ id = int, amount = "decimal(10,2)" }} }}'.format()
    with service(lambda request: '[{"id": 1, "amount": 2.505}]') as there:
        assert main(["run", job_of(folder, f'url = "{there.url}", {schema}')]) == 1
    err = capsys.readouterr().err
    assert "does not fit the schema: `amount` is `2.505`, and not decimal(10,2)" in err
    assert "declare a decimal with more digits behind the point" in err
    assert "on_malformed" not in err
    nested = 'schema { fields { id = int, parts = "array<decimal(10,2)>", day = date } }'
    for parts, day in (("[2.505]", "2024-01-01"), ("[2.5]", "2024-01-01T10:00:00")):
        answer = f'[{{"id": 1, "parts": {parts}, "day": "{day}"}}]'
        with service(lambda request, answer=answer: answer) as there:
            assert main(["run", job_of(folder, f'url = "{there.url}", {nested}')]) == 1
        assert "does not fit the schema: `" in capsys.readouterr().err


@pytest.mark.spark
def test_executors_of_a_cluster_get_the_staged_lines(spark, tmp_path):
    files = [str(tmp_path / f"part-{number}.jsonl") for number in range(2)]
    for number, file in enumerate(files):
        Path(file).write_text("".join(f'{{"id": {number}{line}}}\n' for line in range(3)))
    found = distributed_lines(spark, files).collect()
    assert sorted(row.value for row in found) == [f'{{"id": {part}{line}}}' for part in (0, 1) for line in range(3)]
