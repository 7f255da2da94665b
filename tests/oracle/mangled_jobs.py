"""Job files that were mangled: HOCON, SQL and the streaming, DDL and script parts of both."""

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from tests.oracle.mangled import changed, failing
from tests.oracle.queries import QueryGenerator

_ROOT = Path(__file__).parents[2]
_FOLDERS = ("examples", "tests/plans", "tests/sqljobs", "tests/seatunnel/jobs")
_PIECES = (
    "SET 'job.mode' = 'STREAMING';",
    "SET 'env.checkpoint' = 1;",
    "CREATE TABLE k (id BIGINT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL 5 DAYS) WITH ('connector' = 'Kafka');",
    "CREATE TABLE t (id BIGINT COMMENT 'x', n DECIMAL(9,2) NOT NULL, PRIMARY KEY (id)) WITH ('connector' = 'Console');",
    "CREATE TEMPORARY VIEW v AS SELECT id, window(at, '1 minute') AS w FROM k GROUP BY id, window(at, '1 minute');",
    "INSERT INTO t (id) BY NAME SELECT DISTINCT id FROM k;",
    "INSERT OVERWRITE t PARTITION (d = 1) SELECT * FROM v;",
    "/* config env { parallelism = 2 } */",
    "EXPECT id IS NOT NULL ON VIOLATION DROP ROW;",
    'env { job.mode = "STREAMING", checkpoint.interval = 5000 }',
    'source { Kafka { topic = "a", watermark = "at", watermark_delay = "5 s", schema { fields { at = timestamp } } } }',
    'transform { Sql { query = """select * from a join b using (id)""" } }',
    'sink { Console { plugin_input = ["a", "b"] } }',
    "${a:default} ${?HOME} include \"other.conf\"",
    "a = ${a}\nb = ${b} c\na { b = ${a} }",
    '"""', "{", "}", "[", "]", "=", "+=", "\n", "#", "//",
)  # fmt: skip


@cache
def _jobs() -> tuple[tuple[str, str], ...]:
    """The suffix and text of each job file of the tests and examples; of a golden file, the job at its head."""
    found = []
    for folder in _FOLDERS:
        for path in sorted((_ROOT / folder).rglob("*")):
            if path.suffix in (".conf", ".sql", ".json", ".test") and path.stat().st_size < 20_000:
                text = path.read_text("utf-8", errors="replace")
                head = text.split("\n== ")[0]
                is_sql = path.suffix == ".sql" or "create " in head[:2_000].lower()
                found.append((".sql" if is_sql else ".conf", head))
    return tuple(found)


def mangled_job(seed: int) -> str:
    """Its suffix in the first line, then the text of a job after one to six changes."""
    chooser = random.Random(seed)
    suffix, text = chooser.choice(_jobs())
    for _ in range(chooser.randint(0, 3)):
        at = chooser.randrange(len(text) + 1)
        piece = chooser.choice(_PIECES) if chooser.random() < 0.7 else QueryGenerator(seed).query()
        text = f"{text[:at]} {piece} {text[at:]}"
    if chooser.random() < 0.05:
        suffix = ".conf" if suffix == ".sql" else ".sql"
    return f"{suffix}\n{changed(text, chooser)}"


def failures(count: int, seed: int = 0) -> Iterator[str]:
    """What raises or is slow among `count` job files, one line each."""
    with TemporaryDirectory() as folder:

        def read(job: str) -> None:
            suffix, text = job.split("\n", 1)
            path = Path(folder) / f"job{suffix}"
            path.write_text(text, "utf-8", errors="surrogatepass")
            compile_job(path, Settings(), Diagnostics())

        yield from failing(((number, mangled_job(number)) for number in range(seed, seed + count)), read)
