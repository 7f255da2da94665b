"""Compiling a job leaves nothing in the process: neither what it read nor what is secret in it."""

import gc
import os
import sys
from functools import _lru_cache_wrapper
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.compile import compile_text
from engine.job.model.settings import Settings
from engine.validation.check_jobs import check_jobs

COMPILES = int(os.environ.get("PENSTOCK_TEST_COMPILES", "1000"))
SECRET = "planted-secret-"
PACKAGES = ("catalog", "sql", "connectors", "engine")
JOB = """
env { job.name = "job %(n)s", spark.hadoop.fs.s3a.secret.key = "%(secret)s0" }
source {
  Jdbc { plugin_output = "orders_%(n)s", url = "jdbc:postgresql://h/db_%(n)s?password=%(secret)s1", user = me
         password = "%(secret)s2", table_path = "t%(n)s", schema { fields { id = bigint, name_%(n)s = string } } }
  Kafka { plugin_output = "events_%(n)s", bootstrap.servers = "broker%(n)s:9092", topic = "t%(n)s", format = json
          kafka.config { sasl.password = "%(secret)s3" }, schema { fields { id = bigint } } }
}
transform {
  Sql { plugin_input = ["orders_%(n)s", "events_%(n)s"], plugin_output = "joined_%(n)s"
        query = "select o.id, upper(o.name_%(n)s) as name from orders_%(n)s o join events_%(n)s e on o.id = e.id" }
}
sink {
  S3File { plugin_input = "joined_%(n)s", path = "/lake_%(n)s", bucket = "s3a://bucket%(n)s", access_key = "%(secret)s4"
           secret_key = "%(secret)s5", fs.s3a.endpoint = "http://h", file_format_type = parquet }
  Jdbc { plugin_input = "joined_%(n)s", url = "jdbc:postgresql://h/db_%(n)s", user = me, password = "%(secret)s6"
         table = "target_%(n)s" }
}
"""
INVALID = JOB.replace("upper(", "uppper_%(n)s(").replace("S3File", "S3File%(n)s")


def compile_one(number: int) -> None:
    text = (INVALID if number % 10 == 0 else JOB) % {"n": number, "secret": f"{SECRET}{number}-"}
    diagnostics = Diagnostics()
    compiled = compile_text(SourceFile(f"job{number}.conf", text), Settings(reads_secrets=True), diagnostics)
    assert (compiled is None) == (number % 10 == 0), [str(item) for item in diagnostics]


def module_state() -> dict[str, int]:
    """The size of everything that the modules of the four packages hold, by name: containers, caches without a bound.

    Caches with a bound are left out: they cannot grow for ever.
    """
    found: dict[str, int] = {}

    def add(name: str, value: object) -> None:
        if isinstance(value, (dict, list, set, frozenset, tuple, bytearray)):
            found[name] = size(value, set())
        elif isinstance(value, _lru_cache_wrapper):
            if value.cache_parameters()["maxsize"] is None:
                found[name] = value.cache_info().currsize
        elif isinstance(value, type) and value.__module__.startswith(PACKAGES):
            for attribute, held in vars(value).items():
                if not attribute.startswith("__"):
                    add(f"{name}.{attribute}", held)
        elif type(value).__module__.startswith(PACKAGES) and hasattr(value, "__dict__"):
            found[name] = size(vars(value), set())

    for module_name, module in list(sys.modules.items()):
        if module_name.partition(".")[0] in PACKAGES and isinstance(module, ModuleType):
            for attribute, value in list(vars(module).items()):
                if not attribute.startswith("__"):
                    add(f"{module_name}.{attribute}", value)
    return found


def size(value: object, seen: set[int]) -> int:
    """How many values a container holds, with those of containers in it."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    match value:
        case EntryPoint():  # a tuple on Python 3.10, which warns of being read as one
            return 0
        case dict():
            return len(value) + sum(size(inner, seen) for inner in value.values())
        case list() | set() | frozenset() | tuple():
            return len(value) + sum(size(inner, seen) for inner in value)
        case bytearray():
            return len(value)
        case _ if type(value).__module__.startswith(PACKAGES) and hasattr(value, "__dict__"):
            return size(vars(value), seen)
        case _:
            return 0


def texts_that_hold(word: str) -> list[str]:
    """The texts that some object of the process still refers to."""
    gc.collect()
    found = set()
    for holder in gc.get_objects():
        waiting = gc.get_referents(holder)
        while waiting:
            held = waiting.pop()
            if isinstance(held, str) and word in held:
                found.add(held)
            elif isinstance(held, (dict, tuple)) and not gc.is_tracked(held):  # it holds texts and numbers only
                waiting += gc.get_referents(held)
    return sorted(found)


@pytest.mark.slow
def test_a_thousand_compiles_with_planted_secrets_leave_no_trace():
    for number in range(1, 31):  # modules are imported, and caches of what does not depend on a job are filled
        compile_one(number)
    before = module_state()
    assert len(before) > 300
    for number in range(31, 31 + COMPILES):
        compile_one(number)
    after = module_state()
    assert {name: (before.get(name), size) for name, size in after.items() if before.get(name) != size} == {}
    assert texts_that_hold(f"{SECRET}3") == []


def test_growing_state_is_seen(monkeypatch):
    import catalog.masks

    monkeypatch.setattr(catalog.masks, "_grows", {"a": [1]}, raising=False)
    before = module_state()
    catalog.masks._grows["a"].append(2)
    assert {name for name, held in module_state().items() if before.get(name) != held} == {"catalog.masks._grows"}


@pytest.mark.slow
def test_a_text_that_is_held_is_seen(monkeypatch):
    import catalog.masks

    text = "a word that only this test holds".upper()
    monkeypatch.setattr(catalog.masks, "_holds", {"key": text}, raising=False)
    assert text in texts_that_hold("that only this test".upper())
    monkeypatch.undo()
    del text
    assert texts_that_hold("that only this test".upper()) == []


def test_unsaved_text_compiles_with_unsaved_includes(tmp_path: Path):
    texts = {
        str(tmp_path / "job.conf"): 'include required("_shared.conf")\nsink { Console {} }',
        str(tmp_path / "_shared.conf"): "source { FakeSource { schema { fields { id = bigint } } } }",
    }

    def read(path: str) -> str:
        if path not in texts:
            raise FileNotFoundError(path)
        return texts[path]

    diagnostics = Diagnostics()
    source = SourceFile(str(tmp_path / "job.conf"), texts[str(tmp_path / "job.conf")])
    compiled = compile_text(source, Settings(read=read), diagnostics)
    assert compiled is not None, [str(item) for item in diagnostics]
    assert [write.table.schema.names for write in compiled.plan.writes] == [("id",)]


def test_checking_jobs_leaves_the_garbage_collector_as_it_is(tmp_path: Path):
    (tmp_path / "job.conf").write_text("source { FakeSource { schema { fields { id = int } } } }\nsink { Console {} }")
    before = gc.get_threshold(), gc.get_freeze_count()
    seen = []

    def read(path: str) -> str:
        seen.append((gc.get_threshold(), gc.get_freeze_count()))
        return Path(path).read_text(encoding="utf-8")

    (checked,) = check_jobs([tmp_path / "job.conf"], Settings(read=read))
    assert checked.diagnostics == ()
    assert seen == [before]
