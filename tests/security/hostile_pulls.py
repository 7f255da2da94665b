"""More pull requests of an outside engineer: those against what came later, such as change capture, stores of documents,
groups, intervals and the cache, and against git, Python and the processes that a command starts."""

# fmt: off
# ruff: noqa: E501 (a case is a line, which says what it tries)

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.security.hostile_jobs import SINK, SOURCE, with_options
from tests.security.outsider_cases import ESC, SECRET, SECRET_NAME, SHOWN, Case, job

SHOW = ("validate job.conf", "explain job.conf", "explain --format json job.conf", "lineage --format openlineage job.conf",
        "validate --format sarif job.conf", "explain --format mermaid --columns job.conf", "schema show job.conf",
        "graph job.conf -o page.html", "package job.conf -o app.zip", "fmt --diff job.conf", "validate --format github job.conf")
PROJECT = ("validate", "plan", "plan --format markdown", "plan --format json", "ls", "ls --output json", "validate --format github",
           "explain jobs/a.conf", "graph jobs -o page.html", "schema diff jobs", "fmt --diff .", "clone --from prod --dry-run",
           "state jobs/a.conf", "explain jobs/a.conf --defer prod", "lineage jobs/a.conf", "package jobs/a.conf -o app.zip")
A = "jobs/a.conf"
SCHEMA = "schema { fields { a = int, b = string } }"
MARK = """import os
with open(os.path.join("{outside}", "written"), "w") as file:
    file.write("x")
"""


def block(kind: str, plugin: str, options: str, *commands: str) -> Case:
    if kind == "source":
        return job(f"source {{ {plugin} {{ {options} }} }}\n{SINK}", *(commands or SHOW))
    return job(f"{SOURCE}sink {{ {plugin} {{ {options} }} }}\n", *(commands or SHOW))


def code() -> Iterator[tuple[str, Case]]:
    """Files in the checkout that a program would execute: by Python, git, Java or a shell."""
    modules = ("json", "re", "multiprocessing", "random", "sitecustomize", "usercustomize", "engine/__init__", "catalog/__init__",
               "connectors/__init__", "sql/__init__", "pyspark/__init__", "pyarrow/__init__", "sqlglot/__init__", "grpc_tools/protoc",
               "numpy", "google/protobuf/__init__", "fastavro", "encodings/idna", "openpyxl", "great_expectations", "penstock")
    planted = {f"{name}.py": MARK for name in modules} | {f"jobs/{name}.py": MARK for name in modules[:4]}
    planted |= {f"{name.split('/')[0]}/__init__.py": MARK for name in modules if "/" in name}
    proto = with_options("Kafka", **{"topic": "t", "bootstrap.servers": "h:1", "format": "protobuf", "protobuf_message_name": "M",
                                     "protobuf_schema": 'syntax = "proto3"; message M { int32 a = 1; }'})
    files = {**planted, A: SOURCE + SINK, "job.conf": proto, "penstock.conf": "environments { dev { default = true }, prod { } }\n",
             "evil-1.0.dist-info/METADATA": "Name: evil\nVersion: 1.0\n", "setup.cfg": "[options]\n",
             "evil-1.0.dist-info/entry_points.txt": "[penstock.connectors]\nEvil = evil:connector\n[console_scripts]\nx = evil:x\n",
             "evil.py": MARK, "conftest.py": MARK, "pyvenv.cfg": "home = .\n", ".env": f"X={SECRET}\n", ".pth": "import evil\n"}
    for command in (*PROJECT, "validate job.conf", "validate --processes 2", "test jobs --list", "connectors", "connectors Kafka",
                    "init new", "runs", "migrate job.conf", "convert jobs/a.conf", "plan --against=HEAD", "schema diff jobs --against=HEAD"):
        yield f"modules in the checkout and {command}", Case(files, (command,), make=_repository, in_own_process=True)
    for where in ("", "jobs"):
        for command in ("plan --against=HEAD", "ls -s state:modified --against=HEAD", "schema diff jobs --against=HEAD",
                        "validate --changed-since=HEAD"):
            yield f"a bare repository in {where or 'the root'} and {command}", Case(
                {"penstock.conf": "", A: SOURCE + SINK}, (command,),
                make=lambda folder, outside, where=where: _bare(folder / where, outside), in_own_process=True)
    attributes = "* text=auto filter=evil diff=evil export-subst ident merge=evil\n"
    for command in ("plan --against=HEAD", "schema diff jobs --against=HEAD", "validate --changed-since=HEAD"):
        yield f"attributes of git and {command}", Case(
            {"penstock.conf": "", A: SOURCE + SINK + "# $Format:%an %ae$\n", ".gitattributes": attributes,
             ".gitconfig": "[core]\n\tfsmonitor = touch {outside}/written\n", ".gitmodules":
             '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% {outside}/written\n\tupdate = !touch {outside}/written\n'},
            (command,), make=_repository, in_own_process=True)
        yield f"names that git quotes and {command}", Case(
            {"penstock.conf": "", A: SOURCE + SINK, 'jobs/"q".conf': SOURCE + SINK, "jobs/n\nl.conf": SOURCE + SINK, "jobs/é.conf": SOURCE + SINK,
             "jobs/-o.conf": SOURCE + SINK, f"jobs/{ESC.replace('/', '')}.conf": SOURCE + SINK, "jobs/ .conf": SOURCE + SINK},
            (command,), make=_repository)
    for name in ("log4j2.properties", "hive-site.xml", "spark-defaults.conf", ".sparkrc", "java", "git", "penstock", "sh"):
        yield f"a file {name}", Case({name: MARK, A: SOURCE + SINK, "penstock.conf": ""}, ("validate", "plan", "ls"))


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *words], cwd=folder, check=True, capture_output=True)


