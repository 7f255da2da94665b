"""Holds the catalogue of functions to what a live Spark says of its own, and makes that of another version.

`python -m tests.oracle.catalogue check` prints where the two differ; `… write` writes the catalogue of the running
Spark beside the others (`docs/analysis.md` says what is then done by hand).

From Spark come the list of functions, the kind of each (its registry and group), how many arguments its documented
calls take, and whether it gives other values each time (its class). What it takes and gives cannot be asked for in
general: `tests.oracle.functions` asks by calling it, with its documented examples and with arguments of every type.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalog.spark_version import NEWEST
from sql.functions import catalogue
from sql.functions.catalogue import function_names, signatures
from tests.oracle.functions import NOT_CALLS

KINDS = {"agg_funcs": "aggregate", "window_funcs": "window", "generator_funcs": "generator"}
RANDOM = ("Nondeterministic", "ExpressionWithRandomSeed")
"""What the class of a function is, of Catalyst's, that gives other values each time."""

OTHER_KIND = {
    **dict.fromkeys(("window", "session_window", "window_time", "grouping", "grouping_id"), "scalar"),
    "json_tuple": "generator",
    "schema_of_variant_agg": "aggregate",
}
"""Functions that the documentation groups by what they are for, not by what they are."""

RANDOM_WITHIN = frozenset(("try_reflect",))
"""Functions that give other values each time through another one that their class calls."""

DOCUMENTED_ONLY = {"nth_value": {1}, "try_make_interval": {0}}
"""Numbers of arguments that the documentation writes and Spark refuses."""


@dataclass(frozen=True)
class Described:
    """A function as Spark describes it; `counts`: of arguments, in the calls that its documentation writes."""

    name: str
    kind: str
    counts: frozenset[int]
    is_random: bool


def described(spark: Any) -> Mapping[str, Described]:
    """Every built-in function of the running Spark that is called with brackets; a session may hold others beside."""
    jvm, found = spark.sparkContext._jvm, dict[str, Described]()
    analysis = jvm.org.apache.spark.sql.catalyst.analysis
    random = [jvm.java.lang.Class.forName(f"org.apache.spark.sql.catalyst.expressions.{each}") for each in RANDOM]
    for builtin, is_table in ((analysis.FunctionRegistry, False), (analysis.TableFunctionRegistry, True)):
        registry = builtin.builtin()
        names = registry.listFunction().toList()
        for info in (registry.lookupFunction(names.apply(at)).get() for at in range(names.size())):
            name = info.getName().lower()
            if name in NOT_CALLS or name in found:
                continue
            kind = "table" if is_table else KINDS.get(info.getGroup(), "scalar")
            kind = OTHER_KIND.get(name, kind)
            of = _class(jvm, info.getClassName())
            is_random = name in RANDOM_WITHIN or any(each.isAssignableFrom(of) for each in random)
            counts = frozenset(_counts(info.getUsage(), info.getName())) - DOCUMENTED_ONLY.get(name, set())
            found[name] = Described(name, kind, counts, is_random)
    return found


def _class(jvm: Any, name: str) -> Any:
    try:
        return jvm.java.lang.Class.forName(name)
    except Exception:  # noqa: BLE001 -- a function of no class of its own, such as one written in SQL
        return jvm.java.lang.Object().getClass()


def _counts(usage: str, name: str) -> Iterator[int]:
    """The numbers of arguments of the calls at the line starts of a usage: `_FUNC_(a, b[, c])` has 2 and 3."""
    for call in re.finditer(rf"^\s*(?:_FUNC_|{re.escape(name)})\(([^()]*)\)", usage, re.MULTILINE):
        inside = call[1]
        if "..." in inside or "=" in inside or " " in re.sub(r"\s*,\s*|\s*[\[\]]\s*", "", inside.strip()):
            continue  # repeated, named or not a list of names
        optional = inside.count("[")
        least = len([each for each in re.sub(r"\[.*\]", "", inside).split(",") if each.strip()])
        yield from range(least, least + optional + 1)


def differences(spark: Any) -> Iterator[str]:
    """Where the catalogue differs from what Spark says of its functions, one line each."""
    live = described(spark)
    for name in sorted(live.keys() ^ (set(function_names()) - NOT_CALLS)):
        yield f"{name}: only in {'Spark' if name in live else 'the catalogue'}"
    for name in sorted(live.keys() & set(function_names())):
        known = signatures(name)
        if {each.kind for each in known} != {live[name].kind}:
            yield f"{name}: {known[0].kind} for Spark's {live[name].kind}"
        if missing := [count for count in sorted(live[name].counts) if not any(each.fits(count) for each in known)]:
            yield f"{name}: does not take {missing[0]} arguments"
        if any(each.is_random for each in known) != live[name].is_random:
            yield f"{name}: {'random' if known[0].is_random else 'not random'} for Spark's opposite"


def lines(spark: Any) -> Iterator[str]:
    """The catalogue of the running Spark: known lines of functions that it has, and new ones that claim nothing."""
    for name, each in sorted(described(spark).items()):
        if known := catalogue._lines(NEWEST).get(name):
            yield from known
            continue
        for count in sorted(each.counts) or [0]:
            arguments = " ".join(["any"] * count) if each.counts else "any*"
            yield "\t".join((name, each.kind, arguments, "@unknown", "yes", "random" if each.is_random else ""))


def new_functions(spark: Any) -> list[str]:
    return sorted(set(described(spark)) - set(function_names()))


def path_of(version: str) -> Path:
    """Where the catalogue of a Spark version (`4.2.0`) stands."""
    major, minor, *_ = version.split(".")
    return Path(catalogue.__file__).with_name(f"spark_{major}_{minor}.tsv")


def _write(spark: Any) -> None:
    path = path_of(spark.version)
    head = [line for line in path_of(f"{NEWEST}.0").read_text("utf-8").split("\n") if line[:1] == "#"]
    head[0] = head[0].replace(str(NEWEST), ".".join(spark.version.split(".")[:2]))
    path.write_text("\n".join([*head, *lines(spark)]) + "\n", "utf-8")
    print(f"{path.name} written; to be typed by hand: {', '.join(new_functions(spark)) or 'nothing'}")


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    if sys.argv[1:] == ["write"]:
        _write(session)
    else:
        found = list(differences(session))
        print("\n".join(found) or "the catalogue says what Spark says")
        sys.exit(bool(found))
