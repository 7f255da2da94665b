"""What an outside engineer tried: pull requests against a CI that runs Penstock, one folder each.

A case is a tree of files and the commands that CI runs on it. `{outside}` is a folder beside the project, whose files
hold what nobody may see.
"""

# fmt: off
# ruff: noqa: E501 (a case is a line, which says what it tries)

import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.security.hostile_jobs import SINK, SOURCE, with_options, with_query

OUTSIDE = "planted-outside-77b2"
SECRET_NAME, SECRET = "DEPLOY_TOKEN", "pl4nted/secret+9c1e"
ESC = "a\x1b]0;t\x07\u202e\r\n::add-mask::x\n##[error]y"
"""What would change the title of a terminal, the direction of writing, and be a command for a CI service."""
SHOWN = json.dumps(ESC)

Make = Callable[[Path, Path], None]
"""Furnishes the folder of the project; the second folder is outside."""


@dataclass(frozen=True)
class Case:
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    commands: tuple[str, ...] = ("validate job.conf",)
    links: Mapping[str, str] = field(default_factory=dict)
    make: Make | None = None
    in_own_process: bool = False
    arguments: tuple[str, ...] = ()

    def furnish(self, folder: Path, outside: Path) -> None:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
            path.write_bytes(text.replace(b"{outside}", os.fsencode(outside)))
        for name, target in self.links.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(target.replace("{outside}", str(outside)))
        if self.make:
            self.make(folder, outside)


def job(text: str, *commands: str, **more: object) -> Case:
    return Case({"job.conf": text}, commands or ("validate job.conf",), **more)  # type: ignore[arg-type]


READ = ("validate job.conf", "explain job.conf", "package job.conf -o app.zip")


