"""The jars that the jobs of one Spark application bring: each content once, and no two versions of one library."""

import re
from collections.abc import Iterable, Mapping, Sequence
from filecmp import cmp
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.model.job import Env

JARS: Final = "spark.jars"
"""The setting with a job's jars; the option `jars` of `env` adds to it."""

_VERSION: Final = re.compile(r"[-_]v?\d[\w.+-]*$")


def shared_jars(envs: Iterable[Env]) -> str | None:
    """The jars of all jobs for one application, of equal files the first one; None where no job has any."""
    found: list[str] = []
    for env in envs:
        for jar in _jars(env.spark):
            if not any(_is_same(jar, other) for other in found):
                found.append(jar)
    return ",".join(found) or None


def refuse_two_versions(envs: Sequence[Env], diagnostics: Diagnostics) -> None:
    """Report jars of two jobs that are called alike, but for their version, and have other content: all jobs of an
    application see one of them only."""
    first: dict[str, tuple[str, Env]] = {}
    for env in envs:
        for jar in _jars(env.spark):
            before, other = first.setdefault(_library(jar), (jar, env))
            if other is env or _is_same(before, jar):
                continue
            span, place = (each.places.get(JARS) for each in (env, other))
            message = f"`{jar}` is another version of `{before}`, a jar of the job `{other.name}`"
            notes = (f"the other jar is at {place.file}:{place.line}:{place.column}",) if place else ()
            help = "jobs of one run share one Spark application: give both the same jar, or run them one by one"
            diagnostics.error("PEN2014", message, span, help, notes)


def _jars(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(jar.strip() for jar in settings.get(JARS, "").split(",") if jar.strip())


def _library(jar: str) -> str:
    """The name of a jar's file without its version: `postgresql` of `postgresql-42.7.8.jar`."""
    name = jar.rstrip("/").rpartition("/")[2].removesuffix(".jar")
    return _VERSION.sub("", name) or name


def _is_same(jar: str, other: str) -> bool:
    """Whether two jars hold the same, as far as they are on this machine; else whether they are at one place. Files of
    one size are read, in pieces."""
    if jar == other:
        return True
    one, two = (Path(each.removeprefix("file://").removeprefix("file:")) for each in (jar, other))
    return one.is_file() and two.is_file() and cmp(one, two, shallow=False)
