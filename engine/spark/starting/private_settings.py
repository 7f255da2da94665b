"""Hands a session's settings to Java by a file that only its owner reads: every user of a machine sees arguments.

    spark-submit --properties-file /tmp/penstock-x1/spark.properties --load-spark-defaults pyspark-shell

The file is removed when Java has started. Settings of `spark-defaults.conf` and of PYSPARK_SUBMIT_ARGS have the place
that they have in addition to `--conf`: below, and above.
"""

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from catalog.secret_names import is_secret_name, redacted_text
from engine.spark.starting.class_archive import JAVA_OPTIONS

_ARGUMENTS: Final = "PYSPARK_SUBMIT_ARGS"
_PROPERTIES_FILE: Final = "--properties-file"
_DEFAULTS: Final = "--load-spark-defaults"


@contextmanager
def handed_over(settings: Mapping[str, str]) -> Iterator[None]:
    """Within the block, the Java that PySpark starts reads these settings from a file."""
    before = os.environ.get(_ARGUMENTS)
    folder = Path(tempfile.mkdtemp(prefix="penstock-"))  # of mode 700
    try:
        given, arguments = _split(shlex.split("pyspark-shell" if before is None else before))
        texts = [Path(given).read_text(encoding="utf-8")] if given else []
        file = _private(folder / "spark.properties", "\n".join([*texts, properties(_with_file(settings, folder)), ""]))
        own = [_PROPERTIES_FILE, str(file)]
        if given is None and _DEFAULTS not in arguments:  # else the user's file stands for the defaults
            own.append(_DEFAULTS)
        os.environ[_ARGUMENTS] = shlex.join([*own, *arguments])
        yield
    finally:
        if before is None:
            os.environ.pop(_ARGUMENTS, None)
        else:
            os.environ[_ARGUMENTS] = before
        shutil.rmtree(folder, ignore_errors=True)


def properties(settings: Mapping[str, str]) -> str:
    """The settings as a file of `java.util.Properties`."""
    return "\n".join(f"{_escaped(name)}={_escaped(value)}" for name, value in settings.items())


def _escaped(text: str) -> str:
    """ASCII without a sign that means something in such a file; Spark reads it as UTF-8, Java as Latin-1."""
    units = text.encode("utf-16-be", "surrogatepass")
    codes = (int.from_bytes(units[index : index + 2], "big") for index in range(0, len(units), 2))
    return "".join(chr(code) if chr(code).isascii() and chr(code).isalnum() else f"\\u{code:04x}" for code in codes)


def _split(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """The user's own file of settings, of which spark-submit takes one, and the other arguments."""
    given, others, position = None, list[str](), 0
    while position < len(arguments):
        name, _, value = arguments[position].partition("=")
        if name == _PROPERTIES_FILE:
            position += not value
            given = value or arguments[position] if position < len(arguments) else None
        else:
            others.append(arguments[position])
        position += 1
    return given, others


def _with_file(settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The settings, where Java reads its options that hold secrets (`-D…trustStorePassword=…`) from a second file."""
    options = shlex.split(settings.get(JAVA_OPTIONS, ""))
    hidden = [option for option in options if _is_secret(option)]
    if not hidden:
        return dict(settings)
    file = _private(folder / "java.options", "\n".join(map(_quoted, hidden)))
    others = shlex.join(option for option in options if option not in hidden)
    return {**settings, JAVA_OPTIONS: f"{others} @{file}".strip()}


def _is_secret(option: str) -> bool:
    name, _, value = option.partition("=")
    return option.startswith("-D") and bool(value) and (is_secret_name(name[2:]) or redacted_text(value) != value)


def _quoted(option: str) -> str:
    """An option as files of Java's options write it."""
    for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        option = option.replace(sign, written)
    return f'"{option}"'


def _private(path: Path, text: str) -> Path:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return path
