"""A variable of the environment whose name says secret is shown nowhere, whatever option a job puts it into."""

from pathlib import Path

import pytest

from catalog.diagnostics.render import Format
from engine.cli import main

NAME = "AWS_SECRET_ACCESS_KEY"
SECRETS = ("wJalrXUtnFEMI/K7MDENG+planted", 'two words "and" <quotes> & more', "hunter2x", "first-line\nsecond-line")
SOURCE = 'source { FakeSource { plugin_output = "t", schema { fields { id = bigint, name = string } } } }\n'
SINK = 'sink { Spark { format = parquet, path = "out/%s", options { compression = "%s" } } }\n'

JOBS = {
    "an option": SOURCE + "sink { Spark { format = parquet, path = ${?AWS_SECRET_ACCESS_KEY} } }",
    "joined": SOURCE + 'sink { Spark { format = parquet, path = "s3://b/x"${AWS_SECRET_ACCESS_KEY}"y" } }',
    "through a key": "k = ${AWS_SECRET_ACCESS_KEY}\n" + SOURCE + 'sink { Spark { format = parquet, path = ${k}"/x" } }',
    "within a text": SOURCE + SINK % ("x${AWS_SECRET_ACCESS_KEY}y", "${AWS_SECRET_ACCESS_KEY}"),
    "a query": SOURCE + """transform { Sql { query = \"\"\"select id, 'a${AWS_SECRET_ACCESS_KEY}' as x from t\"\"\" } }
        sink { Console { } }""",
    "a number": SOURCE + "sink { Spark { format = parquet, path = out, parallelism = ${AWS_SECRET_ACCESS_KEY} } }",
    "a connector": "source { ${AWS_SECRET_ACCESS_KEY} { } }\n" + "sink { Console { } }",
    "a wrong value": SOURCE + "sink { Spark { format = csv, path = o, data_save_mode = ${AWS_SECRET_ACCESS_KEY} } }",
    "a wrong query": SOURCE + """transform { Sql { query = "select ${AWS_SECRET_ACCESS_KEY} from t" } }
        sink { Console { } }""",
    "an include": 'include required("${AWS_SECRET_ACCESS_KEY}.conf")\n' + SOURCE + "sink { Console { } }",
    "an inner text": SOURCE + 'sink { Jdbc { url = "jdbc:postgresql://h/${AWS_SECRET_ACCESS_KEY}", table = t } }',
}  # fmt: skip
SQL = {
    "a statement": "create table o (i bigint) using console;\ninsert into o select 'x${AWS_SECRET_ACCESS_KEY}y' as i;",
    "a wrong statement": "insert ${AWS_SECRET_ACCESS_KEY} into nowhere;",
}


def outputs(file: str, capsys: pytest.CaptureFixture[str]) -> str:
    for words in (
        "explain", "explain --format json", "explain --format mermaid", "explain --columns --rules --unoptimized",
        "lineage", "lineage --format json", "schema show", "graph --output page.html",
    ):  # fmt: skip
        command, *options = words.split()
        verb = [options.pop(0)] if command == "schema" else []
        assert main([command, *verb, file, *options]) in (0, 2), words
    for format in Format:
        assert main(["validate", file, "--format", format.value]) in (0, 2)
    written = capsys.readouterr()
    page = Path("page.html").read_text() if Path("page.html").exists() else ""
    Path("page.html").unlink(missing_ok=True)
    return written.out + written.err + page


@pytest.mark.parametrize("secret", SECRETS, ids=["a key", "a text", "a short one", "lines"])
def test_no_command_shows_the_value(secret, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(NAME, secret)
    files = {"job.conf": JOBS, "job.sql": SQL}
    for file, jobs in files.items():
        for name, text in jobs.items():
            Path(file).write_text(text)
            shown = outputs(file, capsys)
            assert len(shown) > 100, name
            for part in (*secret.splitlines(), "planted", "<quotes>", "u003cquotes", "second-line"):
                assert part not in shown, (name, part, shown)


def test_a_project_shows_none_either(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(NAME, SECRETS[0])
    Path("penstock.conf").write_text(
        "variables { place = ${AWS_SECRET_ACCESS_KEY} }\nnope = ${AWS_SECRET_ACCESS_KEY}\n"
    )
    Path("jobs").mkdir()
    Path("jobs/a.conf").write_text(SOURCE + SINK % ("${place}", "none"))
    main(["validate", "jobs"])
    Path("penstock.conf").write_text("variables { place = ${AWS_SECRET_ACCESS_KEY} }\n")
    assert main(["explain", "jobs/a.conf"]) == 0
    written = capsys.readouterr()
    assert "out/" in written.out
    assert "planted" not in written.out + written.err


def test_a_variable_that_is_no_secret_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", "/some/folder")
    monkeypatch.setenv("BUCKET_NAME", "orders-2024")
    Path("job.conf").write_text(SOURCE + SINK % ("${PWD}/${BUCKET_NAME}", "none"))
    assert main(["explain", "job.conf"]) == 0
    assert "/some/folder/orders-2024" in capsys.readouterr().out
