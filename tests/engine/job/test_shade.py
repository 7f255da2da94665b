"""`penstock encrypt` and `decrypt`: secrets change, nothing else does."""

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, JobError
from catalog.options import Option, OptionType
from engine.cli import main
from engine.job import load as loading
from engine.job.load import load_file
from engine.job.model.settings import Settings
from engine.job.options.secret_options import KEY_VARIABLE, new_key

JOB = """\
# a comment with hunter2
env { shade.identifier = "aes-gcm" }
source { FakeSource { plugin_output = a, password = "hunter2" # same word
    user = me } }
sink { Console { plugin_input = a, secret_file = x } }
"""
SECRETS = (
    Option("password", OptionType.STRING, "Secret.", sensitive=True),
    Option("secret", OptionType.STRING, "Secret.", sensitive=True),
    Option("user", OptionType.STRING, "Who."),
)


@pytest.fixture(autouse=True)
def _with_secrets(monkeypatch):
    """Every block takes secrets, so that the test needs no connector that does."""
    monkeypatch.setattr(loading, "COMMON", (*loading.COMMON, *SECRETS))
    monkeypatch.setenv(KEY_VARIABLE, new_key())


def written(tmp_path, text):
    path = tmp_path / "job.conf"
    path.write_text(text, encoding="utf-8")
    return path


def test_encrypt_then_decrypt_gives_the_file_back(tmp_path, capsys):
    assert main(["encrypt", "--job", str(written(tmp_path, JOB))]) == 0
    sealed = capsys.readouterr().out
    assert sealed.count("hunter2") == 1
    assert sealed.count("aes-gcm:") == 2
    assert sealed.startswith("# a comment with hunter2\n")
    assert main(["encrypt", "--job", str(written(tmp_path, sealed))]) == 0
    assert capsys.readouterr().out == sealed
    assert main(["decrypt", "--job", str(written(tmp_path, sealed))]) == 0
    assert capsys.readouterr().out.replace('"me"', "me") == JOB


def test_further_options_are_encrypted(tmp_path, capsys):
    text = JOB.replace('"aes-gcm"', '"aes-gcm", shade.options = [user]')
    assert main(["encrypt", "--job", str(written(tmp_path, text))]) == 0
    assert "user = me" not in capsys.readouterr().out


def test_a_run_reads_the_encrypted_value(tmp_path, capsys):
    main(["encrypt", "--job", str(written(tmp_path, JOB))])
    job = load_file(
        written(tmp_path, capsys.readouterr().out.replace("secret_file = x", "")),
        Diagnostics(),
        Settings(reads_secrets=True),
    )
    assert job is not None
    assert job.blocks[0].options.values.get("password", "hunter2") == "hunter2"


def test_a_job_that_does_not_say_how_is_refused(tmp_path, capsys):
    assert main(["encrypt", "--job", str(written(tmp_path, JOB.replace("shade.identifier", "job.name")))]) == 2
    assert "does not state how its secrets are encrypted" in capsys.readouterr().err


def test_a_missing_key_is_an_error_at_the_value(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE)
    assert main(["encrypt", "--job", str(written(tmp_path, JOB))]) == 2
    shown = capsys.readouterr()
    assert "job.conf:3:54" in shown.err
    assert "hunter2" not in shown.err + shown.out


def test_a_single_value(capsys):
    assert main(["encrypt", "hunter2"]) == 0
    sealed = capsys.readouterr().out.strip()
    assert "hunter2" not in sealed
    assert main(["decrypt", sealed]) == 0
    assert capsys.readouterr().out == "hunter2\n"


def test_a_new_key(capsys):
    assert main(["encrypt", "--new-key"]) == 0
    assert len(capsys.readouterr().out.strip()) == 44


@pytest.mark.parametrize(
    "command", [["validate"], ["explain"], ["explain", "--format", "json"], ["validate", "--format", "json"]]
)
def test_no_command_shows_a_secret(tmp_path, capsys, command):
    text = (
        JOB.replace("# a comment with hunter2", "").replace("user = me", "usr = me").replace("x }", "x, passwrd = 1 }")
    )
    for job in (text, text.replace("usr = me", "").replace(", passwrd = 1", "")):
        main([*command, str(written(tmp_path, job))])
        shown = capsys.readouterr()
        assert shown.out + shown.err
        assert "hunter2" not in shown.out + shown.err


def test_load_keeps_the_secret_out_of_reprs(tmp_path):
    job = load_file(written(tmp_path, JOB), Diagnostics(), Settings(reads_secrets=False))
    assert "hunter2" not in repr(job)


def test_errors_are_raised_as_job_errors(tmp_path):
    from engine.job.options.shade import encrypted

    job = load_file(written(tmp_path, JOB), Diagnostics())
    with pytest.raises(JobError):
        encrypted(job, {})


def test_seatunnel_reads_secrets_as_they_are_written_under_a_method_that_nobody_has(tmp_path):
    job = written(tmp_path, JOB.replace("aes-gcm", "aes256").replace("secret_file = x", ""))
    diagnostics = Diagnostics()
    loaded = load_file(job, diagnostics, Settings(reads_secrets=True, compat=Compat.SEATUNNEL_2))
    assert loaded is not None
    assert loaded.blocks[0].options["password"] == "hunter2"
    [said] = [item for item in diagnostics if item.code == "PEN2004"]
    assert said.severity.value == "warning"
    assert load_file(job, diagnostics, Settings(reads_secrets=True)) is not None
    assert diagnostics.has_errors