def reading() -> Iterator[tuple[str, Case]]:
    """Files outside, by each way of naming them."""
    includes = (
        'include classpath("../outside/secret.conf")', 'include url("file://{outside}/secret.conf")',
        'include "file://{outside}/secret.conf"', 'include "./x/.././../outside/secret.conf"',
        'include "${x:../outside}/secret.conf"', 'include required(file("${x:{outside}}/secret.conf"))',
        'include "../outside/*"', 'include "../[o]utside/secret.conf"', 'include "../outside/secret.con?"',
        'include "**/../../outside/secret.conf"', 'include "dir/secret.conf"', 'include "chain.conf"',
        'include "dir/*"', 'include "~/secret.conf"', 'include "$HOME/secret.conf"', 'include "/etc/hostname"',
        'include "/proc/self/cmdline"', 'include "/proc/self/fd/0"', 'include "/dev/stdin"', 'include "/dev/fd/0"',
        'include "..\\\\outside\\\\secret.conf"', 'include "sub/inner.conf"', 'include "loop.conf"',
        'include package("tests:../../outside/secret.conf")', 'include package("engine:../outside/secret.conf")',
        'include package("..:secret.conf")', 'include package("os.path:secret.conf")',
    )
    inner = {"sub/inner.conf": 'include "../../outside/secret.conf"\n'}
    links = {"dir": "{outside}", "chain.conf": "second.conf", "second.conf": "{outside}/secret.conf",
             "loop.conf": "loop.conf"}
    for text in includes:
        for place, wrapped in (("at the top", f"{text}\n{SOURCE}{SINK}"),
                               ("in a block", SOURCE.replace("row.num = 1", f"\n{text}\n") + SINK)):
            commands = ("validate job.conf", "explain job.conf") if place == "at the top" else ("validate job.conf",)
            yield f"{text} {place}", Case({"job.conf": wrapped, **inner}, commands, links)
    for suffix in ("csv", "json", "parquet", "orc", "avro", "xml", "text", "excel"):
        files = {"job.conf": with_options("LocalFile", path="data", file_format_type=suffix, csv_use_header_line=True)}
        yield f"a folder of {suffix} with a link", Case(files, READ, {f"data/a.{suffix}": "{outside}/secret.conf"})
        yield f"a link to a folder of {suffix}", Case(files, READ, {"data": "{outside}"})
        glob = with_options("LocalFile", path="da*/**/s*", file_format_type=suffix, csv_use_header_line=True)
        yield f"a pattern of {suffix} through a link", Case({"job.conf": glob}, READ, {"data/x": "{outside}"})
    for name in ("penstock.conf", "penstock.lock", "job.test.conf", "job.test.sql", "jobs/b.sql", "jobs/c.json"):
        commands = ("validate job.conf", "validate .", "plan", "ls", "schema diff", "fmt --diff .", "explain job.conf")
        yield f"{name} is a link", Case({"job.conf": SOURCE + SINK}, commands, {name: "{outside}/secret.conf"})
    sql = "create table o (a int) using console;\ninsert into o select a from x;\n"
    for text in ("source '{outside}/secret.conf';", "\\i {outside}/secret.conf", "include '{outside}/secret.conf';",
                 "!cat {outside}/secret.conf", "add file '{outside}/secret.conf';", "add jar '{outside}/secret.conf';",
                 "load data local inpath '{outside}/secret.conf' into table o;",
                 "create table x using csv options (path '{outside}/secret.conf', header 'true');",
                 "create temporary view x using text options (path '{outside}/secret.conf');",
                 "set spark.jars = {outside}/secret.conf;"):
        yield f"SQL: {text}", Case({"job.sql": text + "\n" + sql}, ("validate job.sql", "explain job.sql"))
    for query in (
        "select * from csv.`{outside}/secret.conf`",
        "select * from text.`{outside}/secret.conf`",
        "select * from read_files('{outside}/secret.conf')",
        "select * from `../outside/secret.conf`",
        "select java_method('java.lang.System', 'getenv', '" + SECRET_NAME + "') x from f",
        "select reflect('java.lang.System', 'getenv') x from f",
        "select input_file_name() x, current_catalog() y from f",
    ):
        yield f"query {query}", Case({"job.conf": with_query(query)}, ("validate job.conf", "explain job.conf"))
    yield "a Python transform that runs at once", job(
        SOURCE + 'transform { Python { source_code = "open(\\"{outside}/written\\", \\"w\\")\\n'
        'raise SystemExit(open(\\"{outside}/secret.conf\\").read())\\n", columns { x = int } } }\n' + SINK, *READ)
    for option in ("source_code_path", "module", "requirements_file"):
        yield f"a Python transform by {option}", job(
            SOURCE + f'transform {{ Python {{ {option} = "{{outside}}/secret.conf", columns {{ x = int }} }} }}\n' + SINK,
            *READ)
    for option, connector in (
        ("protobuf_descriptor_file", "Kafka"), ("avro_schema", "Kafka"), ("protobuf_schema", "Kafka"),
        ("iceberg.hadoop-conf-path", "Iceberg"), ("hdfs_site_path", "HdfsFile"), ("krb5_path", "HdfsFile"),
        ("kerberos_keytab_path", "HdfsFile"), ("private_key_file", "SftpFile"), ("known_hosts_file", "SftpFile"),
        ("password_file", "Jdbc"), ("url_file", "Jdbc"), ("user_file", "Jdbc"), ("token_file", "Http"),
        ("body_file", "Http"), ("pageing.file", "Http"), ("json_field", "Http"),
    ):
        base: dict[str, object] = {"path": "x", "file_format_type": "csv"} if connector.endswith("File") else {}
        for path in ("{outside}/secret.conf", "link"):
            text = with_options(connector, **{**base, option: path, "schema": {"fields": {"a": "int"}}})
            yield (
                f"{connector}.{option} = {path}",
                Case({"job.conf": text}, READ[:2], {"link": "{outside}/secret.conf"}),
            )
    for name, text in (
        ("DTD", '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file://{outside}/secret.conf">]><r><RECORD><a>&x;</a></RECORD></r>'),
        ("external DTD", '<?xml version="1.0"?><!DOCTYPE r SYSTEM "file://{outside}/secret.conf"><r><RECORD><a>1</a></RECORD></r>'),
        ("parameter entity", '<!DOCTYPE r [<!ENTITY % x SYSTEM "file://{outside}/secret.conf"> %x;]><r><RECORD><a>1</a></RECORD></r>'),
        ("laughs", '<!DOCTYPE r [<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
         + "]><r><RECORD><a>&a11;</a></RECORD></r>"),
        ("depth", "<r>" + "<RECORD>" * 20_000), ("an attribute", "<r><RECORD " + " ".join(f'a{n}="1"' for n in range(9000)) + "/></r>"),
    ):
        reads = with_options("LocalFile", path="x.xml", file_format_type="xml", xml_row_tag="RECORD")
        yield f"XML: {name}", Case({"job.conf": reads, "x.xml": text}, READ)


