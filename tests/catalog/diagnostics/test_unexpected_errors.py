"""Exceptions of the operating system are errors with a remedy, wherever they are raised; PEN9001 is for bugs."""

import errno
import os
import socket

import pytest

from catalog.diagnostics.unexpected_errors import unexpected_error
from engine.cli import main

ERRORS = [
    (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "PEN5031", "free space"),
    (OSError(errno.EDQUOT, "Disk quota exceeded", "/x"), "PEN5031", "free space"),
    (PermissionError(errno.EACCES, "Permission denied", "/x"), "PEN1006", "permissions"),
    (OSError(errno.EROFS, "Read-only file system", "/x"), "PEN1006", "written to"),
    (OSError(errno.EMFILE, "Too many open files"), "PEN5461", "ulimit"),
    (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "PEN5461", "server is running"),
    (TimeoutError("timed out"), "PEN5461", "server is running"),
    (socket.gaierror(-2, "Name or service not known"), "PEN5461", "server is running"),
    (ConnectionResetError(), "PEN5461", "server is running"),
]


@pytest.mark.parametrize(("error", "code", "help"), ERRORS, ids=lambda value: type(value).__name__)
def test_an_error_of_the_operating_system_is_not_an_internal_error(error, code, help):
    found = unexpected_error(error)
    assert found.code == code
    assert help in (found.help or "")
    assert found.message.strip()[-1] != ":"


def test_a_bug_is_an_internal_error():
    assert unexpected_error(KeyError("x")).code == "PEN9001"


COMMANDS = [
    ("engine.commands.validate", ["validate", "job.conf"], 2),
    ("engine.commands.explain", ["explain", "job.conf"], 2),
    ("engine.commands.fmt", ["fmt", "job.conf"], 2),
    ("engine.commands.run", ["run", "job.conf"], 1),
    ("engine.commands.runs", ["runs"], 2),
]


@pytest.mark.parametrize(("module", "words", "code"), COMMANDS, ids=str)
@pytest.mark.parametrize(("error", "shown", "help"), ERRORS[:1] + ERRORS[5:6], ids=["full", "refused"])
def test_no_command_shows_one_as_an_internal_error(monkeypatch, capsys, module, words, code, error, shown, help):
    def fails(arguments):
        raise error

    monkeypatch.setattr(f"{module}.run", fails)
    assert main(words) == code
    err = "".join(capsys.readouterr())
    assert shown in err
    assert "PEN9001" not in err
