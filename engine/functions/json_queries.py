"""JSON paths with filters, slices, `..`, several names and functions, as Jayway's JsonPath evaluates them.

    $.items[?(@.price < 10 && @.name =~ /a.*/)].name     a list: the path may find any number of values
    $..price    $.items[0:2]    $.items[0,2]    $.a['x','y']    $.*    lists too
    $.items[-1]    $.items.length()    $..price.sum()    one value

Runs in Spark's Python workers, which get the modules of this folder by value: they import nothing else of Penstock.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from engine.functions.json_comparisons import COMPARISONS, MISSING
from engine.functions.json_steps import (
    Step,
    Test,
    applied,
    children,
    fitting,
    indexed,
    of_filter,
    of_property,
    of_slice,
    scan,
    subset,
)

_NAME: Final = re.compile(r"[^.\[\]()\s?@'\",:=<>!&|*]+")
_QUOTED: Final = re.compile(r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_SLICE: Final = re.compile(r"\s*(-?\d+)?\s*:\s*(-?\d+)?\s*\]")
_INDEXES: Final = re.compile(r"\s*(-?\d+(?:\s*,\s*-?\d+)*)\s*\]")
_OPERATOR: Final = re.compile(
    r"\s*(==|!=|<=|>=|<|>|=~|(?:in|nin|anyof|noneof|subsetof|contains|size|empty)(?=[\s\[({'\"@$]))\s*", re.IGNORECASE
)
_FUNCTIONS: Final = ("length", "size", "min", "max", "avg", "sum", "stddev", "concat", "keys", "first", "last")


class PathError(ValueError):
    """A path that cannot be read."""


@dataclass(frozen=True, slots=True)
class JsonQuery:
    """A path: its steps, whether it finds one value at most, and the function over what it finds."""

    steps: tuple[Step, ...]
    is_definite: bool
    function: str | None
    is_over_list: bool


def find(text: str | None, query: JsonQuery) -> str | None:
    """What the path finds in a JSON text, as JSON; None where the text is none, or lacks the path's only value."""
    if text is None:
        return None
    try:
        document = json.loads(text)
    except ValueError:
        return None
    value = evaluate(query, document)
    return None if value is MISSING else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def find_at(text: str | None, path: str | None) -> str | None:
    """`find` for a path that is a text."""
    if path is None:
        return None
    if path not in _PARSED:
        _PARSED[path] = parse(path)
    return find(text, _PARSED[path])


_PARSED: Final[dict[str, JsonQuery]] = {}


def evaluate(query: JsonQuery, document: Any) -> Any:
    """The value, or the list of values; `MISSING` where a path of one value has none."""
    values = [document]
    for step in query.steps:
        values = [inner for value in values for inner in step(value, document)]
    if query.function is not None and (query.is_definite or not query.is_over_list):
        values = [applied(query.function, value) for value in values]
        values = [value for value in values if value is not MISSING]
    elif query.function is not None:
        return applied(query.function, values)
    if not query.is_definite:
        return values
    return values[0] if values else MISSING


def parse(path: str) -> JsonQuery:
    """A path as its steps; raises `PathError` with the rest that cannot be read."""
    reader = _Reader(path.strip())
    if not reader.takes("$"):
        raise PathError(path)
    query = reader.query()
    if not reader.is_at_end():
        raise PathError(reader.rest())
    return query


