"""Spark's functions as data: a file for each version of Spark, such as `spark_4_1.tsv`, read on first use.

A line is `name, kind, arguments, result, nullable, flags`:

    kind        scalar | aggregate | window | generator | table
    arguments   one kind each (`argument_kinds.py`): `k` required, `[k]` optional, `k*` none or more at the end;
                `lambda` a lambda function, `unit` a bare word such as MONTH
    result      a type; `$n`: that of argument n once cast; `@rule`: the function of that name in `sql.functions.rules`
    nullable    no | yes | any (argument) | 1,2 (any of these) | @ (the rule says)
    flags       any of these words, none where nothing of it holds:
                random: not deterministic; clock: constant within a query, not between runs
                pure: its value follows from its arguments alone, and it names no fields by them (for rules that merge
                queries: conservative, what is not measured has no such flag)
                deferred: not evaluated while Spark analyzes a query, whatever its arguments
                ignore_nulls, within_group: takes the clause of that name
                named_by_type: its printed name depends on the type of its first argument
                types_nulls: Spark puts a NULL of the type that it takes in place of an argument without a type
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from catalog.spark_version import NEWEST, SUPPORTED, SparkVersion

OWN_PREFIX: Final = "penstock_"
"""How the names of Penstock's own functions begin."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One way to call a function; `repeated` is the kind of any further arguments."""

    name: str
    kind: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    repeated: str | None
    result: str
    nullable: str
    flags: frozenset[str]

    @property
    def is_random(self) -> bool:
        return "random" in self.flags

    def fits(self, count: int) -> bool:
        most = len(self.required) + len(self.optional)
        return count >= len(self.required) and (count <= most or self.repeated is not None)

    def kind_at(self, index: int) -> str:
        if index < len(self.required):
            return self.required[index]
        index -= len(self.required)
        return self.optional[index] if index < len(self.optional) else self.repeated or ""


@lru_cache(maxsize=len(SUPPORTED))
def _lines(spark: SparkVersion) -> dict[str, list[str]]:
    """That of 4.1 is of the patch release 4.1.4: patches of Spark add functions."""
    return _read(f"spark_{spark.major}_{spark.minor}.tsv")


@lru_cache(maxsize=1)
def _own_lines() -> dict[str, list[str]]:
    """The functions that Penstock registers in a session."""
    return _read("penstock.tsv")


def _read(file: str) -> dict[str, list[str]]:
    text = Path(__file__).with_name(file).read_text("utf-8")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            found.setdefault(line[: line.index("\t")], []).append(line)
    return found


def function_names(spark: SparkVersion = NEWEST) -> tuple[str, ...]:
    """Spark's functions."""
    return tuple(_lines(spark))


@lru_cache(maxsize=4096)
def signatures(name: str, spark: SparkVersion = NEWEST) -> tuple[Signature, ...]:
    """All ways to call the function of that (lower-case) name; empty where neither Spark nor Penstock has it."""
    lines = _lines(spark).get(name) or (_own_lines().get(name) if name.startswith(OWN_PREFIX) else None)
    return tuple(_signature(line) for line in lines or ())


@lru_cache(maxsize=4096)
def flags(name: str, spark: SparkVersion = NEWEST) -> frozenset[str]:
    """The flags of the function of that (lower-case) name; none where Spark has no such function."""
    return frozenset(flag for signature in signatures(name, spark) for flag in signature.flags)


def _signature(line: str) -> Signature:
    name, kind, arguments, result, nullable, words = line.split("\t")
    required, optional, repeated = [], [], None
    for argument in arguments.split():
        if argument.startswith("["):
            optional.append(argument[1:-1])
        elif argument.endswith("*"):
            repeated = argument[:-1]
        else:
            required.append(argument)
    return Signature(name, kind, tuple(required), tuple(optional), repeated, result, nullable, frozenset(words.split()))
