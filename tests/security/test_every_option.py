"""Each option of each connector and transform, with values of somebody hostile: `validate` has a harmless answer.

The options are those of the registry, so that a new one is tried too. In the normal run each has one of the values of
its type; all of them in `make soak`.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import connectors
from catalog.options import Option, OptionType
from engine.cli import main
from engine.transforms import names as transform_names
from engine.transforms import transform
from tests.security.test_shown_names import COMMANDS, MOVES

NAME = "AWS_SECRET_ACCESS_KEY"
SECRET, OUTSIDE = "wJalr/planted+secret", "planted-outside-4f1c"
SECONDS = 5.0
ALL = os.environ.get("PENSTOCK_TEST_ALL_VALUES") == "1"

SCHEMA = {"fields": {"a": "int", "b": "string"}}
RULE = {"field_name": "b", "rule_type": "NOT_NULL"}
FILES = {"path": "in.csv", "file_format_type": "csv", "schema": SCHEMA}
WEB = {"url": "http://127.0.0.1:1/x", "format": "json"}
SOURCES: dict[str, dict[str, object]] = {
    "AzureBlobFile": {"account": "a", "container": "c", **FILES}, "GcsFile": {"bucket": "gs://b", **FILES},
    "Github": WEB, "Gitlab": {**WEB, "access_token": "k"}, "Jira": {**WEB, "email": "e", "api_token": "k"},
    "Klaviyo": {**WEB, "private_key": "k", "revision": "r"}, "Lemlist": {**WEB, "password": "k"},
    "Notion": {**WEB, "password": "k", "version": "v"}, "OneSignal": {**WEB, "password": "k"},
    "Persistiq": {**WEB, "password": "k"},
    "MySQL-CDC": {"url": "jdbc:mariadb://127.0.0.1:1/d", "table-names": ["d.t"], "schema": SCHEMA},
    "Postgres-CDC": {"url": "jdbc:postgresql://127.0.0.1:1/d", "table-names": ["public.t"], "schema": SCHEMA},
    "Clickhouse": {"host": "127.0.0.1:1", "table_path": "d.t", "schema": SCHEMA},
    **{name: {"hosts": ["http://127.0.0.1:1"], "index": "i", "schema": SCHEMA}
       for name in ("Easysearch", "Elasticsearch", "OpenSearch")},
    "MongoDB": {"uri": "mongodb://127.0.0.1:1", "database": "d", "collection": "c", "schema": SCHEMA},
    "Redis": {"host": "127.0.0.1", "port": 1, "data_type": "string", "keys": "k*", "format": "json", "schema": SCHEMA},
    "CosFile": {"bucket": "cosn://b", "region": "r", **FILES}, "Delta": {"path": "delta"}, "FakeSource": {},
    "FtpFile": {"host": "h", "user": "u", "password": "p", **FILES}, "HdfsFile": FILES,
    "Http": WEB, "Iceberg": {"warehouse": "warehouse", "table": "db.t"},
    "Jdbc": {"url": "jdbc:postgresql://127.0.0.1:1/d", "table_path": "public.t"},
    "Kafka": {"topic": "t", "bootstrap.servers": "127.0.0.1:1"}, "LocalFile": FILES,
    "ObsFile": {"bucket": "obs://b", "endpoint": "e", **FILES}, "Paimon": {"warehouse": "warehouse", "table": "db.t"},
    "OssFile": {"bucket": "oss://b", "endpoint": "e", **FILES}, "S3File": {"bucket": "s3a://b", **FILES},
    "SftpFile": {"host": "h", "user": "u", **FILES}, "Spark": {"format": "csv"}, "Table": {"table": "t"},
}  # fmt: skip
TARGET = {"path": "out", "file_format_type": "csv"}
SINKS: dict[str, dict[str, object]] = {
    "AzureBlobFile": {"account": "a", "container": "c", **TARGET}, "GcsFile": {"bucket": "gs://b", **TARGET},
    "Feishu": {"url": "http://127.0.0.1:1/x"}, "Http": {"url": "http://127.0.0.1:1/x"},
    "Assert": {"rules": {"row_rules": [{"rule_type": "MAX_ROW", "rule_value": 1}]}}, "Console": {}, "InMemory": {},
    "CosFile": {"bucket": "cosn://b", "region": "r", **TARGET}, "Delta": {"path": "out"}, "HdfsFile": TARGET,
    "FtpFile": {"host": "h", "user": "u", "password": "p", **TARGET}, "LocalFile": TARGET,
    "Iceberg": {"warehouse": "warehouse", "table": "db.o"}, "Kafka": {"topic": "t", "bootstrap.servers": "127.0.0.1:1"},
    "Jdbc": {"url": "jdbc:postgresql://127.0.0.1:1/d", "table": "public.t", "generate_sink_sql": True},
    "ObsFile": {"bucket": "obs://b", "endpoint": "e", **TARGET}, "Paimon": {"warehouse": "warehouse", "table": "db.o"},
    "OssFile": {"bucket": "oss://b", "endpoint": "e", **TARGET}, "S3File": {"bucket": "s3a://b", **TARGET},
    "SftpFile": {"host": "h", "user": "u", **TARGET}, "Spark": {"format": "parquet", "path": "out"},
    "Table": {"table": "t"}, "Clickhouse": {"host": "127.0.0.1:1", "table": "t", "primary_key": ["a"]},
    **{name: {"hosts": ["http://127.0.0.1:1"], "index": f"of-{name.lower()}"}
       for name in ("Easysearch", "Elasticsearch", "OpenSearch")},
    "MongoDB": {"uri": "mongodb://127.0.0.1:1", "database": "d", "collection": "o"},
    "Redis": {"host": "127.0.0.1", "port": 1, "data_type": "string", "key": "k"},
}  # fmt: skip
MODEL = {"model_provider": "OPENAI", "model": "m", "api_key": "k", "openai.api_key": "k"}
TRANSFORMS: dict[str, dict[str, object]] = {
    "Copy": {"fields": {"c": "a"}}, "DataValidator": {"field_rules": [RULE]}, "Deduplicate": {"keys": ["a"]},
    "DefineSinkType": {"columns": [{"column": "a", "type": "int"}]}, "Filter": {"include_fields": ["a"]},
    "Embedding": {**MODEL, "vectorization_fields": {"v": "b"}}, "FieldRename": {"prefix": "x"}, "Metadata": {},
    "FieldEncrypt": {"fields": ["b"], "key": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="},
    "FieldMapper": {"field_mapper": {"a": "a", "b": "b"}}, "FilterRowKind": {"include_kinds": ["INSERT"]},
    "JsonPath": {"columns": [{"src_field": "b", "path": "$.x", "dest_field": "x"}]}, "LLM": {**MODEL, "prompt": "p"},
    "Python": {"source_code": "def process(row):\n    return row\n", "columns": {"x": "int"}},
    "RegexExtract": {"source_field": "b", "regex_pattern": "(x)", "output_fields": ["x"]},
    "Replace": {"replace_field": "b", "pattern": "x", "replacement": "y"}, "RowKindExtractor": {},
    "Split": {"separator": ",", "split_field": "b", "output_fields": ["x"]}, "Sql": {"query": "select a from f"},
    "TableFilter": {"table_pattern": ".*"}, "TableMerge": {"table": "m"}, "TableRename": {"prefix": "x"},
    "TableRoute": {"table_column": "b", "tables_configs": [{"schema": {"table": "x", "fields": {"a": "int"}}}]},
    "TextChunk": {"text_field": "b"},
}  # fmt: skip
BASES = {"source": SOURCES, "transform": TRANSFORMS, "sink": SINKS}
BEGIN = "source { FakeSource { plugin_output = f, schema { fields { a = int, b = string } } } }\n"

SHOWN = "\x1b]0;t\x07\u202e\n::error::x\n##[error]y"
DEEP_LIST: Any = "x"
DEEP_MAP: Any = "x"
for _ in range(300):
    DEEP_LIST, DEEP_MAP = [DEEP_LIST], {"k": DEEP_MAP}
TEXTS: tuple[object, ...] = (
    "OUTSIDE", "../outside.conf", "link.conf", "file:///proc/self/environ", "/dev/zero", "fifo", "../*", SHOWN,
    f"${{{NAME}}}", f"x${{{NAME}}}y", "(a+)+$", "a\x00b", "\ud800", "x" * 100_000, "{a,b}" * 26, "*a" * 100,
    "'; drop table x; --", "${x:${y}}", "${env:HOME}", "http://127.0.0.1:1/", "select " + "(" * 5000, "array<" * 500,
    '{"a":' * 2000, "-1", "", " ", "..", "~", "$" * 50, "\\", "${", "%s%n{0}", "<script>", "</script>", "é" * 300,
)  # fmt: skip
NUMBERS: tuple[object, ...] = (-1, 0, 10**400, 1.5, "x", SHOWN, f"${{{NAME}}}", True, [], {}, "1e999999999", "NaN")
VALUES: dict[OptionType, tuple[object, ...]] = {
    OptionType.STRING: (*TEXTS, 1, True, [], {}, [SHOWN], {SHOWN: SHOWN}),
    OptionType.INTEGER: NUMBERS, OptionType.NUMBER: NUMBERS,
    OptionType.BOOLEAN: ("maybe", SHOWN, f"${{{NAME}}}", 7, [], {}),
    OptionType.LIST: (*([text] for text in TEXTS), *([{"k": text}] for text in TEXTS[:9]), DEEP_LIST, [[]], [{}], {}, 1,
                      ["a"] * 3000),
    OptionType.MAP: (*({"k": text} for text in TEXTS), *({str(text): "k"} for text in TEXTS), DEEP_MAP, {"": ""}, [], 1,
                     {"password": SECRET}, {f"k{n}": "x" for n in range(3000)}),
    OptionType.ANY: (*TEXTS, DEEP_LIST, DEEP_MAP, [], {}, 1),
}  # fmt: skip


def plugins() -> Iterator[tuple[str, str, tuple[Option, ...]]]:
    for name in connectors.source_names():
        yield "source", name, connectors.source(name).source_options
    for name in connectors.sink_names():
        yield "sink", name, connectors.sink(name).offered_options()
    for name in transform_names():
        yield "transform", name, transform(name).options


def job(kind: str, plugin: str, options: dict[str, object]) -> str:
    """HOCON's own form for what is no JSON: a substitution outside of quotes."""
    block = f"{plugin} {json.dumps(options)}"
    if kind == "source":
        return f"source {{ {block} }}\nsink {{ Console {{ }} }}\n"
    if kind == "sink":
        return f"{BEGIN}sink {{ {block} }}\n"
    return f"{BEGIN}transform {{ {block} }}\nsink {{ Console {{ }} }}\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "outside.conf").write_text(f"{OUTSIDE},b\n{OUTSIDE} : 1 }}\n")
    (folder / "link.conf").symlink_to(tmp_path / "outside.conf")
    (folder / "in.csv").write_text("1,x\n")
    os.mkfifo(folder / "fifo")
    monkeypatch.chdir(folder)
    monkeypatch.setenv(NAME, SECRET)
    return folder