def lakes() -> Iterator[tuple[str, Case]]:
    """Tables in the repository, whose metadata name files elsewhere."""
    schema = json.dumps(
        {"type": "struct", "fields": [{"name": "a", "type": "integer", "nullable": True, "metadata": {}}]}
    )
    log = json.dumps({"metaData": {"id": "x", "format": {"provider": "parquet"}, "schemaString": schema,
                                   "partitionColumns": [], "configuration": {}}})
    protocol = json.dumps({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}})
    entry = "data/_delta_log/00000000000000000000.json"
    delta = with_options("Delta", path="data")
    yield "Delta: the log is a link", Case({"job.conf": delta}, READ, {entry: "{outside}/secret.conf"})
    yield "Delta: the folder of the log is a link", Case({"job.conf": delta}, READ, {"data/_delta_log": "{outside}"})
    for pointer in ('{"version": 10, "size": 1, "parts": 999999999}', '{"version": -1}', '{"version": "../../../x"}',
                    '{"version": 1e400}', "[" * 50_000, '{"version": 10}'):
        yield f"Delta: the last checkpoint is {pointer[:40]}", Case(
            {"job.conf": delta, entry: f"{protocol}\n{log}\n", "data/_delta_log/_last_checkpoint": pointer}, READ)
    for number, action in enumerate(
        (
            {"add": {"path": "file://{outside}/secret.conf", "size": 1, "partitionValues": {}, "dataChange": True}},
            {"add": {"path": "../../outside/secret.conf", "stats": "{" * 3000}}, {"add": 1}, {"remove": []},
            {"cdc": {"path": "/dev/zero"}}, {"txn": {"appId": ESC, "version": 10**40}}, {"commitInfo": {"x": ESC}},
            {"protocol": {"minReaderVersion": 10**30, "readerFeatures": [ESC] * 3000}}, {"domainMetadata": {"domain": 1}},
            {"metaData": {"schemaString": schema.replace('"a"', SHOWN), "partitionColumns": [ESC]}},
            {"metaData": {"schemaString": schema, "partitionColumns": "a", "configuration": [1]}},
            {"metaData": {"schemaString": schema.replace("integer", "decimal(99999999999,5)")}},
            {"metaData": {"schemaString": schema.replace("integer", ESC.encode("unicode_escape").decode().replace("\\", "\\\\"))}},
        )
    ):
        lines = f"{protocol}\n{log}\n{json.dumps(action)}\n"
        yield f"Delta: action {number}", Case({"job.conf": delta, entry: lines}, READ)
    yield "Delta: a log of many versions", Case(
        {"job.conf": delta, **{f"data/_delta_log/{n:020}.json": protocol for n in range(1, 3000)}, entry: log}, READ[:1])
    iceberg = with_options("Iceberg", warehouse="data", table="db.t")
    home = "data/db/t/metadata"
    for hint in ("../../../../../outside/secret", "1\n2", "x" * 100_000, "-1", "999999999999999999999", "\x00", "1"):
        yield f"Iceberg: the hint is {hint[:30]!r}", Case(
            {"job.conf": iceberg, f"{home}/version-hint.text": hint, f"{home}/v1.metadata.json": "{"}, READ)
    yield "Iceberg: the metadata are a link", Case(
        {"job.conf": iceberg}, READ, {f"{home}/v1.metadata.json": "{outside}/secret.conf"})
    yield "Iceberg: the hint is a pipe", Case(
        {"job.conf": iceberg}, READ, make=lambda folder, _: _pipe(folder / home / "version-hint.text"), in_own_process=True)
    yield "Iceberg: the metadata are a pipe", Case(
        {"job.conf": iceberg}, READ, make=lambda folder, _: _pipe(folder / home / "v1.metadata.json"), in_own_process=True)
    yield "Iceberg: compressed metadata", Case(
        {"job.conf": iceberg}, READ, make=lambda folder, _: _bomb(folder / home / "v1.gz.metadata.json"), in_own_process=True)
    for names in ("db.t", "../../outside.t", f"db.{ESC}", "db." + "t" * 5000, "db.", ".", "a" * 300 + ".b", "db.../t"):
        yield f"Iceberg: the table {names[:20]!r}", job(with_options("Iceberg", warehouse="data", table=names), *READ)
    paimon = with_options("Paimon", warehouse="data", database="db", table="t")
    place = "data/db.db/t"
    yield "Paimon: the schema is a link", Case(
        {"job.conf": paimon}, READ, {f"{place}/schema/schema-0": "{outside}/secret.conf"})
    yield "Paimon: the schemas are a link", Case({"job.conf": paimon}, READ, {f"{place}/schema": "{outside}"})
    for snapshot in ("[" * 10_000, '{"schemaId": 1e400}', '{"schemaId": "../../x"}', ESC):
        yield f"Paimon: the snapshot {snapshot[:20]!r}", Case(
            {"job.conf": paimon, f"{place}/schema/schema-0": '{"id": 0, "fields": []}', f"{place}/snapshot/LATEST": "1",
             f"{place}/snapshot/snapshot-1": snapshot}, READ)
    for field_type in ("ROW<" * 3000, "ARRAY<INT>" * 3000, {"type": "ARRAY", "element": {}}, ["x"], None, 1e400, ESC):
        fields = json.dumps([{"id": 0, "name": "a", "type": field_type}])
        yield f"Paimon: the type {str(field_type)[:20]!r}", Case(
            {"job.conf": paimon, f"{place}/schema/schema-0": f'{{"id": 0, "fields": {fields}}}'}, READ)


def _pipe(path: Path) -> None:
    path.parent.mkdir(parents=True)
    os.mkfifo(path)