def _repository(folder: Path, _: Path) -> None:
    _git(folder, "init", "-q")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-qm", "x")


def _bare(folder: Path, outside: Path) -> None:
    """What a checkout may hold: a repository without a work tree, whose settings run programs."""
    evil = f"touch {outside}/written"
    for path in ("objects/info", "refs/heads", "info"):
        (folder / path).mkdir(parents=True, exist_ok=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(
        f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "{evil}; false"\n\tpager = "{evil}"\n'
        f'\teditor = "{evil}"\n\tsshCommand = "{evil}"\n\thooksPath = hooks\n\talternateRefsCommand = "{evil}"\n'
        f'[diff]\n\texternal = "{evil}"\n[diff "x"]\n\ttextconv = "{evil}"\n[filter "x"]\n\tsmudge = "{evil}"\n\tclean = "{evil}"\n'
        f'[tar "tar"]\n\tcommand = "{evil}"\n[alias]\n\tarchive = "!{evil}"\n[gpg]\n\tprogram = "{evil}"\n')
    (folder / ".gitattributes").write_text("* diff=x filter=x\n")
    (folder / "index").write_bytes(b"")


def captures() -> Iterator[tuple[str, Case]]:
    """Change capture, stores of documents, and the sink of a web service."""
    login = 'username = u, password = "' + SECRET + '"'
    for plugin, scheme, table in (("Postgres-CDC", "postgresql", "public.t"), ("MySQL-CDC", "mysql", "d.t")):
        for url in (f"jdbc:{scheme}://u:{SECRET}@h/d", f"jdbc:{scheme}://h/d?password={SECRET}&x=(y", f"jdbc:{scheme}://h:{SECRET}/d",
                    f"jdbc:{scheme}://[{SECRET}/d", f"{scheme}://u:{SECRET}@h/d", f"jdbc:{scheme}://h/d?user=u;password={SECRET}",
                    f"jdbc:{scheme}://h/d?sslpassword={SECRET}", f"jdbc:nope://u:{SECRET}@h/d", f"jdbc:{scheme}://h:99999999/d?pwd={SECRET}"):
            yield f"{plugin} at {url}", block("source", plugin, f'url = {json.dumps(url)}, table-names = ["{table}"], {SCHEMA}')
        for option in ("slot.name", "publication.name", "server-id", "startup.mode", "server-time-zone", "decoding.plugin.name", "table-pattern",
                       "database-pattern", "debezium", "changes", "max_changes", "exactly_once", "snapshot.split.size"):
            for value in (SHOWN, f"${{{SECRET_NAME}}}", '"a\'; drop table x; --"', "1e400", '"(a+)+$"', "[[[]]]", "{ a = { b = 1 } }"):
                yield f"{plugin}.{option} = {value[:30]}", block(
                    "source", plugin, f'url = "jdbc:{scheme}://h/d", table-names = ["{table}"], {SCHEMA}, "{option}" = {value}, {login}', *SHOW[:4])
        for name in (SHOWN, '"../x.t"', '"a"', '""', '"a.b.c.d"', '"d.t; drop"', json.dumps("d." + "t" * 5000), '"d.*"', '"d.\\u0000"', '"d.${x:${y}}"'):
            yield f"{plugin} of {name[:20]}", block("source", plugin, f'url = "jdbc:{scheme}://h/d", table-names = [{name}], {SCHEMA}, {login}', *SHOW[:5])
    for plugin in ("Elasticsearch", "OpenSearch", "Easysearch"):
        for host in (f"http://u:{SECRET}@h:9200", f"https://{SECRET}@h", f"http://h/?token={SECRET}", f"u:{SECRET}@h", f"file://u:{SECRET}@/etc", f"http://[{SECRET}"):
            for kind in ("source", "sink"):
                yield f"{kind} {plugin} at {host}", block(kind, plugin, f"hosts = [{json.dumps(host)}], index = i, {SCHEMA if kind == 'source' else ''}")
        for index in ("../_cluster/settings", "_all", "*", "a,b", "a?b", "a#b", ESC, "-x", "a/_doc/1", "%2e%2e%2f_all", "A", "", ".", "é" * 200, "<a{now/d}>"):
            yield f"{plugin} of {index[:20]!r}", block("source", plugin, f'hosts = ["http://h"], index = {json.dumps(index)}, {SCHEMA}', *SHOW[:4])
            yield f"{plugin} to {index[:20]!r}", block("sink", plugin, f'hosts = ["http://h"], index = {json.dumps(index)}', *SHOW[:4])
        for option in ("query", "source", "tls_keystore_path", "tls_truststore_path", "index_list", "pit_keep_alive", "scroll_time", "api_key"):
            for value in ("{ a = " * 500 + "1" + " }" * 500, SHOWN, '"{outside}/secret.conf"', f"${{{SECRET_NAME}}}"):
                yield f"{plugin}.{option} = {value[:20]}", block("source", plugin, f'hosts = ["http://h"], index = i, {SCHEMA}, {option} = {value}', *SHOW[:3])
    for uri in (f"mongodb://u:{SECRET}@h/d", f"mongodb://u:{SECRET}@h1,h2/d?authMechanismProperties=AWS_SESSION_TOKEN:{SECRET}", f"mongodb+srv://u:{SECRET}@h",
                f"mongodb://h/?tlsCertificateKeyFilePassword={SECRET}", f"mongodb:/u:{SECRET}@h", f"mongodb://u:{SECRET}", f"mongodb://u%3A{SECRET}@h"):
        for kind in ("source", "sink"):
            yield f"{kind} MongoDB at {uri}", block(kind, "MongoDB", f"uri = {json.dumps(uri)}, database = d, collection = c, {SCHEMA if kind == 'source' else ''}")
    for option in ("match.query", "match.projection", "collection", "database", "primary-key", "flat.sync-string", "upsert-enable"):
        for value in (SHOWN, '"{ $where: \\"while(1){}\\" }"', json.dumps('{"a":' * 3000), '"$cmd.sys"', '"a\\u0000b"', json.dumps("[" * 50_000), '"{ \\"$oid\\": }"', "{ a { b = 1 } }"):
            yield f"MongoDB.{option} = {value[:20]}", block("source", "MongoDB", f'uri = "mongodb://h", database = d, collection = c, {SCHEMA}, "{option}" = {value}', *SHOW[:3])
    for option in ("keys", "key", "host", "auth", "user", "nodes", "mode", "db_num", "hash_key_parse_mode", "read_key_enabled", "expire", "custom_key"):
        for value in (SHOWN, f"${{{SECRET_NAME}}}", json.dumps(f"redis://:{SECRET}@h"), '"*"', '"\\u0000"', '"${a:${b}}"', "[1, [2]]", "-1", json.dumps("[" * 5000)):
            if option == "auth" and "redis:" in value:
                continue
            yield f"Redis.{option} = {value[:20]}", block("source", "Redis", f"host = h, port = 1, data_type = string, keys = k, format = json, {SCHEMA}, {option} = {value}", *SHOW[:3])
            yield f"Redis to {option} = {value[:20]}", block("sink", "Redis", f"host = h, port = 1, data_type = string, key = k, {option} = {value}", *SHOW[:3])
    for option in ("host", "sql", "table_path", "database", "clickhouse.config", "password", "username", "server_time_zone", "split_mode", "sharding_key"):
        for value in (SHOWN, json.dumps(f"http://u:{SECRET}@h:1"), json.dumps(f"select * from url('http://u:{SECRET}@h')"), f"{{ password = {json.dumps(SECRET)} }}", f"${{{SECRET_NAME}}}"):
            if option in ("sql", "table_path") and "http" in value:
                continue
            yield f"Clickhouse.{option} = {value[:20]}", block("source", "Clickhouse", f'host = "h:1", table_path = "d.t", {SCHEMA}, "{option}" = {value}', *SHOW[:4])
            yield f"Clickhouse to {option} = {value[:20]}", block("sink", "Clickhouse", f'host = "h:1", table = t, primary_key = [a], "{option}" = {value}', *SHOW[:4])
    for option in ("url", "headers", "params", "body", "method", "batch_size", "request_interval_ms", "poll_interval_millis", "pageing", "json_field"):
        for value in (SHOWN, json.dumps(f"http://u:{SECRET}@h/x?sig={SECRET}"), '{ "X-A" = "b\\r\\nHost: evil" }', '{ "X\\r\\nA: b" = c }', '{ "X-A" = ' + SHOWN + " }",
                      f'{{ Authorization = "Bearer {SECRET}" }}', f'{{ Cookie = "session={SECRET}" }}', '"file:///etc/passwd"', '"gopher://h/x"', '"http://h\\r\\nX: y/"'):
            for kind in ("source", "sink"):
                if option == "body" and "sig=" in value:
                    continue
                yield f"{kind} Http.{option} = {value[:30]}", block(kind, "Http", f'url = "http://h/x", {"format = json, " + SCHEMA if kind == "source" else ""}, "{option}" = {value}', *SHOW[:3])


def projects() -> Iterator[tuple[str, Case]]:
    """Groups, intervals, environments, clones, contracts, selections."""
    base = "environments { dev { default = true }, prod { } }\n"
    jobs = {A: SOURCE + "sink { LocalFile { path = out, file_format_type = csv } }\n", "jobs/b.conf": 'source { LocalFile { plugin_output = x, path = out, file_format_type = csv, '
            + SCHEMA + " } }\n" + SINK}
    for number, text in enumerate((
        f"groups {{ {SHOWN} {{ select = {SHOWN}, publish = together }} }}", "groups { g { select = \"selector:g\", publish = together } }", "groups { g = 1 }",
        'groups { g { select = "' + "+" * 5000 + 'a", publish = together } }', "groups { g { select = \"*\", publish = nope } }", "groups = [[]]",
        'groups { g { select = "name:' + "*a" * 2000 + 'b", publish = together } }', "groups { g { select = [\"*\", [\"*\"]], publish = together } }",
        "groups { " + " ".join(f'g{n} {{ select = "*", publish = together }}' for n in range(500)) + " }",
        'environments { prod { state_dir = "/etc" } }', 'environments { prod { state_dir = "../outside" } }', 'environments { prod { state_dir = "../outside/secret.conf" } }',
        'environments { prod { variables { x = ${y} } } }', 'environments { prod { jobs = ["../outside"] } }', 'environments { prod { include "../outside/secret.conf" } }',
        'environments { prod { connections { c { url_file = "../outside/secret.conf" } } } }', f'environments {{ prod {{ name = {SHOWN} }} }}',
        f'environments {{ prod {{ state_dir = "s3a://k:{SECRET}@b/x" }} }}', f'state_dir = "jdbc:postgresql://u:{SECRET}@h/d"', f'state_dir = "sftp://u:{SECRET}@h/d"',
        f"spark {{ hadoop.fs.s3a.secret.key = {json.dumps(SECRET)} }}", f'variables {{ token = {json.dumps(SECRET)}, x = "a" }}', f"variables {{ {SECRET_NAME} = x }}",
        'defaults { source { Jdbc { password_file = "../outside/secret.conf" } } }', 'defaults { env { jars = "../outside/secret.conf" } }', 'defaults { sink { Console { "' + "x" * 5000 + '" = 1 } } }',
        'defaults { env { job.name = "../../x" } }', 'folders { "../outside" { tags = [x] } }', 'folders { "/" { owner = x } }', 'folders { "*a*a*a*a*a*a*a*b" { owner = x } }',
        'selectors { s { union = ["path:../outside/*", "path:/etc/*"] } }', 'selectors { s { intersection = ' + "[" * 2000 + "]" * 2000 + " } }", 'selectors { s { exclude = "s" } }',
        'selectors { s = "state:modified+' + "1" * 5000 + '" }', 'jobs = ["jobs/../../outside"]', 'jobs = ["."]\nname = "' + "n" * 100_000 + '"', 'jobs = ["jobs", "./jobs", "jobs/."]',
        'jobs = ["/proc/self/root"]', 'jobs = ["/proc/self/cwd/jobs"]', 'jobs = ["j*"]', 'name = "../../x"', 'name = ""', 'version = "\\ud800"', "connections { c { connection = c } }",
        "connections { a { connection = b }, b { connection = a } }", f'connections {{ c {{ connector = {SHOWN}, x = 1 }} }}',
        f'openlineage {{ url = "http://u:{SECRET}@h" }}', f'env {{ listeners = [{{ type = http, url = "http://u:{SECRET}@h" }}] }}',
    )):
        own = base + text + "\n"
        yield f"a project {number}: {text[:60]}", Case({"penstock.conf": own, **jobs}, (*PROJECT, "ls -s s", "ls --selector s", "validate --env prod", "plan --env prod", "explain jobs/a.conf --env prod"))
    for word in ("*a" * 1500 + "b", "path:" + "**/" * 800 + "x", "tag:" + "[a-" * 50, "(" * 3000, "+" * 3000 + "a", "a" + "+" * 3000, "1" * 5000 + "+a", "@" * 100 + "a", "a,b," * 3000, "state:x", "state:" + ESC,
                 "result:../..", "selector:../x", "source:" + ESC, "env:x", "path:/etc/*", "path:../outside/*", "file:../outside/secret.conf", "config.x.y:z", "a\x00b", "\udcff", "-a", "{a,b}" * 26, "name:" + "?" * 5000):
        yield f"the selection {word[:30]!r}", Case({"penstock.conf": base, **jobs}, (), arguments=("ls", "-s", word), in_own_process=len(word) > 999)
        yield f"the exclusion {word[:30]!r}", Case({"penstock.conf": base, **jobs}, (), arguments=("ls", "--exclude", word))
    for words in (("validate", "--env", "../../outside"), ("plan", "--env", ESC), ("ls", "--env", ""), ("explain", A, "--defer", "../outside"), ("explain", A, "--defer", ESC), ("plan", "--state-dir", "../outside"),
                  ("ls", "--state", "../outside/secret.conf", "-s", "state:modified"), ("explain", A, "--only", ESC), ("explain", A, "--except", "(a+)+$"), ("lineage", A, "--column", ESC), ("lineage", A, "--column", "a" * 9000),
                  ("validate", "--disable", ESC), ("validate", "-i", f"{ESC}={SECRET}"), ("validate", "-i", "x"), ("validate", f"-ipassword={SECRET}"), ("validate", f"--variable=api_key={SECRET}", "--nope"),
                  ("explain", A, "--state-dir", f"s3a://k:{SECRET}@b/x"), ("runs", "--state-dir", f"s3a://k:{SECRET}@b/x", "--nope"), ("graph", A, "-o", "link.html"), ("graph", A, "-o", "/dev/full"), ("package", A, "-o", "link.zip"),
                  ("graph", A, "-o", "dir/page.html"), ("migrate", A, "-o", "link.conf"), ("convert", A, "-o", "link.conf"), ("init", "dir"), ("init", "dangling"), ("expectations", "x", "--html", "link.html"),
                  ("convert", A, "-o", "dangling.conf"), ("graph", A, "-o", "dangling.html"), ("package", A, "-o", "dangling.zip"), ("migrate", A, "-o", "dangling.conf"), ("graph", A, "-o", "hop.html"), ("explain", ESC), ("validate", "x" * 5000 + ".conf"), ("validate", "a\x00b")):
        yield f"the words {' '.join(words)[:60]!r}", Case(
            {"penstock.conf": base, **jobs}, (), {"link.html": "{outside}/secret.conf", "link.zip": "{outside}/secret.conf", "link.conf": "{outside}/secret.conf", "dir": "{outside}", "dangling.html": "{outside}/new",
             "dangling.zip": "{outside}/new", "dangling.conf": "{outside}/new", "dangling/.gitignore": "{outside}/new", "dangling/jobs": "{outside}", "hop.html": "dangling.html"}, arguments=words)
    for text in ("interval { column = a, grain = hour, start = \"0001-01-01\", batch = 1 }", "interval { column = a, start = \"2024-01-01\", timezone = \"../../../etc/passwd\" }", 'interval { column = a, start = "2024-01-01", timezone = "/proc/self/environ" }',
                 f'interval {{ column = a, start = "2024-01-01", timezone = {SHOWN} }}', 'interval { column = a, start = "2024-01-01", inputs { x = "{ a" } }', "interval { column = a, start = \"2024-01-01\", concurrency = 1e9 }", "interval = 1",
                 f'interval {{ column = a, start = "2024-01-01", inputs {{ {SHOWN} = {SHOWN} }} }}', 'interval { column = a, start = "2024-01-01T00:00:00+99:99" }', 'interval { column = a, start = "2024-13-45" }', "contract { enforced = true, columns = [[[]]] }",
                 f'expect = [{{ column = {SHOWN}, rule = {SHOWN} }}]', f'freshness {{ warn = {SHOWN} }}', f'meta {{ {SHOWN} = {SHOWN}, token = {json.dumps(SECRET)} }}', f'description = "{SHOWN[1:-1]}", doc_url = "javascript:alert(1)"'):
        yield f"env: {text[:50]}", Case({"penstock.conf": base, A: f"env {{ {text} }}\n{SOURCE}{SINK}"}, PROJECT, in_own_process="0001" in text)


def surroundings() -> Iterator[tuple[str, Case]]:
    """What lies in the folder: links that turn in circles, sparse files, deep folders, odd kinds of files, states."""
    def sparse(name: str, size: int):
        def make(folder: Path, _: Path) -> None:
            with (folder / name).open("ab") as file:
                file.truncate(size)
        return make

    def deep(folder: Path, _: Path) -> None:
        path = folder / "jobs"
        for _n in range(300):
            path = path / "dddddd"
            path.mkdir()
        (path / "x.conf").write_text(SOURCE + SINK)

    def circles(folder: Path, _: Path) -> None:
        for name in ("a", "b", "c"):
            (folder / name).symlink_to(".")
            (folder / "jobs" / name).symlink_to("..")

    def many(folder: Path, _: Path) -> None:
        (folder / "many").mkdir()
        for n in range(30_000):
            os.close(os.open(folder / "many" / f"x{n}.txt", os.O_CREAT | os.O_WRONLY))

    def unreadable(folder: Path, _: Path) -> None:
        (folder / "jobs/x.conf").write_text(SOURCE)
        (folder / "jobs/x.conf").chmod(0)

    def sockets(folder: Path, _: Path) -> None:
        import socket
        here = os.getcwd()
        os.chdir(folder)
        for name in ("jobs/s.conf", "penstock.lock", "in.csv"):
            server = socket.socket(socket.AF_UNIX)
            server.bind(name)
            server.close()
        os.chdir(here)

    for name, make in (("circles", circles), ("deep folders", deep), ("many files", many), ("a file that cannot be read", unreadable), ("sockets", sockets),
                       ("a sparse job", sparse("jobs/b.conf", 1 << 40)), ("a sparse lock", sparse("penstock.lock", 1 << 40)), ("a sparse project", sparse("penstock.conf", 1 << 40)),
                       ("a sparse test", sparse("jobs/a.test.conf", 1 << 40)), ("a sparse SQL job", sparse("jobs/c.sql", 1 << 40))):
        files = {A: SOURCE + SINK} | ({} if name == "a sparse project" else {"penstock.conf": ""})
        for command in ("validate .", "plan", "ls", "fmt --check .", "package jobs/a.conf -o app.zip", "schema diff .", "test . --list", "graph . -o page.html"):
            yield f"{name} and {command}", Case(files, (command,), make=make, in_own_process=True)
    for format in ("csv", "json", "text", "xml", "parquet", "orc", "avro", "excel"):
        reads = with_options("LocalFile", path="x.dat", file_format_type=format, csv_use_header_line=True)
        yield f"a sparse file of {format}", Case({"job.conf": reads}, SHOW[:2], make=sparse("x.dat", 1 << 40), in_own_process=True)
        yield f"a file of {format} that ends like one", Case({"job.conf": reads, "x.dat": b"PAR1" + b"\0" * 3_000_000 + (2_999_990).to_bytes(4, "little") + b"PAR1"}, SHOW[:2], in_own_process=True)
    jobs = {A: SOURCE + "sink { LocalFile { path = out, file_format_type = csv } }\n", "penstock.conf": "environments { dev { default = true }, prod { } }\n"}
    pid = str(os.getpid())
    for state in (".penstock", ".penstock/dev", ".penstock/prod"):
        for name, content in (("layout.json", "[" * 9000), ("layout.json", '{"version": 1e400}'), ("owner", pid), ("lock", ""), ("project.json", '{"jobs": {"../../x": {}}}'), ("ledger/../x", "1"), ("intervals/a.json", "[" * 9000),
                              ("runs/../../x.json", "{"), ("ledger/r.json", json.dumps({"run_id": "../../outside", "pid": 1, "host": "h"})), ("intervals/a.json", json.dumps({"done": [["0001-01-01", "9999-12-31"]] * 3000}))):
            yield f"the state {state}/{name} {content[:12]!r}", Case({**jobs, f"{state}/{name}": content}, (*PROJECT, "runs", "runs --format json", "ls -s result:error", "expectations r"))
        for name in ("", "/ledger", "/intervals", "/project.json", "/layout.json", "/runs"):
            yield f"the state {state}{name} is a link", Case(jobs, (*PROJECT, "runs", "expectations r"), {f"{state}{name}": "{outside}"})
            yield f"the state {state}{name} is a link to a file", Case(jobs, (*PROJECT, "runs", "expectations r"), {f"{state}{name}": "{outside}/secret.conf"})
            yield f"the state {state}{name} is a device", Case(jobs, ("plan", "ls -s state:modified", "runs", "state jobs/a.conf"), {f"{state}{name}": "/dev/zero"}, in_own_process=True)
            yield f"the state {state}{name} is a pipe", Case(jobs, ("plan", "ls -s state:modified", "runs", "state jobs/a.conf"),
                make=lambda folder, _, at=f"{state}{name}": ((folder / at).parent.mkdir(parents=True, exist_ok=True), os.mkfifo(folder / at)), in_own_process=True)
    lock = '{"sources": {"jobs/a.conf": {"f": '
    for text in ("[" * 90_000, lock + "[" * 9000, '{"version": 1e400}', lock + '{"columns": [{"name": "a", "type": "' + "array<" * 9000 + '"}]}}}', lock + json.dumps({"columns": [{"name": ESC, "type": ESC}]}) + "}}",
                 "a = int\n" * 30_000, f"{ESC}\n" * 50, "[jobs/a.conf f]\n" * 3000, "\ufeff", "\x00" * 500, "---\n&a [*a]\n", "# " + "x" * 1_900_000):
        yield f"a lock {text[:20]!r}", Case({**jobs, "penstock.lock": text, "jobs/penstock.lock": text}, ("validate", "schema diff jobs", "schema show jobs/a.conf", "explain jobs/a.conf", "plan", "package jobs/a.conf -o app.zip"))
    for text in ("tests = " + "[" * 9000, f"tests = [{{ name = {SHOWN}, given {{ {SHOWN} = [] }}, expect {{ {SHOWN} = [] }} }}]", 'include "../../outside/secret.conf"', "tests = [{ job = \"../../outside/secret.conf\" }]",
                 f"tests = [{{ name = ${{{SECRET_NAME}}} }}]", "tests = [{ given { f { path = \"../../outside/secret.conf\" } } }]", "TEST 'x';\n" * 9000, "\x00", "tests = " + "1" * 9000):
        for suffix in ("test.conf", "test.sql"):
            yield f"a test {suffix} {text[:30]!r}", Case({**jobs, f"jobs/a.{suffix}": text}, ("test jobs --list", "validate", "fmt --diff jobs", "ls", "ls --output json"))


def migrations() -> Iterator[tuple[str, Case]]:
    """Jobs of other programs, to be turned into ours."""
    fills = (ESC, '" } sink { Console { } } source { "', "${x}\n}", "\\", '"""', "#", "//", "'; drop table x; --", "${" + SECRET_NAME + "}", "include \"../outside/secret.conf\"", "\ud800", "a\x00b", "{outside}/secret.conf")
    for fill in fills:
        text = json.dumps(fill)
        for files in (
            {"job.conf": f"env {{ job.name = {text} }}\nsource {{ FakeSource {{ result_table_name = {text}, schema {{ fields {{ {text} = int }} }} }} }}\nsink {{ LocalFile {{ source_table_name = {text}, path = {text}, nope = {text} }} }}\n"},
            {"job.conf": f"source {{ Jdbc {{ url = \"jdbc:postgresql://u:{SECRET}@h/d\", query = {text}, partition_column = {text} }} }}\nsink {{ {text} {{ x = {text} }} }}\n"},
            {"job.json": json.dumps({"env": {fill: fill}, "source": [{"plugin_name": fill, fill: fill}], "sink": [{"plugin_name": "Console", fill: [fill]}]})},
            {"job.sql": f"/* config\nenv {{ job.name = {text} }}\n*/\nCREATE TABLE a (x INT) WITH ('connector' = 'FakeSource', 'x' = '{fill.replace(chr(39), chr(39) * 2)}');\nINSERT INTO b SELECT x AS `{fill.replace('`', '``')}` FROM a;\n"},
        ):
            name = next(iter(files))
            yield f"{name} of {fill[:20]!r} {len(str(files))}", Case(files, (f"migrate {name}", f"migrate {name} --sql spark", f"migrate {name} --sql seatunnel", f"migrate {name} --format sarif", f"convert {name}", f"convert {name} -o new.conf",
                f"validate --compat seatunnel {name}", f"explain --compat seatunnel {name}", f"fmt --diff {name}", f"package {name} -o app.zip"))
    for name, content in (("a pipe", None), ("deep", "a = " + "[" * 50_000), ("JSON", '{"a":' * 50_000), ("sql", "CREATE TABLE " * 30_000), ("doubling", "a = xx\n" + "a = ${a} ${a}\n" * 40), ("large", "x" * 20_000_000), ("zeros", b"\0" * 3_000_000), ("bytes", bytes(range(256)) * 500)):
        for suffix in ("conf", "json", "sql"):
            for command in (f"migrate job.{suffix}", f"convert job.{suffix}", f"fmt --diff job.{suffix}"):
                made = Case({}, (command,), make=lambda folder, _, s=suffix: os.mkfifo(folder / f"job.{s}"), in_own_process=True) if content is None else Case({f"job.{suffix}": content}, (command,), in_own_process=True)
                yield f"{command} of {name}", made


def more_secrets() -> Iterator[tuple[str, Case]]:
    """Secrets where HOCON cuts them, in comments, in keys, in units, and next to errors."""
    shapes = (
        "url = jdbc:postgresql://me:ab,{}@h/d", "url = jdbc:postgresql://h/d?password=ab,{}", "url = jdbc:postgresql://me:a#{}@h/d", "url = jdbc:postgresql://me:a//{}@h/d", "url = jdbc:postgresql://me:a+={}@h/d",
        "url = jdbc:postgresql://me:a b {}@h/d", "url = jdbc:postgresql://me:a[{}]@h/d", "url = jdbc:postgresql://me:a?{}@h/d", "url = jdbc:postgresql://me:a!{}@h/d", "url = jdbc:postgresql://me:a&{}@h/d", "url = jdbc:postgresql://me:a^{}@h/d",
        'url = "jdbc:postgresql://me:a\\u002c{}@h/d"', 'url = """jdbc:postgresql://me:a"{}@h/d"""', "url = jdbc:postgresql://me:a${{x:,}}{}@h/d", "url = jdbc:postgresql://me:a={}@h/d", "url = jdbc:postgresql://me:a:{}@h/d", "url = jdbc:postgresql://me:a}}{}@h/d",
        "url = jdbc:postgresql://me:a\"{}@h/d", "url = jdbc:postgresql://me:a'{}@h/d", "url = jdbc:postgresql://me:a`{}@h/d", "url = jdbc:postgresql://me:a@{}@h/d", "url = jdbc:mysql://me:ab,{}@h/d", "url = jdbc:oracle:thin:me/ab,{}@h", "url = jdbc:sqlserver://h;password=ab,{};x=y",
        "password = ab,{}", "password = ab {}", "password = ab#{}", "password = [{}]", "password {{ a = {} }}", "password = \"{}", "password : {}", "password += {}", "pasword = {}", "passwort = {}", "PASSWORD = {}", "db.password = {}", "\"password \" = {}", "user.pwd = {}",
        "# password = {}", "// {} is the password", "password = {} # {}", "accessToken = {}", "client-secret = {}", "AWS_SECRET_ACCESS_KEY = {}", "sas_token = {}", "private_key = {}", "passphrase = {}", "credentials = {}", "auth = {}", "bearer = {}", "api.key = {}", "apikey = {}", "secretKey = {}",
        "jwt = {}", "session_token = {}", "connection_string = \"AccountKey={}\"", "properties {{ password = {} }}", "properties {{ javax.net.ssl.keyStorePassword = {} }}", "properties {{ sslpassword = {} }}",
    )
    raw = "pl4ntedsecret9c1e"
    for shape in shapes:
        line = shape.format(*[raw] * 2)
        for place, text in (("Jdbc", f"{SOURCE}sink {{ Jdbc {{\n{line}\n table = t }} }}\n"), ("Console", f"{SOURCE}sink {{ Console {{\n{line}\n}} }}\n"), ("env", f"env {{\n{line}\n}}\n{SOURCE}{SINK}"), ("the top", f"{line}\n{SOURCE}{SINK}"),
                            ("penstock.conf", f"connections {{ c {{\n{line}\n}} }}\n")):
            if shape.startswith(("#", "//")) and place != "Jdbc":
                continue
            files = {"job.conf": text} if place != "penstock.conf" else {"penstock.conf": text, "job.conf": f"{SOURCE}sink {{ Jdbc {{ connection = c, table = t }} }}\n"}
            yield f"{shape} in {place}", Case(files, ("validate job.conf", "explain job.conf", "explain --format json job.conf", "validate --format json job.conf", "lineage --format openlineage job.conf", "validate --strict job.conf", "validate --format github job.conf"))


KINDS = (code, captures, projects, surroundings, migrations, more_secrets)
