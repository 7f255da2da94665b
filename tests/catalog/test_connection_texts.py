"""No part of a planted secret is shown, whatever its database lets a password contain."""

import re

import pytest

from catalog.masks import Masks
from catalog.secret_names import redacted_text, secret_parts, starred_source

A, B = "planted4f", "1c9secret"
"""A secret's parts, before and behind the character that ends a word elsewhere."""
MARKS = (",", ";", " ", "'", ")", "(", "/", ":", "#", "%40")

TEXTS = [
    f"jdbc:oracle:thin:scott/{A}@db:1521:shop",
    f"jdbc:oracle:thin:scott/{A}@{B}@//db:1521/shop",
    f'jdbc:oracle:thin:"sc/ott"/"{A}@{B}"@//db:1521/shop',
    f"jdbc:oracle:oci:scott/{A} {B}@db",
    f"jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=h))(SECURITY=(password={A})))",
    f"jdbc:oracle:thin:@(DESCRIPTION=(SECURITY=(wallet_password = {A} {B})))",
    f'jdbc:oracle:thin:@(DESCRIPTION=(SECURITY=(password="{A}){B}")))',
    f"jdbc:oracle:thin:@(DESCRIPTION=(SECURITY=(password={A}){B})))",  # its brackets are not balanced
    f"jdbc:oracle:thin:@tcps://db:2484/shop?javax.net.ssl.keyStorePassword={A};{B}&x=1",
    f"jdbc:sqlserver://db:1433;user=me;password={A}&{B};x=1",
    f"jdbc:sqlserver://db;password={{{A};{B}}};x=1",
    f"jdbc:sqlserver://db;password={{{A}}}}};{B}}};x=1",
    f"jdbc:sqlserver://db;password={{{A};{B}",  # never closed
    f"jdbc:sqlserver://db;accessToken={A},{B};keyVaultProviderClientKey={A}",
    f"jdbc:jtds:sqlserver://db/shop;user=me;password={A}&{B}",
    *(f"jdbc:postgresql://db/shop?user=me&password={A}{mark}{B}&ssl=true" for mark in MARKS),
    *(f"jdbc:mysql://db/shop?user=me&password={A}{mark}{B}&ssl=true" for mark in MARKS),
    f"jdbc:mysql://(host=db,port=3306,user=me,password={A})/shop",
    *(f"jdbc:postgresql://me:{A}{mark}{B}@db/shop" for mark in MARKS),
    f"jdbc:db2://db:50000/shop:user=me;password={A}&{B};",
    f"jdbc:h2:mem:shop;USER=me;PASSWORD={A}&{B}",
    f"jdbc:derby:shop;bootPassword={A}, {B}",
    f"jdbc:sqlite:shop.db?cipher=sqlcipher&key={A}",
    f"jdbc:sqlite:shop.db?cipher=sqlcipher&hexkey={A};{B}",
    f"jdbc:newdatabase://db/shop?user=me;password={A}, {B}",
    *(f"{scheme}://me:{A}{mark}{B}@host:21/x" for scheme in ("ftp", "https", "mongodb+srv", "amqp") for mark in MARKS),
    f"https://{A}@example.org/shop.git",
    f"https://example.org/x?user=me&token={A};{B}&page=1",
    f'org.example.PlainLoginModule required username="me" password="{A}\\"{B}";',
    f'org.example.PlainLoginModule required password="{A}\\"{B} and never closed',
    f"org.example.PlainLoginModule required username='me' password='{A}\\'{B}';",
    *(f"//me:{A}{mark}{B}@host/x" for mark in MARKS),
    *(f"AccountName=a;AccountKey={A}{mark}{B}==;EndpointSuffix=x" for mark in MARKS if mark != ";"),
    f'Server=db;Password="{A};{B}";User=me',
    f"Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey={A}&{B}",
    f"host=db user=me password='{A} {B}' dbname=shop",
    f"schema_registry.basic.auth.user.info=me:{A}",
]  # fmt: skip


def is_shown(text: str) -> bool:
    return A in text or B in text


@pytest.mark.parametrize("text", TEXTS)
def test_an_option_shows_no_part_of_a_secret(text):
    assert not is_shown(redacted_text(text))


@pytest.mark.parametrize("text", TEXTS)
def test_a_job_file_shows_no_part_of_it_and_keeps_its_columns(text):
    line = 'url = "' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    source = f"{line}\nother = 1"
    shown = starred_source(source)
    assert not is_shown(shown)
    assert len(shown) == len(source)
    assert shown.endswith("\nother = 1")


@pytest.mark.parametrize("text", [text for text in TEXTS if text.startswith("jdbc:") and "`" not in text])
def test_a_message_shows_no_part_of_it(text):
    shown = redacted_text(f"cannot connect to `{text}`: timed out")
    assert not is_shown(shown)
    assert shown.endswith("`: timed out")


@pytest.mark.parametrize("text", TEXTS)
def test_a_driver_that_shows_the_secret_alone_is_masked(text):
    masks = Masks()
    masks.add_parts(text)
    for part in secret_parts(text):
        assert not is_shown(masks.known(f"login with {part} failed"))


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:oracle:thin:@//db:1521/shop", "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1521)))",
        "jdbc:sqlserver://db:1433;databaseName=shop;user=me@server;encrypt=true",
        "jdbc:postgresql://a:5432,b:5433/shop?user=me@x&ssl=true", "jdbc:sqlite:shop.db?cache=shared",
        "s3://bucket/a:b/c@d", "abfss://container@account.dfs.core.windows.net/x", "https://host:8080/x/@me?page=a@b",
        "jdbc:mysql://db:3306/shop?useSSL=true", "sftp://me@host/x", "hdfs://name:8020/x",
    ],
)  # fmt: skip
def test_a_text_without_a_secret_is_shown(text):
    assert redacted_text(text) == text
    assert redacted_text(f"cannot read `{text}`") == f"cannot read `{text}`"


@pytest.mark.parametrize("scheme", ["ftp", "https", "jdbc:postgresql"])
def test_a_password_of_digits_is_no_port(scheme):
    assert redacted_text(f"{scheme}://me:123456@host:21/x") == f"{scheme}://me:******@host:21/x"


@pytest.mark.parametrize("text", TEXTS)
def test_a_line_that_cannot_be_parsed_shows_no_part_of_it(text):
    in_hocon = text.replace("\\", "\\\\").replace('"', '\\"')
    in_sql = text.replace("'", "''")
    for line in (
        f'url = "{in_hocon}" ]',
        f'url = "{in_hocon}',
        f"OPTIONS ('x' = '{in_sql}', ]",
        f"# {text}",
        f"-- {text}",
    ):
        if not (line[0] in "#-" and " " in text):
            assert not is_shown(starred_source(line)), line


def test_a_value_that_is_no_secret_hides_none_behind_it():
    assert redacted_text("user='' password=hunter2") == "user='' password=******"
    assert redacted_text("note='x password=hunter2'") == "note='x password=******'"


def test_what_is_around_the_secret_is_shown():
    shown = redacted_text(f"jdbc:sqlserver://db;user=me;password={{{A};{B}}};x=1")
    assert shown == "jdbc:sqlserver://db;user=me;password=******;x=1"
    assert redacted_text(f"jdbc:oracle:thin:scott/{A}@db") == "jdbc:oracle:thin:scott/******@db"
    assert re.fullmatch(r"jdbc:oracle:\*+", redacted_text(f"jdbc:oracle:thin:@(SECURITY=(password={A}))){B}"))