def check(text: str, capsys: pytest.CaptureFixture[str], case: object, *command: str) -> None:
    Path("job.conf").write_bytes(text.encode("utf-8", "surrogatepass"))
    started = time.process_time()
    code = main([*(command or ("validate",)), "job.conf"])
    taken = time.process_time() - started
    written = capsys.readouterr()
    shown = written.out + written.err
    assert code in (0, 2), (case, shown[-3000:])
    assert "PEN9" not in shown, (case, shown[-3000:])
    for planted in (OUTSIDE, SECRET, "planted+secret", SECRET.replace("/", "\\/")):
        assert planted not in shown, (case, shown[-3000:])
    assert not MOVES.search(shown), (case, shown[-3000:])
    assert not COMMANDS.search(shown), (case, shown[-3000:])
    assert taken < SECONDS, (case, taken)


@pytest.mark.parametrize(("kind", "plugin", "options"), list(plugins()), ids=lambda value: str(value)[:20])
def test_no_value_of_an_option_does_harm(kind, plugin, options, place, capsys):
    base = BASES[kind].get(plugin)
    assert base is not None, f"give the {kind} {plugin} a block that is valid, so that its options are tried"
    check(job(kind, plugin, base), capsys, (kind, plugin))
    for number, option in enumerate(options):
        values = VALUES[option.type]
        for value in values if ALL else (values[(7 * number + len(plugin)) % len(values)],):
            given = str(place.parent / "outside.conf") if value == "OUTSIDE" else value
            check(job(kind, plugin, {**base, option.name: given}), capsys, (kind, plugin, option.name, value))


@pytest.mark.parametrize(("kind", "plugin", "options"), list(plugins()), ids=lambda value: str(value)[:20])
def test_no_option_shows_a_variable_that_is_a_secret(kind, plugin, options, place, capsys):
    """In the options of texts, also where they are joined with others; by commands that show values."""
    commands = (["explain"], ["explain", "--format", "json"], ["lineage", "--format", "json"], ["validate"])
    for number, option in enumerate(options):
        if option.type in (OptionType.STRING, OptionType.LIST, OptionType.MAP):
            text = f"x/${{{NAME}}}"
            value = {OptionType.LIST: [text], OptionType.MAP: {"k": text}}.get(option.type, text)
            chosen = commands if ALL else [commands[number % len(commands)]]
            for command in chosen:
                case = (kind, plugin, option.name, command)
                check(job(kind, plugin, {**BASES[kind][plugin], option.name: value}), capsys, case, *command)