def _bomb(path: Path) -> None:
    import gzip

    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(400):
            file.write(b" " * 1_000_000)


def bombs() -> Iterator[tuple[str, Case]]:
    """Files that are small until they are opened."""
    import bz2
    import lzma
    import zlib

    line = b"x" * 60_000_000
    packed = {"bz2": bz2.compress(line), "xz": lzma.compress(line, preset=1), "deflate": zlib.compress(line, 1)}
    for codec, content in packed.items():
        for format in ("csv", "json", "text"):
            text = with_options(
                "LocalFile", path=f"x.{format}.{codec}", file_format_type=format, csv_use_header_line=True
            )
            yield f"a {format} file of {codec}", Case(
                {"job.conf": text, f"x.{format}.{codec}": content}, READ[:1], in_own_process=True)

    def archive(folder: Path, _: Path) -> None:
        with zipfile.ZipFile(folder / "x.zip", "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("../../escaped.csv", "a\n1\n")
            made.writestr("/etc/absolute.csv", "a\n1\n")
            made.writestr(ESC, "a\n1\n")
            made.writestr("big.csv", line)

    for format in ("csv", "excel", "json", "xml"):
        yield f"an archive as {format}", Case(
            {"job.conf": with_options("LocalFile", path="x.zip", file_format_type=format, csv_use_header_line=True,
                                      archive_compress_codec="zip")}, READ, make=archive, in_own_process=True)
    for name, content in (
        ("parquet of a huge footer", b"PAR1" + b"\xff" * 64 + b"\xff\xff\xff\x7fPAR1"),
        ("parquet of a negative footer", b"PAR1" + b"\x15" * 64 + b"\xff\xff\xff\xffPAR1"),
        ("parquet of nested fields", b"PAR1" + b"\x1c" * 100_000 + (100_000).to_bytes(4, "little") + b"PAR1"),
        ("orc", b"ORC" + b"\xff" * 5000), ("avro of a long block", b"Obj\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
        ("avro of a deep schema", b"Obj\x01\x02\x16avro.schema\x80\x80\x08" + b'{"type":' * 20_000),
    ):
        format = name.split()[0]
        yield f"{name}", Case(
            {"job.conf": with_options("LocalFile", path=f"x.{format}", file_format_type=format), f"x.{format}": content},
            READ[:2], in_own_process=True)
    for kind in ("csv", "json", "xml", "parquet", "avro", "orc", "excel"):
        text = with_options("LocalFile", path="data", file_format_type=kind, csv_use_header_line=True)
        yield f"a pipe in a folder of {kind}", Case(
            {"job.conf": text}, READ[:1], make=lambda folder, _, kind=kind: _pipe(folder / "data" / f"a.{kind}"),
            in_own_process=True)
        yield f"a device in a folder of {kind}", Case(
            {"job.conf": text}, READ[:1], {f"data/a.{kind}": "/dev/zero"}, in_own_process=True)
    for name in ("penstock.conf", "penstock.lock", "job.test.conf", "b.conf"):
        yield f"{name} is a pipe", Case(
            {"job.conf": SOURCE + SINK, "sub/x": ""}, ("validate .", "ls", "fmt --check ."),
            make=lambda folder, _, name=name: os.mkfifo(folder / name), in_own_process=True)
        yield f"{name} is a device", Case(
            {"job.conf": SOURCE + SINK}, ("validate .", "plan", "fmt --check ."), {name: "/dev/zero"}, in_own_process=True)


NAMES_IN_ROWS = (ESC, "<script>alert(1)</script>", "`|<img src=x onerror=a()>|`", "](javascript:a())", "%0A::error::x",
                 "@everyone", "a\\u0000b", "&lt;&#x1b;", "]]>", "--><x/>", "\ud800", "{{ constructor }}", "=cmd|' /C x'!A0")


def printed() -> Iterator[tuple[str, Case]]:
    """Names in what is printed: of files, environments, tags, runs, branches, tests."""
    for number, name in enumerate(NAMES_IN_ROWS):
        text = json.dumps(name)
        project = (
            f"name = {text}\nenvironments {{ dev {{ default = true }}, {text} {{ }} }}\n"
            f'folders {{ jobs {{ tags = [{text}], owner = {text} }} }}\nselectors {{ {text} = "tag:x", s = {text} }}\n'
            f"connections {{ {text} {{ url = {text} }} }}\n"
        )
        env = f"env {{ job.name = {text}, tags = [{text}], owner = {text}, description = {text}, depends_on = [{text}] }}\n"
        columns = SOURCE.replace("a = int", f"{text} = int\na = int").replace(
            "plugin_output = f", f"plugin_output = {text}"
        )
        files = {
            "penstock.conf": project, "jobs/a.conf": env + columns + f'sink {{ LocalFile {{ path = {text}, '
            f"file_format_type = csv, plugin_output = {text} }} }}\n",
            "jobs/b.conf": env + SOURCE + f"sink {{ LocalFile {{ path = out, file_format_type = csv, uid = {text}, "
            f"{text} = {text} }} }}\n",
        }
        commands = (
            "validate", "validate --format json", "validate --format sarif", "validate --format github", "ls",
            "ls --output json", "plan", "plan --format markdown", "plan --format json", "explain jobs/a.conf",
            "graph jobs -o page.html", "explain --format mermaid jobs/a.conf", "lineage --format openlineage jobs/a.conf",
            "fmt --diff jobs", "schema show jobs/a.conf", "state jobs/a.conf", "package jobs/a.conf -o app.zip",
            "convert jobs/a.conf", "explain --format json jobs/a.conf", "lineage jobs/b.conf",
        )
        yield f"names of a project {number}", Case(files, commands)
        if "\x00" not in name and "/" not in name and "\ud800" not in name:
            odd = f"jobs/{name}.conf"
            yield f"a job file {number}", Case(
                {"penstock.conf": "", odd: SOURCE + SINK, f"jobs/{name}/x.conf": "sink {", f"jobs/{name}.sql": "insert x"},
                ("validate", "validate --format github", "validate --format sarif", "ls", "ls --output path", "plan",
                 "plan --format markdown", "fmt --diff jobs", "ls --output json", "graph jobs -o page.html"))
        record = {"command": name, "results": {name: name}, "jobs": {name: {
            "path": name, "fingerprint": name, "writes": {name: [{"name": name, "type": "int", "nullable": True}]}}}}
        yield f"a record of runs {number}", Case(
            {"penstock.conf": 'state_dir = "state"\n', "jobs/a.conf": SOURCE + SINK,
             "state/project.json": json.dumps(record)},
            ("plan", "plan --format markdown", "plan --format json", "ls -s state:modified"))
        run = {"run_id": name, "job": name, "file": name, "state": "FAILED", "started": name, "error": name,
               "counts": {name: {name: name}}, "host": name, "pid": 1}
        for place in ("ledger/x.json", "runs/x.json", "runs/x/run.json", "runs/x/record.json"):
            yield f"a run {number} at {place}", Case(
                {f".penstock/{place}": json.dumps(run), ".penstock/layout.json": '{"version": 1}'},
                ("runs", "runs --format json", "runs x", "expectations x", "state --state-dir .penstock job.conf"))
    for text in ("runs ../../outside", "runs --state-dir ../outside x", "expectations ../../outside", "stop ../../x",
                 "runs --forget ../../outside", "wait ../../outside --timeout 1", "expectations ../outside --html x.html"):
        yield text, Case({".penstock/x": ""}, (text,))
    git = ("--output=x", "HEAD:../outside", "-h", "$(touch x)", "HEAD;touch x", "HEAD^{/x}", "@{-1}", "--upload-pack=x",
           "refs/heads/\x1b]0;t\x07", ":(top)x", "HEAD\nx")
    for revision in git:
        files = {"penstock.conf": "", "jobs/a.conf": SOURCE + SINK}
        yield (
            f"the revision {revision!r}",
            Case(files, ("plan", "ls", "schema diff"), arguments=(f"--against={revision}",)),
        )
        yield f"changed since {revision!r}", Case(files, ("validate",), arguments=(f"--changed-since={revision}",))


def limits() -> Iterator[tuple[str, Case]]:
    """What has no end, or an end far away."""
    env = "env { interval { column = a, grain = day, start = 2024-01-01 } }\n"
    intervals = (
        ("grain = day", "grain = month, time_zone = \"../../etc/passwd\""), ("2024-01-01", '"0001-01-01"'),
        ("grain = day", "grain = hour"), ("2024-01-01", '"9999-12-31"'), ("2024-01-01", '"-9999-01-01"'),
        ("grain = day", 'grain = day, time_zone = "/etc/localtime"'), ("grain = day", "grain = day, lookback = 999999999"),
        ("grain = day", "grain = day, lookback = -1"), ("grain = day", 'grain = "1e9 seconds"'),
        ("grain = day", f"grain = day, time_zone = {SHOWN}"), ("grain = day", "grain = day, end = 1e400"),
        ("2024-01-01", "1" * 5000), ("column = a", "column = " + SHOWN), ("grain = day", "grain = day, size = 1e18"),
    )
    for number, (old, new) in enumerate(intervals):
        hour = env.replace("2024-01-01", '"0001-01-01"') if new == "grain = hour" else env
        yield f"an interval {number}", job(
            hour.replace(old, new) + SOURCE + SINK, "validate job.conf", "explain job.conf", "state job.conf")
    settings = (
        "parallelism = 999999999999", "max_concurrent_pipelines = 1e18", "slots.max = 1e300", "slots.mode = " + SHOWN,
        "job.retry.times = 1e18", 'job.retry.interval.seconds = "Infinity"', "slot_timeout_seconds = NaN",
        'state.keep_runs = "999999999999999999999 days"', 'stream.trigger = "1e999 seconds"', "jars = \"http://h/x.jar\"",
        'jars = "../outside/*.jar"', 'jars = "file:///dev/zero"', "metrics_file = \"/dev/full\"", "metrics_file = \"../outside/m\"",
        f"metrics_file = {SHOWN}", 'stream.checkpoint = "../outside/c"', 'accelerator = "../x"', "depends_on = [[[]]]",
        f"listeners = [{{ type = http, url = \"http://u:{SECRET}@h\", headers {{ Authorization = \"Bearer {SECRET}\" }} }}]",
        f"listeners = [{{ class = {SHOWN} }}]", "listeners = 1", "listeners { url = 1 }", "shade.identifier = " + SHOWN,
        "spark.driver.extraJavaOptions = \"-agentlib:jdwp=transport=dt_socket,server=y\"", "spark { a { b = [1] } }",
        "spark.sql.catalog.x = \"a b\"", '"spark.\\u001b" = 1', "sql.dialect = \"../x\"", "chaining = 7",
        "read_limit.bytes_per_second = 1e400", "checkpoint.interval = -1", "reuse_batch_plans = {}", "owner = [1]",
    )
    for text in settings:
        yield f"env: {text[:60]}", job(f"env {{ {text} }}\n" + SOURCE + SINK, "validate job.conf", "explain job.conf")
    for pattern in ("(?:a?){64}a{64}", "(x+x+)+y", "([a-zA-Z]+)*$", "(?<!a{1,1000})b", "(a|a)*(a|a)*(a|a)*c", "[[:alpha:]",
                    "(" * 500 + ")" * 500, "a{99999}", "(?i)" * 2000, "\\Q" * 500, "(?#", "\\1", "(?P<x>a)(?P=x)+$",
                    "(?=(?=(?=a+)+)+)+b", "[\ud800-\udfff]", "(.*)*" * 20 + "x"):
        text, name = json.dumps(pattern), "a" * 60
        wide = SOURCE.replace("a = int", f"{name} = string, a = int")
        blocks = (
            f"transform {{ FieldRename {{ replacements_with_regex = [{{ replace_from = {text}, replace_to = x }}] }} }}",
            f"transform {{ TableFilter {{ table_pattern = {text} }} }}",
            f"transform {{ RegexExtract {{ source_field = {name}, regex_pattern = {text}, output_fields = [x] }} }}",
            f"transform {{ Sql {{ query = {json.dumps(f'select regexp_replace({name}, {json.dumps(pattern)}, 1) x from f')} }} }}",
            f"transform {{ DataValidator {{ field_rules = [{{ field_name = {name}, rule_type = REGEX, pattern = {text} }}] }} }}",
        )
        for block in blocks:
            yield (
                f"pattern {pattern[:20]} of {block[12:25]}",
                job(wide + block + "\n" + SINK, in_own_process="?=" in pattern),
            )
    for name, text in (
        ("lists of lists", "x = " + "[[" * 20_000 + "]]" * 20_000), ("long keys", "k" * 1_900_000 + " = 1"),
        ("dots", "a" + ".a" * 900 + " = 1\nb = ${a" + ".a" * 900 + "}"), ("self in a list", "a = [${a}, ${a}]\nb = ${a}"),
        ("optional self", "a = ${?a} ${?a}\n" * 30), ("fallbacks", "".join(f"a{n} = ${{?a{n + 1}}}\n" for n in range(5000))),
        ("a wide object in lists", "o = {" + ",".join(f"k{n} = {n}" for n in range(2000)) + "}\nx = [" + ",".join(["${o}"] * 500) + "]"),
        ("overrides of one path", "".join(f"a.b.c.d.e = {{ f{n} = ${{a.b.c.d.e}} }}\n" for n in range(200))),
        ("units", "x = 1" + "0" * 4000 + " days"), ("triple quotes", 'x = """' + '"' * 100_000), ("plus", "x += [1]\n" * 20_000),
        ("comments at the end", SOURCE + "//" * 400_000), ("carriage returns", "\r" * 300_000), ("nbsp", "\u00a0" * 300_000),
        ("bom in the middle", "a = \ufeff" * 10_000), ("unicode escapes", 'x = "' + "\\ud83d" * 20_000 + '"'),
        ("colons", "a" + ":" * 100_000), ("plus signs", "a" + "+" * 100_000 + "=1"), ("null keys", '"" = 1\n"".""."" = 2'),
        ("an include in an include", 'include "job.conf"\n' * 300), ("an object as a key", "{ a = 1 } = 2"),
    ):
        yield f"HOCON: {name}", job(text + "\n" + SOURCE + SINK, in_own_process=True)
    for name, query in (
        ("lateral views", "select a from f " + "lateral view explode(array(1)) t as x " * 500),
        ("exists", "select a from f where " + "exists (select 1 from f where " * 300 + "true" + ")" * 300),
        ("correlated", "select " + "(select max(a) from f where a > " * 200 + "1" + ")" * 200 + " x"),
        ("set operations", " intersect ".join(["select a from f"] * 1500)), ("values of structs", "select * from values " +
         ",".join("(struct(1,struct(2,3)))" for _ in range(20_000))),
        ("named windows", "select a from f window " + ",".join(f"w{n} as (partition by a)" for n in range(3000))),
        ("hints", "select /*+ " + "broadcast(f), " * 5000 + "x */ a from f"), ("a case", "select case " + "when a=1 then 1 " * 5000 +
         "end x from f"), ("nested cases", "select " + "case when a=1 then " * 500 + "1" + " end" * 500 + " x from f"),
        ("sequences", "select explode(sequence(1, 1000000000000)) x from f"), ("repeat", "select repeat('x', 2000000000) x from f"),
        ("lpad", "select lpad('x', 2000000000, 'y') x"), ("space", "select space(2147483647) x"), ("power", "select 10 ** 10 ** 10 x"),
        ("shift", "select shiftleft(1, 2147483647) x, 1e308 * 1e308 y, cast('1e999999' as decimal(38,0)) z"),
        ("numbers", "select 1e-999999999 x, 0x" + "f" * 10_000 + " y"), ("date", "select date'999999999-01-01' x, interval '9' year y"),
        ("factorial", "select factorial(20) * factorial(20) x, exp(1e9) y, pow(9, 99999) z"), ("format", "select format_string('%2000000000d', 1) x"),
        ("array_repeat", "select array_repeat(array_repeat(1, 1000000), 1000000) x"), ("quoted", 'select ' + '`a``' * 20_000 + "` from f"),
        ("unpivot", "select * from f unpivot (x for y in (" + ",".join(["a"] * 5000) + "))"), ("backslashes", "select '" + "\\\\" * 400_000 + "'"),
        ("recursive", "with recursive r as (select 1 n union all select n + 1 from r) select * from r"), ("braces", "select {" * 5000),
        ("types", "select cast(null as struct<" + ",".join(f"f{n}: array<map<string, int>>" for n in range(8000)) + ">) x"),
        ("parameters", "select :x, ?, ${a}, {{b}}, @c, %(d)s from f"), ("delimiters", "select 1;;;--\n;/*;*/;'"), ("jinja", "{% for x in range(10**9) %}{% endfor %}"),
    ):
        yield f"SQL: {name}", job(with_query(query), "validate job.conf", in_own_process=name in OWN)


OWN = (
    "repeat",
    "lpad",
    "space",
    "power",
    "array_repeat",
    "format",
    "sequences",
    "quoted",
    "backslashes",
    "exists",
    "set operations",
)
TEXT_SECRETS = (
    "mongodb+srv://me:{}@h/db", "redis://:{}@h:6379/0", "rediss://default:{}@h", "amqp://me:{}@h/v", "kafka://me:{}@h",
    "jdbc:snowflake://a.snowflakecomputing.com/?user=me&password={}&db=x", "jdbc:redshift:iam://h/db?AccessKeyID=a&SecretAccessKey={}",
    "jdbc:databricks://h:443;httpPath=x;AuthMech=3;UID=token;PWD={}", "jdbc:hive2://h:1/db;user=me;password={}",
    "jdbc:trino://h/c?user=me&password={}", "jdbc:presto://h/c?SSLKeyStorePassword={}", "jdbc:db2://h:50000/d:user=me;password={};",
    "jdbc:clickhouse://h/d?user=me&password={}", "jdbc:sap://h:30015/?user=me&password={}", "jdbc:vertica://h/d?user=me&password={}",
    "jdbc:teradata://h/USER=me,PASSWORD={}", "jdbc:informix-sqli://h:1/d:user=me;password={}", "jdbc:derby:d;user=me;password={}",
    "jdbc:mysql://address=(host=h)(user=me)(password={})/d", "jdbc:mysql:loadbalance://me:{}@h1,h2/d", "jdbc:mariadb:replication://h1,h2/d?password={}",
    "jdbc:oracle:thin:me/{}@(DESCRIPTION=(ADDRESS=(HOST=h)))", "jdbc:oracle:oci:me/{}@h", "jdbc:oracle:thin:me/{}@//h:1/s?wallet_password=x",
    "jdbc:bigquery://https://h:443;ProjectId=p;OAuthType=0;OAuthAccessToken={}", "jdbc:athena://AwsRegion=r;User=a;Password={}",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x", "Endpoint=sb://h/;SharedAccessKeyName=k;SharedAccessKey={}",
    "https://a.blob.core.windows.net/c?sv=1&sig={}&se=2", "https://s3.amazonaws.com/b/k?X-Amz-Credential=a&X-Amz-Signature={}",
    "Server=h;Database=d;User Id=me;Password={};", "Driver={{x}};Server=h;Uid=me;Pwd={};", "host=h user=me password={} dbname=d",
    "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"a\" password=\"{}\";",
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId=\"a\" clientSecret=\"{}\";",
    "Bearer {}", "Basic {}", "token {}", "ApiKey {}", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature={}",
    '{{"type": "service_account", "private_key": "{}", "client_email": "x"}}', "ftp://me:{}@h/x", "sftp://me:{}@h:22/x", "smb://me:{}@h/x",
    "ldap://cn=a:{}@h", "wss://me:{}@h/x", "s3://key:{}@bucket/x", "s3a://key:{}@bucket/x", "abfss://c@a.dfs.core.windows.net/x?sas={}",
    "git+https://me:{}@h/x.git", "https://{}@github.com/x", "https://oauth2:{}@gitlab.com/x", "jdbc:sqlite:x.db?cipher=a&key={}",
)
STATEMENT_SECRETS = (
    "create user x identified by '{}'", "alter role x with password '{}'", "create secret (type s3, key_id 'a', secret '{}')",
    "copy t from 's3://b' credentials 'aws_access_key_id=a;aws_secret_access_key={}'", "set session authorization x password '{}'",
    "create user mapping for x server y options (user 'a', password '{}')", "attach 'host=h password={}' as d (type postgres)",
    "grant all on x to y identified by \"{}\"", "select dblink_connect('host=h user=a password={}')", "alter user x password = '{}'",
)


def secrets() -> Iterator[tuple[str, Case]]:
    """A secret in each text that a driver knows, in several options; also with an error next to it."""
    commands = ("validate job.conf", "explain job.conf", "explain --format json job.conf", "validate --format sarif job.conf",
                "fmt --diff job.conf", "lineage --format openlineage job.conf", "graph job.conf -o page.html")
    for number, text in enumerate(TEXT_SECRETS):
        value = json.dumps(text.format(SECRET))
        places = (
            SOURCE + f"sink {{ Jdbc {{ url = {value}, table = t }} }}\n",
            SOURCE + f"sink {{ Http {{ url = \"http://h/x\", headers {{ X-Custom = {value} }}, params {{ p = {value} }} }} }}\n",
            SOURCE + f"sink {{ Kafka {{ bootstrap.servers = \"h:1\", topic = t, kafka.config {{ sasl.jaas.config = {value} }} }} }}\n",
            f"env {{ spark.my.setting = {value} }}\n" + SOURCE + f"sink {{ Spark {{ format = jdbc, options {{ url = {value} }} }} }}\n",
        )
        which = places[number % len(places)]
        if text.startswith("jdbc:"):
            which = places[0]
        if not text.split()[0].endswith(("token", "ApiKey")):
            yield f"the secret of {text[:40]}", job(which, *commands)
            yield f"the secret of {text[:40]} in a wrong option", job(
                SOURCE + f"sink {{ Console {{ nope = {value}, format = {value} }} }}\n", *commands[:4])
        yield f"the secret of {text[:40]} under a name that says so", job(
            SOURCE + f"sink {{ Console {{ api_token = {value} }} }}\n", *commands[:2])
    for text in STATEMENT_SECRETS:
        value = json.dumps(text.format(SECRET))
        for option in ("custom_sql", "pre_sql", "post_sql", "query"):
            yield f"{option}: {text[:40]}", job(
                SOURCE + 'sink { Jdbc { url = "jdbc:postgresql://h/d", table = t, data_save_mode = CUSTOM_PROCESSING, '
                f"{option} = {value} }} }}\n", *commands[:4])
    for given in (("-i", f"password={SECRET}"), ("-i", f"x=jdbc:postgresql://u:{SECRET}@h/d"), ("--vars", "ci.vars")):
        files = {
            "job.conf": SOURCE.replace("row.num = 1", 'uid = "u${password:x}"') + SINK,
            "ci.vars": f"password={SECRET}\n",
        }
        yield f"given by {given}", Case(files, commands[:2], arguments=given)
    for name, target in (("what is outside", "{outside}/secret.conf"), ("a device", "/dev/zero"), ("half a text", "")):
        link = {"ci.vars": target} if target else {}
        files = {"job.conf": SOURCE + SINK} | ({} if link else {"ci.vars": b"\xff\xfe=1"})
        yield (
            f"variables of {name}",
            Case(files, commands[:1], link, arguments=("--vars", "ci.vars"), in_own_process=True),
        )