class _Reader:
    """The text of a path, and how far it is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def rest(self) -> str:
        return self.text[self.at :]

    def is_at_end(self) -> bool:
        return not self.rest().strip()

    def takes(self, token: str) -> bool:
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def match(self, pattern: "re.Pattern[str]") -> "re.Match[str] | None":
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def function(self) -> str | None:
        found = self.match(re.compile(rf"\.({'|'.join(_FUNCTIONS)})\(\s*\)"))
        return None if found is None else found[1]

    def step(self) -> tuple[Step, bool, bool] | None:
        """The next step, whether it finds one value at most, and whether it goes through all levels."""
        if re.match(r"\.\w+\(", self.rest()):
            return None
        if self.takes(".."):
            inner = self.brackets() if self.takes("[") else self.name()
            return scan(*inner[:2]), False, True
        if self.takes("."):
            return (*self.name()[::2], False)
        if self.takes("["):
            return (*self.brackets()[::2], False)
        return None

    def name(self) -> tuple[Step, Step | None, bool]:
        if self.takes("*"):
            return children, None, False
        found = self.match(_NAME)
        if found is None:
            raise PathError(self.rest())
        return of_property((found[0],)), None, True

    def brackets(self) -> tuple[Step, Step | None, bool]:
        """A step in brackets, the step that `..` takes instead, and whether it finds one value at most."""
        if self.match(re.compile(r"\s*\*\s*\]")):
            return children, None, False
        if self.match(re.compile(r"\s*\?\s*\(")):
            test = self.either()
            if not self.match(re.compile(r"\s*\)\s*\]")):
                raise PathError(self.rest())
            return of_filter(test), fitting(test), False
        if found := self.match(_SLICE):
            start, end = (int(part) if part else None for part in found.groups())
            return of_slice(start, end), None, False
        if found := self.match(_INDEXES):
            indexes = tuple(int(part) for part in found[1].split(","))
            return indexed(indexes), None, len(indexes) == 1
        names = [self.quoted()]
        while self.match(re.compile(r"\s*,\s*")):
            names.append(self.quoted())
        if not self.match(re.compile(r"\s*\]")):
            raise PathError(self.rest())
        return (of_property if len(names) == 1 else subset)(tuple(names)), None, True

    def quoted(self) -> str:
        self.match(re.compile(r"\s+"))
        found = self.match(_QUOTED)
        if found is None:
            raise PathError(self.rest())
        return re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2])

    def either(self) -> Test:
        tests = [self.both()]
        while self.match(re.compile(r"\s*\|\|")):
            tests.append(self.both())
        return lambda value, document: any(test(value, document) for test in tests)

    def both(self) -> Test:
        tests = [self.test()]
        while self.match(re.compile(r"\s*&&")):
            tests.append(self.test())
        return lambda value, document: all(test(value, document) for test in tests)

    def test(self) -> Test:
        self.match(re.compile(r"\s+"))
        if self.match(re.compile(r"!(?!=)")):
            negated = self.test()
            return lambda value, document: not negated(value, document)
        if self.takes("("):
            inner = self.either()
            if not self.match(re.compile(r"\s*\)")):
                raise PathError(self.rest())
            return inner
        left = self.operand()
        operator = self.match(_OPERATOR)
        if operator is None:
            return lambda value, document: left(value, document) is not MISSING
        right, compare = self.operand(), COMPARISONS[operator[1].lower()]
        return lambda value, document: compare(left(value, document), right(value, document))

    def operand(self) -> Step:
        """What a filter compares: a path from the element (`@`) or the document (`$`), or a constant."""
        self.match(re.compile(r"\s+"))
        if self.takes("@") or self.takes("$"):
            is_element = self.text[self.at - 1] == "@"
            query = self.query()
            return lambda value, document: evaluate(query, value if is_element else document)
        constant = self.constant()
        return lambda value, document: constant

    def query(self) -> JsonQuery:
        steps: list[Step] = []
        is_definite, is_over_list = True, False
        while (found := self.step()) is not None:
            steps.append(found[0])
            is_definite, is_over_list = is_definite and found[1], is_over_list or found[2]
        return JsonQuery(tuple(steps), is_definite, self.function(), is_over_list)

    def constant(self) -> Any:
        if found := self.match(re.compile(r"/((?:\\.|[^/\\])*)/(i?)")):
            return re.compile(found[1].replace(r"\/", "/"), re.IGNORECASE if found[2] else 0)
        if found := self.match(re.compile(r"(true|false|null)\b")):
            return {"true": True, "false": False, "null": None}[found[1]]
        if found := self.match(_NUMBER):
            return json.loads(found[0])
        if self.takes("["):
            items: list[Any] = []
            while not self.match(re.compile(r"\s*\]")):
                self.match(re.compile(r"[\s,]+"))
                items.append(self.constant())
            return items
        return self.quoted()
