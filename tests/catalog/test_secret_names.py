"""Secrets in options that no spec calls sensitive."""

import pytest

from catalog.secret_names import is_secret_name, redacted, redacted_text, starred_source


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "dbPassword",
        "fs.s3a.secret.key",
        "fs.azure.account.key.x",
        "oauth_token",
        "API_KEY",
        "spark.hadoop.fs.s3a.access.key",
    ],
)
def test_secret_names(name):
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["password_file", "path", "key", "primary_keys", "user", "partition"])
def test_other_names(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize("name", ["pasword", "passowrd", "db.passwort", "PASSORD", "jwt", "session.jwt"])
def test_names_that_mean_a_secret(name):
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["passenger_count", "passthrough", "processed", "position", "bypass", "paths"])
def test_names_that_look_like_one(name):
    assert not is_secret_name(name)


SOURCES = (
    "password = ab,hidden", "password = ab, hidden", "password = ab#hidden", "password += hidden",
    "password { a = hidden }",
    "password = [a, hidden]", "# password = hidden", "// password: hidden", "a { password = ab,hidden, table = t }",
    'x = "jdbc:mysql://h:hidden/d"', "x = jdbc:mysql://h:hidden/d", 'x = "http://[hidden"', 'x = "me:hidden@h:1"',
)  # fmt: skip


@pytest.mark.parametrize("text", SOURCES)
def test_a_line_that_hocon_cuts_shows_no_rest(text):
    starred = starred_source(f"env {{\n{text}\nname = shown }}")
    assert "hidden" not in starred
    assert "name = shown" in starred
    assert "table = t" in starred or "table" not in text


@pytest.mark.parametrize("text", ["http://host:port/x", "http://h:${PORT}/x", "hdfs://a:1,b:2/x", "http://[::1]:80/x",
                                  "see http://h:80: refused", "mailto:me@h", "s3://b/a:b/c@d", "C:/a@b"])  # fmt: skip
def test_an_address_is_shown(text):
    assert redacted_text(text) == text


def test_redacted():
    value = {
        "url": "jdbc:postgresql://h/db?user=me&password=hunter2&ssl=true",
        "other": "https://me:hunter2@host:80/x",
        "oracle": "jdbc:sqlserver://h;user=me;pwd=hunter2;x=1",
        "options": {"header": True, "my.secret": "hunter2", "secret": {"inner": 1}, "list": [{"token": "hunter2"}]},
        "number": 3,
    }
    shown = redacted(value)
    assert "hunter2" not in repr(shown)
    assert shown["url"] == "jdbc:postgresql://h/db?user=me&password=******&ssl=true"
    assert shown["other"] == "https://me:******@host:80/x"
    assert shown["oracle"] == "jdbc:sqlserver://h;user=me;pwd=******;x=1"
    assert shown["options"]["header"] is True
    assert shown["number"] == 3


def test_the_password_of_a_jaas_configuration():
    jaas = 'org.example.PlainLoginModule required username="me" password="open sesame" ;'
    assert redacted(jaas) == 'org.example.PlainLoginModule required username="me" password=****** ;'


def test_plain_values_stay_as_they_are():
    for value in ("s3://bucket/a:b/c@d", "file:///x", "select token = 'x' from t", "a, b", None, 1.5):
        assert redacted(value) == value
