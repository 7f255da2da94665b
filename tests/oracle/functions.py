"""Asks Spark about every function of the catalogue: its documented examples, and what it takes and gives.

`python -m tests.oracle.functions examples` (or `calls`, then every how many of the calls is asked) prints where
`analyze` disagrees, and the functions that only one of the two knows.
"""

import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from catalog.diagnostics.diagnostic import Severity
from catalog.diagnostics.source import PlacedText
from sql.analyze import analyze
from sql.functions.catalogue import function_names, signatures
from tests.oracle.agreement import oracle
from tests.oracle.spark_oracle import Accepted, Rejected, SparkOracle, differences
from tests.oracle.tables import ALL

TABLES = {table.path.table: table for table in ALL}

_OPERATORS = """
! % & * + - / < << <= <=> = == > >= >> >>> ^ | ~ != <> || and or not in between case when div cube rollup cast
"""
OPERATORS = frozenset(_OPERATORS.split())
"""What `SHOW FUNCTIONS` lists that is no call."""

SWITCHED_OFF = ("GEOSPATIAL_DISABLED", "AVRO_NOT_LOADED", "PROTOBUF", "FEATURE_NOT_ENABLED", "to_protobuf")
"""Refusals that are no matter of types: what the session has not loaded or enabled."""

_ARGUMENTS = """
flag_nn tiny_nn num_nn big_nn flt_nn dbl_nn money_nn txt_nn bin_nn day_nn ts_nn ntz_nn ym_nn dt_nn nums_nn dict_nn
point_nn doc_nn null num txt 1 'a'
"""
ARGUMENTS = tuple(_ARGUMENTS.split())


@dataclass
class Answers:
    """How the two agreed; `wrong` tells each disagreement, `missed` what Spark refuses and `analyze` does not."""

    equal: int = 0
    unknown: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def accepted(self) -> int:
        return self.equal + self.unknown + len(self.wrong)

    def __str__(self) -> str:
        return (
            f"{self.accepted} accepted by Spark: {self.equal} equal in type and nullability,"
            f" {len(self.names)} of them not in name, {self.unknown} unknown, {len(self.wrong)} wrong;"
            f" {self.refused} refused by both, {len(self.missed)} by Spark alone"
        )


def examples(spark: object) -> Iterator[str]:
    """The queries of `DESCRIBE FUNCTION EXTENDED`, of all functions."""
    analysis = spark.sparkContext._jvm.org.apache.spark.sql.catalyst.analysis  # type: ignore[attr-defined]
    for functions in (analysis.FunctionRegistry.builtin(), analysis.TableFunctionRegistry.builtin()):
        names = functions.listFunction().toList()
        for index in range(names.size()):
            info = functions.lookupFunction(names.apply(index)).get()
            for found in re.finditer(r"^\s*>\s*(.*?);\s*$", info.getExamples(), re.MULTILINE | re.DOTALL):
                query = found.group(1).replace("_FUNC_", info.getName())
                if not query.upper().startswith("SET "):
                    yield query


NOT_CALLS = OPERATORS | {
    "identifier",
    "timestampadd",
    "timestampdiff",
    "timediff",
    "table_changes",
    "table_changes_by_path",
}
"""What only one of the two lists: operators, calls of the grammar, and Delta's where its extension is loaded."""


def missing(spark: object) -> set[str]:
    """Built-in functions of which only one of the two knows."""
    listed = {row[0] for row in spark.sql("show system functions").collect()}  # type: ignore[attr-defined]
    return (listed ^ set(function_names())) - NOT_CALLS


def calls() -> Iterator[str]:
    """Calls with no, one and two arguments, of every type, of every function."""
    for name in sorted(set(function_names()) - OPERATORS):
        fits = {count for each in signatures(name) for count in range(3) if each.fits(count)}
        for count in sorted(fits):
            for arguments in itertools.product(ARGUMENTS, repeat=count):
                yield f"select {name}({', '.join(arguments)}) from every"


def compare(asked: SparkOracle, queries: Iterator[str]) -> Answers:
    found = Answers()
    for query in queries:
        _compare(found, query, asked.ask(query))
    return found


def _compare(answers: Answers, query: str, expected: Accepted | Rejected) -> None:
    analysis = analyze(PlacedText.bare(query), TABLES)
    errors = [each for each in analysis.diagnostics if each.severity is Severity.ERROR]
    if isinstance(expected, Rejected):
        if errors or any(word in expected.condition + expected.message for word in SWITCHED_OFF):
            answers.refused += 1
        else:
            answers.missed.append(f"{expected.condition} {expected.message[:120]!r} :: {query}")
    elif errors:
        answers.wrong.append(f"refused: {errors[0].code} {errors[0].message} :: {query}")
    elif analysis.table.is_open or any("unknown" in str(each.type) for each in analysis.columns):
        answers.unknown += 1
    else:
        problems = differences(expected, analysis)
        wrong = [each for each in problems if not each.startswith("name ")]
        answers.wrong += [f"{each} :: {query}" for each in wrong]
        answers.names += [f"{each} :: {query}" for each in problems if not wrong][:1]
        answers.equal += not wrong


if __name__ == "__main__":
    import logging

    from pyspark.sql import SparkSession

    logging.getLogger("SQLQueryContextLogger").disabled = True
    session = SparkSession.builder.master("local[1]").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    asked = itertools.islice(calls(), 0, None, every) if sys.argv[1] == "calls" else examples(session)
    answers = compare(oracle(session), asked)
    for line in (*answers.wrong, *answers.names, *answers.missed):
        print(line)
    print("only in one:", sorted(missing(session)))
    print(Counter(line.split("(")[0].split()[-1] for line in answers.wrong).most_common(20))
    print(answers)
