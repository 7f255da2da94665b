"""A planted secret appears in no output, however its option is spelled."""

from pathlib import Path

import pytest

from catalog.diagnostics.render import Format
from engine.cli import main

SECRET = "hunter2xyz"
SPELLINGS = [
    "password", "PASSWORD", "Passwd", "pwd", "user.pass", "passphrase", "passcode", "sslPassPhrase", "secret",
    "client_secret", "clientSecret", "fs.s3a.secret.key", "fs.azure.account.key.store", "accountKey", "access-key",
    "AWS_ACCESS_KEY", "private_key", "api_key", "apiKey", "x-api-key", "shared.key", "encryption.key", "token",
    "oauth_token", "authToken", "credential", "gcp.credentials", "auth", "Authorization", "sas",
    "fs.azure.sas.fixed", "db.pw", "Cookie",
]  # fmt: skip
VALUES = {
    "url": "jdbc:postgresql://h/db?user=me&password=%s&ssl=true",
    "server": "jdbc:sqlserver://h;user=me;pwd=%s;x=1",
    "dsn": "host=h password=%s port=1",
    "address": "https://me:%s@host:80/x",
    "sasl": 'org.example.PlainLoginModule required username=\\"me\\" password=\\"%s\\" ;',
    "body": '{\\"user\\": \\"me\\", \\"api_key\\": \\"%s\\"}',
    "header": "Bearer %s",
}
OPTIONS = [*((name, "%s") for name in SPELLINGS), *VALUES.items()]
LINES = "\n".join(f'"{name}" = "{value % f"{SECRET}{index}"}"' for index, (name, value) in enumerate(OPTIONS))

JOB = """
source { FakeSource { plugin_output = "t", schema { fields { id = bigint } } } }
sink { Spark { format = parquet, path = "out", %s options { compression = "none", %s } } }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_output_without_spark_shows_it(folder, capsys):
    (folder / "job.conf").write_text(JOB % ("", LINES))
    (folder / "wrong.conf").write_text(JOB % ("paht = x,", LINES))
    for words in (
        "explain", "explain --format json", "explain --format mermaid", "explain --rules --columns",
        "explain --unoptimized", "lineage", "lineage --format json", "lineage --format openlineage", "fmt --check",
        "schema sync", "schema diff", "schema show",
    ):  # fmt: skip
        command, *options = words.split()
        verb = [options.pop(0)] if command == "schema" else []
        assert main([command, *verb, "job.conf", *options]) in (0, 1), words
    assert main(["graph", "job.conf", "--output", "page.html"]) == 0
    for format in Format:
        assert main(["validate", "wrong.conf", "--format", format.value]) == 2
    written = capsys.readouterr()
    assert "PEN2003" in written.out + written.err
    assert "compression" in written.out
    pages = [path.read_text() for path in folder.iterdir() if path.suffix != ".conf"]
    shown = "\n".join([written.out, written.err, *pages])
    assert [name for index, (name, _) in enumerate(OPTIONS) if f"{SECRET}{index}" in shown] == []
    assert SECRET not in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ["describe", f"jdbc:postgresql://me:{SECRET}@127.0.0.1:1/db?password={SECRET}", "--table", "t"],
        ["describe", f"https://me:{SECRET}@127.0.0.1/x.csv"],
        ["show", f"https://me:{SECRET}@127.0.0.1/x.csv"],
        ["validate", f"https://me:{SECRET}@127.0.0.1/x.conf"],
        ["validate", "job.conf", "-i", f"pasword={SECRET}"],
        ["package", "job.conf", "--output", "app.zip", "-i", f"password={SECRET}"],
        ["state", "--state-dir", f"s3a://me:{SECRET}@bucket/state"],
        ["runs", "--state-dir", f"s3a://me:{SECRET}@bucket/state"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_argument_is_shown_with_its_secret(folder, capsys, arguments):
    (folder / "job.conf").write_text(JOB % ("", f'token = "{SECRET}"'))
    main(arguments)
    written = capsys.readouterr()
    assert written.out + written.err
    assert SECRET not in written.out + written.err


def test_a_secret_within_a_query_is_masked_by_every_command_that_shows_it(folder, capsys):
    (folder / "job.conf").write_text(
        'source { FakeSource { plugin_output = "t", schema { fields { id = string } } } }\n'
        "transform { Sql { query = \"select id from t where id = '${db_password}'\" } }\nsink { Console {} }\n"
    )
    for words in ("explain", "explain --format json", "explain --format mermaid", "explain --unoptimized --rules"):
        command, *options = words.split()
        assert main([command, "job.conf", "-i", f"db_password={SECRET}", *options]) == 0
    assert main(["graph", "job.conf", "-i", f"db_password={SECRET}", "--output", "page.html"]) == 0
    shown = capsys.readouterr().out + (folder / "page.html").read_text()
    assert "where id = '******'" in shown
    assert SECRET not in shown
