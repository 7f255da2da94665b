"""`validate` with its cache says what it says without, whatever has been edited."""

import os
import random
import re
import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from engine.cli import main
from engine.job.model.settings import Settings
from engine.remembered import answers, job_cache
from engine.remembered.job_cache import JobCache
from engine.remembered.recorded_reads import recorded_reads

pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

EDITS = int(os.environ.get("PENSTOCK_TEST_CACHE_EDITS", "24"))

PROJECT = {
    "penstock.conf": """
name = "shop"
jobs = ["jobs"]
variables { lake = "lake", column = id }
defaults { source { LocalFile { file_format_type = parquet } } }
""",
    "jobs/orders.conf": """
source { LocalFile { plugin_output = "read", path = "in/orders.csv", file_format_type = csv
  include "../shared/columns.conf" } }
sink { LocalFile { plugin_input = "read", path = "${lake}/orders", file_format_type = parquet } }
""",
    "jobs/sums.conf": """
source { LocalFile { plugin_output = "orders", path = "${lake}/orders" } }
transform { Sql { plugin_input = "orders", plugin_output = "sums"
  query = "select ${column}, count(*) as n from orders group by 1" } }
sink { LocalFile { plugin_input = "sums", path = "${lake}/sums", file_format_type = parquet } }
""",
    "jobs/rates.sql": """
CREATE TABLE rates WITH ('connector' = 'LocalFile', 'path' = 'data/rates');
CREATE TABLE target WITH ('connector' = 'LocalFile', 'path' = '${lake}/rates', 'file_format_type' = 'parquet');
INSERT INTO target SELECT currency, cast(rate as double) AS rate FROM rates;
""",
    "jobs/login.conf": """
source { Jdbc { plugin_output = "c", url = "jdbc:postgresql://db/shop", user = "${?SHOP_USER}"
  password = "${SHOP_PASSWORD:planted-secret}", table_path = "c", schema { fields { id = int } } } }
sink { LocalFile { plugin_input = "c", path = "${lake}/customers", file_format_type = parquet } }
""",
    "jobs/shell.conf": """
source { LocalFile { plugin_output = "s", path = "in/${OLDPWD:orders}.csv", file_format_type = csv
  schema { fields { id = int } } } }
sink { LocalFile { plugin_input = "s", path = "${lake}/shell", file_format_type = parquet } }
""",
    "shared/columns.conf": "schema { fields { id = int, amount = int } }\n",
    "in/orders.csv": "1,10\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(answers, "_SETTLED", 30_000_000)
    monkeypatch.setattr(answers, "_SETTLED_FINE", 30_000_000)
    root = tmp_path / "project"
    for name, text in PROJECT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    rates(root, "double")
    monkeypatch.chdir(root)
    return root


def rates(root: Path, type: str) -> None:
    shutil.rmtree(root / "data", ignore_errors=True)
    (root / "data/rates").mkdir(parents=True)
    values = pyarrow.array([None], {"double": pyarrow.float64(), "string": pyarrow.string()}[type])
    parquet.write_table(pyarrow.table({"currency": ["EUR"], "rate": values}), root / "data/rates/1.parquet")


def validated(capsys, *arguments: str) -> tuple[int, str]:
    code = main(["validate", *arguments])
    shown = "".join(capsys.readouterr())
    return code, re.sub(r"\(\d+\.\d\d s\)", "", shown)


def listed(capsys, uncached: pytest.MonkeyPatch | None = None) -> tuple[int, str]:
    """What `ls` prints, with the fingerprints of the jobs; without the cache, if its folder is none."""
    with uncached.context() if uncached else nullcontext() as patched:
        if patched:
            patched.setenv("PENSTOCK_CACHE_DIR", "nowhere")
        code = main(["ls", "--output", "json"])
    return code, "".join(capsys.readouterr())


def replaced(path: str, old: str, new: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    """Swaps two texts of a file, in place or by a new file, or with its times as they were."""

    def edit(root: Path, _: pytest.MonkeyPatch) -> None:
        file = root / path
        if not file.exists():
            return
        text, times = file.read_text(), file.stat()
        text = text.replace(old, new) if old in text else text.replace(new, old)
        if random.random() < 0.5:
            (root / "new").write_text(text)
            (root / "new").replace(file)
        else:
            file.write_text(text)
        if random.random() < 0.5:
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    return edit


def moved(path: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    """Moves a file or folder away, or back."""

    def edit(root: Path, _: pytest.MonkeyPatch) -> None:
        away = root.parent / path.replace("/", "-")
        there, to = (away, root / path) if away.exists() else (root / path, away)
        shutil.rmtree(to, ignore_errors=True)
        if there.exists():
            there.replace(to)

    return edit


def with_variable(name: str, value: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    def edit(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        if name in os.environ:
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, value)

    return edit


def linked(root: Path, _: pytest.MonkeyPatch) -> None:
    """The data is behind a link, which leads elsewhere each time."""
    data = root / "data"
    if not data.exists():
        return
    if data.is_symlink():
        target = data.resolve()
        data.unlink()
        target.replace(data)
        return
    other = root / f"data{random.randint(1, 3)}"
    shutil.rmtree(other, ignore_errors=True)
    data.replace(other)
    data.symlink_to(other.name)


def typed(type: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    def edit(root: Path, _: pytest.MonkeyPatch) -> None:
        if (root / "data").is_symlink():
            (root / "data").unlink()
        rates(root, type)

    return edit


ALL_EDITS = [
    replaced("jobs/orders.conf", "in/orders.csv", "in/order.csv"),
    replaced("jobs/orders.conf", "path", "pathh"),
    replaced("jobs/sums.conf", "count(*)", "sum(amount)"),
    replaced("jobs/sums.conf", "group by 1", "group by 1 -- all"),
    replaced("jobs/rates.sql", "rate as double", "rate as int"),
    replaced("jobs/login.conf", "planted-secret", "planted-other"),
    replaced("jobs/login.conf", "id = int", "id = date"),
    replaced("shared/columns.conf", "amount = int", "amount = date"),
    replaced("shared/columns.conf", "id = int", "ident = int"),
    replaced("penstock.conf", "column = id", "column = amount"),
    replaced("penstock.conf", "file_format_type = parquet", "file_format_type = orc"),
    replaced("penstock.conf", 'name = "shop"', '# a comment\nname = "shop"'),
    moved("jobs/orders.conf"),
    moved("jobs/sums.conf"),
    moved("shared/columns.conf"),
    moved("in/orders.csv"),
    moved("data/rates"),
    typed("double"),
    typed("string"),
    linked,
    with_variable("SHOP_USER", "me"),
    with_variable("SHOP_PASSWORD", "another-planted-secret"),
    with_variable("lake", "other"),
    with_variable("OLDPWD", "order"),
]
ARGUMENTS = [(), (), (), ("--strict",), ("-i", "column=amount"), ("jobs/sums.conf",), ("--strict=types",)]


@pytest.mark.parametrize("seed", [int(os.environ.get("PENSTOCK_TEST_SEED", "1"))])
def test_any_edit_is_seen(project, capsys, monkeypatch, seed):
    chance, hits = random.Random(seed), []
    random.seed(seed)
    save = job_cache.JobCache.save

    def counted(cache):
        hits.append(sum(not job.is_new for job in cache.used.values()))
        save(cache)

    monkeypatch.setattr(job_cache.JobCache, "save", counted)
    for number in range(EDITS):
        if number % 2:
            chance.choice(ALL_EDITS)(project, monkeypatch)
        if chance.random() < 0.7:
            time.sleep(0.05)  # else what was edited is too new to be remembered
        arguments = chance.choice(ARGUMENTS)
        assert validated(capsys, *arguments) == validated(capsys, "--no-cache", *arguments), number
        assert listed(capsys) == listed(capsys, monkeypatch), number
    assert sum(hits) > len(hits), "most jobs were in the cache"


def test_variables_that_change_with_each_command_count_only_where_a_job_asks_for_them(project, monkeypatch):
    monkeypatch.setenv("OLDPWD", "orders")
    time.sleep(0.05)
    kept = []
    for folder in ("orders", "order"):
        monkeypatch.setenv("OLDPWD", folder)
        found = JobCache.of(Path.cwd(), Settings(), ())
        kept.append(found.key)
        with recorded_reads() as reads:
            os.environ.get("HOME")
        assert reads.is_whole
        with recorded_reads() as reads:
            os.environ.get("OLDPWD")
        assert not reads.is_whole
    assert kept[0] == kept[1]


def test_a_job_with_a_secret_is_not_remembered(project, capsys, tmp_path):
    time.sleep(0.05)
    for _ in range(2):
        assert validated(capsys) == validated(capsys, "--no-cache")
    (file,) = (tmp_path / "cache").iterdir()
    content = file.read_bytes()
    assert b"orders.conf" in content
    assert b"planted-secret" not in content


def test_a_cache_that_others_can_write_is_not_read(project, capsys, tmp_path):
    time.sleep(0.05)
    first = validated(capsys)
    (file,) = (tmp_path / "cache").iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert validated(capsys) == first
    file.chmod(0o666)
    assert validated(capsys) == first
    (tmp_path / "cache").chmod(0o777)
    before = file.stat()
    assert validated(capsys) == first
    assert file.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("inside", [".cache", "jobs/cache", "../.cache"])
def test_a_cache_in_the_checkout_is_none(inside, tmp_path):
    """CI services keep caches there; a pull request may bring one along, and a cache is pickled."""
    root = tmp_path / "checkout" / "project"
    root.mkdir(parents=True)
    (tmp_path / "checkout" / ".git").mkdir()
    assert job_cache._folder(root) is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENSTOCK_CACHE_DIR", str((root / inside).resolve()))
        assert job_cache._folder(root) is None
        (tmp_path / "link").symlink_to((root / inside).resolve())
        patch.setenv("PENSTOCK_CACHE_DIR", str(tmp_path / "link"))
        assert job_cache._folder(root) is None
