"""A planted secret appears in no output, however its option is spelled."""

from pathlib import Path

import pytest

from catalog import secret_names
from catalog.render import Format
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
    "url": f"jdbc:postgresql://h/db?user=me&password={SECRET}&ssl=true",
    "server": f"jdbc:sqlserver://h;user=me;pwd={SECRET};x=1",
    "dsn": f"host=h password={SECRET} port=1",
    "address": f"https://me:{SECRET}@host:80/x",
    "sasl": f'org.example.PlainLoginModule required username=\\"me\\" password=\\"{SECRET}\\" ;',
    "body": f'{{\\"user\\": \\"me\\", \\"api_key\\": \\"{SECRET}\\"}}',
    "header": f"Bearer {SECRET}",
}
OPTIONS = [*((name, SECRET) for name in SPELLINGS), *VALUES.items()]

JOB = """
source { FakeSource { plugin_output = "t", schema { fields { id = bigint } } } }
sink { Spark { format = parquet, path = "out", %s options { compression = "none", "%s" = "%s" } } }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(secret_names, "_remembered", set())
    return tmp_path


@pytest.mark.parametrize(("name", "value"), OPTIONS, ids=[name for name, _ in OPTIONS])
def test_no_output_without_spark_shows_it(folder, capsys, name, value):
    (folder / "job.conf").write_text(JOB % ("", name, value))
    (folder / "wrong.conf").write_text(JOB % ("paht = x,", name, value))
    for words in (["explain"], ["explain", "--format", "json"], ["lineage"], ["lineage", "--format", "openlineage"]):
        assert main([words[0], "job.conf", *words[1:]]) == 0
    assert main(["graph", "job.conf", "--output", "page.html"]) == 0
    for format in Format:
        assert main(["validate", "wrong.conf", "--format", format.value]) == 2
    written = capsys.readouterr()
    shown = [written.out, written.err, (folder / "page.html").read_text()]
    assert "PEN2003" in written.out + written.err
    assert not [text for text in shown if SECRET in text]
