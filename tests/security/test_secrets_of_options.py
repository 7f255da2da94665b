"""A secret in each option that is one, given in each way, is shown by no command and kept in no file, whatever fails.

The options are those of the registry. Their servers answer nothing here, so that every run ends with an error, which
drivers write as they like.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import connectors
from catalog.secret_names import is_secret_name
from engine.job.options.secret_options import KEY_VARIABLE, Shade, encrypt, new_key
from engine.transforms import names as transform_names
from engine.transforms import transform
from tests.security.test_every_option import SINKS, SOURCES

ROOT = Path(__file__).parents[2]
MARK = "Planted8"
WAYS = ("literal", "argument", "environment", "variables", "connection", "include", "file", "encrypted")
FETCHED = ("AzureBlobFile", "CosFile", "GcsFile", "ObsFile", "OssFile")
"""Their jars are not among those of the tests: of them, no run is made."""
COLUMNS = {"fields": {"id": "int"}}
MORE: dict[str, dict[str, object]] = {
    "Http": {"headers": "secret", "params": "secret"}, "Kafka": {"kafka.config": "secret"},
    "Jdbc": {"properties": "secret"}, "Iceberg": {"hadoop.config": "secret"},
}  # fmt: skip
"""Maps that hold secrets under names of their own."""
REGISTRY = {"format": "avro", "schema_registry.url": "http://127.0.0.1:1"}
OVERRIDES: dict[tuple[str, str], dict[str, object]] = {
    ("sink", "Kafka"): REGISTRY, ("source", "Kafka"): {**REGISTRY, "schema": COLUMNS},
    ("source", "Jdbc"): {"schema": COLUMNS},
    **{(kind, name): {"username": "u"} for kind in ("source", "sink")
       for name in ("Clickhouse", "Easysearch", "Elasticsearch", "OpenSearch")},
    ("sink", "Clickhouse"): {"username": "u", "primary_key": ["id"]},
}  # fmt: skip


def secret_options() -> Iterator[tuple[str, str, str]]:
    for name in connectors.source_names():
        for option in connectors.source(name).source_options:
            if option.sensitive or is_secret_name(option.name):
                yield "source", name, option.name
    for name in connectors.sink_names():
        for option in connectors.sink(name).offered_options():
            if option.sensitive or is_secret_name(option.name):
                yield "sink", name, option.name


ALL = tuple(secret_options())


def test_transforms_have_no_other_options_that_are_secrets():
    """Else they are tried here, too; those of models are in the tests of their transforms."""
    found = {
        (name, option.name)
        for name in transform_names()
        for option in transform(name).options
        if option.sensitive or is_secret_name(option.name)
    }
    assert found == {("Embedding", "api_key"), ("Embedding", "secret_key"), ("FieldEncrypt", "key"),
                     ("LLM", "api_key")}  # fmt: skip


class Given:
    """The files, arguments and variables by which secrets are given; each has a number of its own."""

    def __init__(self, folder: Path, shift: int) -> None:
        self.folder, self.shift, self.number = folder, shift, 0
        self.arguments: list[str] = []
        self.environment = {KEY_VARIABLE: new_key()}
        self.variables: list[str] = []
        self.connections: list[str] = []

    def line(self, option: str) -> str:
        """What a block has for the option."""
        way, value = WAYS[(self.number + self.shift) % len(WAYS)], f"{MARK}x{self.number}x{self.shift}"
        name, self.number = f"v{self.number}", self.number + 1
        quoted = json.dumps(option)
        match way:
            case "argument":
                self.arguments += ["-i", f"{name}={value}"]
                return f"{quoted} = ${{{name}}}"
            case "environment":
                self.environment[f"ENV_{name}"] = value
                return f"{quoted} = ${{ENV_{name}}}"
            case "variables":
                self.variables.append(f"{name}={value}")
                return f"{quoted} = ${{{name}}}"
            case "connection":
                self.connections.append(f'{name} {{ {quoted} = "{value}" }}')
                return f"connection = {name}"
            case "include":
                (self.folder / f"{name}.inc").write_text(f'{quoted} = "{value}"\n')
                return f'include "{name}.inc"'
            case "file":
                (self.folder / f"{name}.txt").write_text(value)
                return f'"{option}_file" = "{name}.txt"'
            case "encrypted":
                sealed = encrypt(value, Shade.AES_GCM, self.environment)
                return f'{quoted} = "{sealed}"'
        return f'{quoted} = "{value}"'


def blocks(given: Given, plugins: list[tuple[str, str]]) -> str:
    """A job of many pipelines, one for each plugin."""
    sources, sinks = ["FakeSource { plugin_output = rows, row.num = 1, schema { fields { id = int } } }"], []
    for number, (kind, plugin) in enumerate(plugins):
        base = dict((SOURCES if kind == "source" else SINKS)[plugin])
        own = [option for where, name, option in ALL if (where, name) == (kind, plugin)]
        lines, connected = [], False
        for option in own:
            base.pop(option, None)
            line = given.line(option)
            while line.startswith("connection") and connected:  # a block has one
                line = given.line(option)
            connected = connected or line.startswith("connection")
            lines.append(line)
        for option in MORE.get(plugin, ()):
            if any(known.name == option for known in _options(kind, plugin)):
                inner = "sasl.jaas.config" if plugin == "Kafka" else "X-Api-Key"
                lines.append(f'"{option}" {{ "{inner}" = "password=\\"{MARK}y{number}\\";" }}')
        base |= OVERRIDES.get((kind, plugin), {})
        if kind == "sink" and "path" in base:
            base["path"] = f"out{number}"
        if "schema" in base:
            base["schema"] = COLUMNS
        lines += [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in base.items()]
        if kind == "source":
            sources.append(f"{plugin} {{ plugin_output = s{number}\n" + "\n".join(lines) + "\n}")
            sinks.append(f"Console {{ plugin_input = s{number} }}")
        else:
            sinks.append(f"{plugin} {{ plugin_input = rows\n" + "\n".join(lines) + "\n}")
    env = (
        "env { job.retry.times = 0, failure_policy = continue, shade.identifier = aes-gcm, parallelism = 2\n"
        f'spark.eventLog.enabled = true, spark.eventLog.dir = "file://{given.folder}/events", '
        "spark.eventLog.compress = false }\n"
    )
    return f"{env}source {{\n{chr(10).join(sources)}\n}}\nsink {{\n{chr(10).join(sinks)}\n}}\n"


def _options(kind: str, plugin: str):
    return connectors.source(plugin).source_options if kind == "source" else connectors.sink(plugin).offered_options()


def write_project(folder: Path, given: Given, plugins: list[tuple[str, str]]) -> None:
    (folder / "events").mkdir()
    text = blocks(given, plugins)
    (folder / "job.conf").write_text(text)
    (folder / "penstock.conf").write_text("connections {\n" + "\n".join(given.connections) + "\n}\n")
    (folder / "my.vars").write_text("\n".join(given.variables) + "\n")


def plugins_of(kinds: tuple[str, ...], *, with_fetched: bool) -> list[tuple[str, str]]:
    named = dict.fromkeys((kind, name) for kind, name, _ in ALL if kind in kinds)
    more = [(kind, name) for kind in kinds for name in MORE if (kind, name) != ("source", "Iceberg")]
    return [found for found in dict.fromkeys([*named, *more]) if with_fetched or found[1] not in FETCHED]


def commands(words: list[str]) -> list[list[str]]:
    return [
        ["validate", *words], ["explain", *words], ["explain", "--format", "json", *words], ["lineage", *words],
        ["graph", *words, "-o", "page.html"], ["lineage", "--format", "openlineage", *words], ["plan"],
        ["ls", "--output", "json"], ["schema", "show", *words], ["package", "job.conf", "-o", "app.zip"],
    ]  # fmt: skip


@pytest.mark.parametrize("shift", range(len(WAYS)))
def test_no_command_shows_a_secret_given_in_any_way(shift, tmp_path, monkeypatch, capsys):
    from engine.cli import main

    monkeypatch.chdir(tmp_path)
    given = Given(tmp_path, shift)
    write_project(tmp_path, given, plugins_of(("source", "sink"), with_fetched=True))
    for name, value in given.environment.items():
        monkeypatch.setenv(name, value)
    words = ["job.conf", "--vars", "my.vars", *given.arguments]
    chosen = commands(words)
    for command in chosen if shift == 0 else [chosen[0], chosen[shift % len(chosen)]]:
        code = main(command)
        written = capsys.readouterr()
        assert "PEN9" not in written.out + written.err, written
        assert code in (0, 2), (command, written)
        assert MARK not in written.out + written.err, command
        if command[0] == "validate":
            assert code == 0, written.out + written.err
    if (page := tmp_path / "page.html").exists():
        assert MARK not in page.read_text()


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("shift", range(len(WAYS)))
def test_no_run_that_fails_shows_or_keeps_a_secret(shift, tmp_path):
    pytest.importorskip("pyspark")
    given = Given(tmp_path, shift)
    write_project(tmp_path, given, plugins_of(("source", "sink"), with_fetched=False))
    (tmp_path / "tmp").mkdir()
    seen: set[str] = set()
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            for file in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
                except OSError:
                    continue
                if "java" in line:
                    seen.add(line)

    thread = threading.Thread(target=look)
    thread.start()
    command = [sys.executable, "-m", "engine.cli", "run", "job.conf", "--vars", "my.vars", *given.arguments]
    environment = {**os.environ, **given.environment, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")}
    try:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900, check=False
        )
    finally:
        ended.set()
        thread.join()
    assert done.returncode == 1, done.stdout + done.stderr
    listed = subprocess.run(
        [sys.executable, "-m", "engine.cli", "runs", "--format", "json"], cwd=tmp_path, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    kept = [path for name in (".penstock", "tmp", "events") for path in (tmp_path / name).rglob("*") if path.is_file()]
    events = [path for path in kept if "events" in path.parts]
    assert events
    shown = {
        "output": done.stdout + done.stderr, "runs": listed.stdout + listed.stderr, "processes": "\n".join(seen),
        **{str(path): path.read_bytes().decode(errors="replace") for path in kept},
    }  # fmt: skip
    for where, text in shown.items():
        position = text.find(MARK)
        assert position < 0, (where, text[max(0, position - 300) : position + 100])
