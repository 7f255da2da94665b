"""A run shows no secret of its job to others on the machine: by processes, ports, files or Spark's pages."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.services.processes import free_port

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
MARK = "Planted7"

SETTINGS = (
    "spark.hadoop.fs.s3a.secret.key", "spark.hadoop.fs.s3a.access.key", "spark.hadoop.fs.s3a.session.token",
    "spark.hadoop.fs.s3a.encryption.key", "spark.hadoop.fs.s3a.server-side-encryption.key",
    "spark.hadoop.fs.s3a.proxy.password", "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net",
    "spark.hadoop.fs.azure.sas.box.shop.blob.core.windows.net", "spark.hadoop.fs.azure.sas.fixed.token.shop",
    "spark.hadoop.fs.azure.account.oauth2.client.secret", "spark.hadoop.fs.gs.auth.service.account.private.key",
    "spark.hadoop.fs.gs.auth.service.account.private.key.id", "spark.hadoop.fs.gs.auth.client.secret",
    "spark.hadoop.fs.oss.accessKeySecret", "spark.hadoop.javax.jdo.option.ConnectionPassword",
    "spark.ssl.trustStorePassword", "spark.ssl.keyStorePassword", "spark.ssl.keyPassword",
    "spark.sql.catalog.lake.credential", "spark.sql.catalog.lake.token", "spark.sql.catalog.lake.jdbc.password",
    "spark.sql.catalog.lake.s3.secret-access-key", "spark.sql.catalog.lake.s3.access-key-id",
    "spark.sql.catalog.lake.adls.auth.shared-key.account.key", "spark.sql.catalog.lake.gcs.oauth2.token",
    "spark.sql.catalog.lake.rest.auth.basic.password", "spark.sql.catalog.lake.header.Authorization",
    "spark.executorEnv.DB_PASSWORD", "spark.executorEnv.API_KEY", "spark.my.pass", "spark.my.cookie",
)  # fmt: skip
"""Settings of `env`, each with a secret of its own."""

OWN_SCHEMES = (
    'spark.hadoop.some.address = "https://me:{}@h/x"',
    'spark.driver.extraJavaOptions = "-Djavax.net.ssl.trustStorePassword={} -Dshop.name=shop"',
    'spark.hadoop.some.jaas = "org.x.PlainLoginModule required username=me password=\\"{}\\";"',
)
JOB = """
env {{
  job.name = secrets, job.retry.times = 0, parallelism = 1
  spark.master = "local[1]"
  spark.ui.enabled = true, spark.ui.port = {ui}
  spark.eventLog.enabled = true, spark.eventLog.dir = "file://{here}/events", spark.eventLog.compress = false
  spark.sql.shuffle.partitions = 1
  {settings}
}}
source {{
  Http {{
    plugin_output = a, url = "http://127.0.0.1:{port}/rows?api_key={http}", format = json
    headers {{ Authorization = "Bearer {http}" }}
    schema {{ fields {{ id = int }} }}
  }}
  Jdbc {{
    plugin_output = b, url = "{url}", user = "{user}", password = ${{?SHOP_PASSWORD}}
    query = "select 1 as id"
    properties {{ sslpassword = "{jdbc}" }}, schema {{ fields {{ id = int }} }}
  }}
  Jdbc {{
    plugin_output = c, url = "{url}", user = "{user}", password_file = "password.txt", table_path = "public.in_run"
    schema {{ fields {{ id = int }} }}
  }}
}}
transform {{
  Sql {{ plugin_input = [a, b, c], plugin_output = q, query = "select id from a join b using (id) join c using (id)" }}
}}
sink {{
  Iceberg {{
    plugin_input = q, table = "db.t"
    "iceberg.catalog.config" {{ type = hadoop, warehouse = "{here}/warehouse", "s3.secret-access-key" = "{iceberg}" }}
    hadoop.config {{ "fs.s3a.secret.key" = "{iceberg}" }}
  }}
  Jdbc {{
    plugin_input = q, url = "{url}", user = "{user}", password = ${{password}}, table = "public.out_run"
    generate_sink_sql = true, data_save_mode = DROP_DATA
  }}
}}
"""


class Look:
    """What somebody else on the machine sees while the job runs."""

    def __init__(self, ui: int, folder: Path) -> None:
        self.ui = ui
        self.folder = folder
        self.arguments: set[str] = set()
        self.pages = ""
        self.listening: list[tuple[str, int]] = []
        self.ended = threading.Event()

    def at_processes(self) -> None:
        while not self.ended.wait(0.1):
            for folder in Path("/proc").iterdir():
                if folder.name.isdigit():
                    try:
                        self.arguments.add((folder / "cmdline").read_text(errors="replace").replace("\0", " "))
                    except OSError:
                        continue

    def at_pages(self) -> None:
        """Also: from now on, the arguments of Penstock itself have none; nobody can hide them before it has begun."""
        self.arguments = {line for line in self.arguments if "SparkSubmit" in line}
        address = f"http://127.0.0.1:{self.ui}"
        (application,) = json.loads(urlopen(f"{address}/api/v1/applications").read())
        here = f"/api/v1/applications/{application['id']}"
        for path in ("/environment/", f"{here}/environment", "/SQL/", f"{here}/sql?details=true&planDescription=true"):
            self.pages += urlopen(f"{address}{path}").read().decode()
        self.listening = _listening(self.folder)


def _listening(folder: Path) -> list[tuple[str, int]]:
    """Where the Java process listens that was started with a file in the folder."""
    (java,) = [
        path.parent for path in Path("/proc").glob("[0-9]*/cmdline")
        if b"SparkSubmit" in (text := path.read_bytes()) and str(folder).encode() in text
    ]  # fmt: skip
    sockets = {match[1] for link in (java / "fd").iterdir() if (match := re.match(r"socket:\[(\d+)", _target(link)))}
    lines = [line.split() for name in ("tcp", "tcp6") for line in (java / "net" / name).read_text().splitlines()[1:]]
    places = [fields[1].rpartition(":") for fields in lines if fields[3] == "0A" and fields[9] in sockets]
    return [(host, int(port, 16)) for host, _, port in places]


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


@pytest.fixture
def look(tmp_path: Path) -> Iterator[tuple[Look, int]]:
    look = Look(free_port(), tmp_path)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            look.at_pages()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'[{"id": 1}]')

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threads = [threading.Thread(target=server.serve_forever), threading.Thread(target=look.at_processes)]
    for thread in threads:
        thread.start()
    yield look, server.server_address[1]
    look.ended.set()
    server.shutdown()
    server.server_close()
    for thread in threads:
        thread.join()


def test_a_run_shows_no_secret_to_others(look, postgres, tmp_path):
    seen, port = look
    secrets = {name: f"{MARK}x{number}" for number, name in enumerate((*SETTINGS, *OWN_SCHEMES, "http", "jdbc", "ice"))}
    settings = [f'"{name}" = "{secrets[name]}"' for name in SETTINGS]
    settings += [text.format(secrets[text]) for text in OWN_SCHEMES]
    (tmp_path / "events").mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(
        f"spark.redaction.regex my[.]own\nspark.my.own.name {MARK}xown\nspark.found.by.default yes\n"
    )
    (tmp_path / "password.txt").write_text(postgres.password)
    (tmp_path / "job.conf").write_text(
        JOB.format(
            ui=seen.ui, here=tmp_path, settings="\n  ".join(settings), port=port, http=secrets["http"],
            jdbc=secrets["jdbc"], iceberg=secrets["ice"], url=postgres.url, user=postgres.user,
        )
    )  # fmt: skip
    with postgres.connect() as connection:
        connection.cursor().execute("create table public.in_run as select 1 as id")
    environment = {
        **os.environ, "SHOP_PASSWORD": postgres.password, "TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(ROOT),
        "SPARK_CONF_DIR": str(tmp_path / "conf"),
    }  # fmt: skip
    (tmp_path / ".penstock").mkdir(mode=0o755)
    command = [sys.executable, "-m", "engine.cli", "run", "job.conf", "-i", f"password={postgres.password}"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seen.ended.set()

    events = "\n".join(path.read_text() for path in (tmp_path / "events").rglob("*") if path.is_file())
    kept = [path for folder in (".penstock", "tmp", "warehouse") for path in (tmp_path / folder).rglob("*")]
    files = "\n".join(path.read_bytes().decode(errors="replace") for path in kept if path.is_file())
    assert "SparkListenerSQLExecutionStart" in events
    assert "spark.hadoop.fs.s3a.secret.key" in seen.pages + events
    assert "found.by.default" in seen.pages
    shown = {
        "output": done.stdout + done.stderr, "events": events, "pages": seen.pages, "files": files,
        "arguments": "\n".join(line for line in seen.arguments if "SparkSubmit" in line or "-i **" in line),
    }  # fmt: skip
    for where, text in shown.items():
        found = {name for name, secret in secrets.items() if re.search(rf"{secret}(?!\d)", text)}
        assert not found, (where, found)
        assert MARK not in text, where
        assert postgres.password not in text, where
    assert any("-i **********" in line for line in seen.arguments)
    assert any("java" in line and "SparkSubmit" in line for line in seen.arguments)
    assert not [path for path in (tmp_path / "tmp").iterdir() if path.name.startswith("penstock-")]

    others = {(host, port) for host, port in seen.listening if port != seen.ui}
    assert {host for host, _ in others} <= {"0100007F", "0000000000000000FFFF00000100007F"}, others
    assert len(others) >= 2
    for path in [tmp_path / ".penstock", *(tmp_path / ".penstock").rglob("*")]:
        if "staging" not in path.parts:
            assert path.stat().st_mode & 0o077 == 0, (path, oct(path.stat().st_mode))
