"""Secrets: read from files, encrypted, and never shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.render import Format, render
from catalog.diagnostics.source import SourceFile
from catalog.options import Option, OptionType
from catalog.secret_names import HIDDEN
from engine.job.hocon.parse import parse
from engine.job.hocon.substitution import resolve
from engine.job.options.check_options import check_options
from engine.job.options.secret_options import KEY_VARIABLE, SecretError, Secrets, Shade, decrypt, encrypt, new_key

SPEC = (
    Option("url", OptionType.STRING, "Where."),
    Option("user", OptionType.STRING, "Who."),
    Option("password", OptionType.STRING, "Secret.", required=True, sensitive=True, alternatives=("passwd",)),
    Option("limit", OptionType.INTEGER, "Secret number.", sensitive=True),
)
KEY = {KEY_VARIABLE: new_key()}


def check(text, secrets=None):
    diagnostics = Diagnostics()
    source = SourceFile("a.conf", text)
    tree = resolve(parse(source, diagnostics), diagnostics, {}, {})
    return check_options(tree, SPEC, diagnostics, owner="`Jdbc`", secrets=secrets), diagnostics, source


@given(st.text(), st.sampled_from(list(Shade)))
def test_what_is_encrypted_is_decrypted(text, shade):
    assert decrypt(encrypt(text, shade, KEY), shade, KEY) == text


def test_one_value_is_encrypted_otherwise_each_time_and_not_readable():
    one, other = (encrypt("hunter2", Shade.AES_GCM, KEY) for _ in range(2))
    assert one != other
    assert one.startswith("aes-gcm:")
    assert "hunter2" not in one


def test_a_value_under_another_key_or_altered_is_refused():
    sealed = encrypt("hunter2", Shade.AES_GCM, KEY)
    altered = sealed[:-4] + ("AAA=" if sealed[-4:] != "AAA=" else "BBB=")
    for value, key in [(sealed, {KEY_VARIABLE: new_key()}), (altered, KEY), ("aes-gcm:", KEY), ("aes-gcm:%", KEY)]:
        with pytest.raises(SecretError):
            decrypt(value, Shade.AES_GCM, key)
    with pytest.raises(SecretError, match="PENSTOCK_SHADE_KEY is not set"):
        decrypt(sealed, Shade.AES_GCM, {})
    with pytest.raises(SecretError, match="is not 16, 24 or 32 bytes in base64"):
        decrypt(sealed, Shade.AES_GCM, {KEY_VARIABLE: "short"})


def test_shaded_options_are_decrypted_when_secrets_are_read():
    sealed = encrypt("hunter2", Shade.AES_GCM, KEY)
    text = f'url = "aes-gcm:x", user = "plain", password = "{sealed}"'
    options, diagnostics, _ = check(text, Secrets(are_read=True, shade=Shade.AES_GCM, environment=KEY))
    assert not diagnostics.items
    assert (options["url"], options["user"], options["password"]) == ("aes-gcm:x", "plain", "hunter2")
    options, diagnostics, _ = check(text, Secrets(shade=Shade.AES_GCM, environment={}))
    assert not diagnostics.items


def test_base64_of_existing_job_files_is_read():
    text = "user = c2VhdHVubmVs, password = cGFzc3dvcmQ="
    options, _, _ = check(text, Secrets(are_read=True, shade=Shade.BASE64))
    assert (options["user"], options["password"]) == ("seatunnel", "password")


def test_what_cannot_be_decrypted_is_reported_where_it_stands():
    options, diagnostics, _ = check('password = "%%"', Secrets(are_read=True, shade=Shade.BASE64))
    (diagnostic,) = diagnostics
    assert (diagnostic.code, diagnostic.message) == ("PEN1005", "`password` cannot be decrypted: it is not base64")
    assert str(diagnostic.span) == "a.conf:1:12"
    assert not options.is_valid


def test_a_secret_file_stands_for_the_option(tmp_path):
    (tmp_path / "pw").write_text("hunter2\n")
    options, diagnostics, _ = check("password_file = pw", Secrets(are_read=True, folder=str(tmp_path)))
    assert not diagnostics.items
    assert options["password"] == "hunter2"
    options, diagnostics, _ = check("passwd_file = nowhere")
    assert not diagnostics.items
    assert options["password"] == HIDDEN


def test_errors_of_secret_files(tmp_path):
    _, diagnostics, _ = check("password_file = nowhere", Secrets(are_read=True, folder=str(tmp_path)))
    assert [str(each.message) for each in diagnostics] == [
        "the secret file `nowhere` cannot be read: No such file or directory"
    ]
    _, diagnostics, _ = check("password = x, password_file = y")
    assert [each.code for each in diagnostics] == ["PEN2011"]
    _, diagnostics, _ = check("user = x")
    assert next(iter(diagnostics)).help == "password = … (or `password_file`): Secret."


def test_no_output_holds_a_sensitive_value(tmp_path):
    text = 'url = "u"\nnope = 1, passwd = "hunter2", limit = hunter2\nuser = [1]'
    secrets = Secrets(are_read=True, shade=Shade.BASE64)
    options, diagnostics, source = check(text, secrets)
    assert {each.code for each in diagnostics} == {"PEN2003", "PEN2004", "PEN1005"}
    shown = [repr(options), str(options), repr(options.texts["password"]), repr(source), repr(diagnostics)]
    shown += [render(diagnostics, format, [source], masks=secrets.masks) for format in Format]
    assert not [each for each in shown if "hunter2" in each]
