"""A test of a job, written in SQL: TEST 'name'; SET …; GIVEN source AS query; EXPECT node [ORDERED] AS query."""

from dataclasses import dataclass

from sqlglot.errors import TokenError

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from sql.parsing.spark_tokens import spark_tokens
from sql.script.split_statements import report_unclosed, split
from sql.script.tokens import ScriptSyntaxError, TokenCursor


@dataclass(frozen=True, slots=True)
class ScriptedRows:
    """The rows of a source or node: a query; `ordered`: their order counts."""

    name: PlacedText
    query: PlacedText
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class ScriptedTest:
    """One test of a script, with the variables that it sets."""

    name: str
    given: tuple[ScriptedRows, ...] = ()
    expected: tuple[ScriptedRows, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def read_tests(text: PlacedText, diagnostics: Diagnostics) -> tuple[ScriptedTest, ...]:
    """The tests of a script in their order; without TEST, the whole script is one."""
    try:
        parts = split(spark_tokens(text.value))
    except TokenError:
        report_unclosed(text, diagnostics)
        return ()
    tests = [_Test("")]
    for part in parts:
        cursor = TokenCursor(text, part)
        try:
            _read(cursor, tests)
            if not cursor.at_end:
                raise cursor.error("expected `;`")
        except ScriptSyntaxError as error:
            diagnostics.error("PEN6005", error.message, error.span, error.help)
    return tuple(test.frozen() for test in tests if test.given or test.expected)


class _Test:
    def __init__(self, name: str) -> None:
        self.name = name
        self.given: list[ScriptedRows] = []
        self.expected: list[ScriptedRows] = []
        self.variables: list[tuple[str, str]] = []

    def frozen(self) -> ScriptedTest:
        return ScriptedTest(self.name or "test", tuple(self.given), tuple(self.expected), tuple(self.variables))


def _read(cursor: TokenCursor, tests: list[_Test]) -> None:
    if cursor.take("TEST"):
        tests.append(_Test(cursor.string("the name of the test").value))
    elif cursor.take("SET"):
        key = cursor.string("the name of a variable") if cursor.word() == "" else cursor.until("=", what="a variable")
        cursor.expect("=")
        tests[-1].variables.append((key.value, cursor.string("a value").value))
    elif cursor.take("GIVEN"):
        tests[-1].given.append(_rows(cursor))
    elif cursor.take("EXPECT"):
        tests[-1].expected.append(_rows(cursor, may_be_ordered=True))
    else:
        raise cursor.error("expected `TEST`, `SET`, `GIVEN` or `EXPECT`")


def _rows(cursor: TokenCursor, *, may_be_ordered: bool = False) -> ScriptedRows:
    name = cursor.name("the name of a source or node")
    ordered = may_be_ordered and cursor.take("ORDERED")
    cursor.expect("AS")
    if cursor.at_end:
        raise cursor.error("expected a query")
    start, cursor.index = cursor.index, len(cursor.tokens)
    return ScriptedRows(name, cursor.between(start, cursor.index), ordered)
