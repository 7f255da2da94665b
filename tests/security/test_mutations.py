"""Job files with random damage, and random texts: `validate` and the readers below it always have an answer.

2,000 mutations and 35,000 texts in `make soak`, a sample of both in the normal run.
"""

import os
import random
import re
import resource
import time
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.diagnostics.diagnostic import Diagnostics, JobError
from catalog.diagnostics.source import PlacedText, SourceFile
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import INT, STRING
from engine.cli import main
from engine.job.hocon.parse import parse
from engine.job.hocon.sections import resolve_job
from sql.analyze import analyze
from tests.security.hostile_names import NAMES

ROOT = Path(__file__).parents[2]
COUNT = int(os.environ.get("PENSTOCK_TEST_MUTATIONS", "60"))
TEXTS = int(os.environ.get("PENSTOCK_TEST_TEXTS", "150"))
SECONDS, MEGABYTES = 5.0, 1000
PIECES = (
    "{", "}", "[", "]", "(", ")", '"', '"""', "'", "`", "${", "}", "${?", ",", "=", ":", "+=", "#", "//", "\n", "\\",
    "$",
    "include ", 'include required("', "null", "true", "1e9", "-", ".", "*", "select ", " from ", " with x as (", ";",
    "--", "/*", "*/", "insert into ", "create table ", "array<", "struct<", "decimal(", "\x00", "\ufeff", "é", "\ud800",
    "source", "transform", "sink", "env", "plugin_output", "plugin_input", "schema", "fields", "tables_configs",
)  # fmt: skip
JOBS = sorted(
    path for folder in ("examples", "tests/engine/plan") for pattern in ("*.conf", "*.sql", "*.test")
    for path in (ROOT / folder).rglob(pattern) if path.stat().st_size < 20_000
)  # fmt: skip


def mutated(data: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.choice((1, 1, 2, 3, 8))):
        start = dice.randrange(len(data) + 1)
        end = min(len(data), start + dice.choice((1, 1, 5, 40, 400)))
        piece = data[start:end]
        match dice.randrange(9):
            case 0:
                data = data[:start] + bytes([dice.randrange(256)]) + data[start + 1 :]
            case 1:
                data = (
                    data[:start] + bytes([data[start] ^ (1 << dice.randrange(8))] if piece else []) + data[start + 1 :]
                )
            case 2:
                data = data[:end] + piece * dice.choice((1, 2, 50, 1000)) + data[end:]
            case 3:
                data = data[:start] + data[end:]
            case 4:
                sign = dice.choice(PIECES).encode("utf-8", "surrogatepass")
                data = data[:start] + sign * dice.choice((1, 1, 3, 500)) + data[start:]
            case 5:
                opening, closing = dice.choice((b"{}", b"[]", b"()", b'""', b"''")).decode()
                depth = dice.choice((1, 2, 100, 3000))
                data = data[:start] + opening.encode() * depth + piece + closing.encode() * depth + data[end:]
            case 6:
                other = dice.randrange(len(data) + 1)
                data = data[:other] + piece + data[other:]
            case 7:
                name = dice.choice(NAMES).encode("utf-8", "surrogatepass")
                words = list(re.finditer(rb"[A-Za-z_]\w+", data))
                word = dice.choice(words).span() if words else (start, start)
                data = data[: word[0]] + name + data[word[1] :]
            case _:
                data = data[:end]
    return data[:3_000_000]


def job_text(path: Path) -> bytes:
    return path.read_bytes().partition(b"\n== ")[0] if path.suffix == ".test" else path.read_bytes()


def test_a_damaged_job_has_an_answer(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dice = random.Random(COUNT)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(COUNT):
        source = dice.choice(JOBS)
        file = Path("job.sql" if source.suffix == ".sql" else "job.conf")
        file.write_bytes(mutated(job_text(source), dice))
        started = time.process_time()
        code = main(["validate", str(file)])
        taken = time.process_time() - started
        written = capsys.readouterr()
        shown = written.out + written.err
        assert code in (0, 2), (number, source, shown[-2000:])
        assert "PEN9" not in shown, (number, source, shown[-2000:])
        assert taken < SECONDS, (number, source, taken)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    assert grown < MEGABYTES * 1024


ANY = st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from(NAMES), st.text(max_size=6)), max_size=40).map(
    "".join
)
QUICK = settings(max_examples=TEXTS, deadline=None, suppress_health_check=list(HealthCheck), derandomize=TEXTS < 1000)


@QUICK
@given(ANY)
def test_the_reader_of_hocon_takes_any_text(text):
    diagnostics = Diagnostics()
    try:
        syntax = parse(SourceFile("job.conf", text), diagnostics)
        if not hasattr(syntax, "items"):
            resolve_job(syntax, diagnostics, {}, {})
    except JobError as error:  # above a limit
        diagnostics.extend(error.diagnostics)
    for item in diagnostics:
        assert item.span is None or item.span.line >= 1


@QUICK
@given(st.sampled_from(("", "select ", "select a from t where ", "with x as (select 1) select ")), ANY)
def test_the_front_end_of_sql_takes_any_text(start, text):
    table = CatalogTable.of("t", (Column("a", INT), Column("b", STRING)))
    diagnostics = Diagnostics()
    try:
        diagnostics.extend(analyze(PlacedText.bare(start + text), {"t": table}).diagnostics)
    except RecursionError:  # the limit `nesting`, as a job reports it
        return
    except JobError as error:
        diagnostics.extend(error.diagnostics)
    for item in diagnostics:
        assert not item.code.startswith("PEN9")
