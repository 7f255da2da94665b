"""Reads HOCON (and JSON, which is a part of it) into syntax with exact locations, and continues after errors.

Values mean what pyhocon makes of them; where pyhocon and the HOCON specification differ,
tests/engine/job/hocon/test_hocon.py lists which one applies. After an error, parsing continues at the next line, so
that one run reports all errors.
"""

import re
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText, SourceFile
from engine.job.hocon.include import Includes
from engine.job.hocon.lexemes import key_at, string_at, substitution_at, unescape, word_at
from engine.job.hocon.syntax import Concatenation, HoconArray, HoconField, HoconObject, Syntax
from engine.job.model.tree import Place, ScalarNode, TextNode

_GAP: Final = re.compile(r"(?:[\s,\ufeff]+|#[^\n]*|//[^\n]*)*")
_GAP_BEFORE_VALUE: Final = re.compile(r"(?:\s+|#[^\n]*|//[^\n]*)*")
_BLANKS: Final = re.compile(r"(?:[ \t]|\\\r?\n)*")
_INCLUDE: Final = re.compile(
    r'include\s+(?:(required)\s*\(\s*)?(?:(url|file|package)\s*\(\s*)?("(?:[^"\\\n]|\\.)*")', re.IGNORECASE
)
_FIELD: Final = re.compile(r"[^,}\]\n]*")
_SINGLE_QUOTED: Final = re.compile(r"'[^'\n]*'(?=[ \t]*(?:[,}\]\r\n#]|//|\Z))")
_REST_OF_TYPE: Final = re.compile(r"[ \t]*,[\w<>():, \t]+")
_CLOSE: Final = re.compile(r"\s*\)")
_SECTION: Final = re.compile(r'"?(?:env|source|transform|sink)"?\s*[{\[=:]')
_CLOSERS: Final = {"{": "}", "[": "]"}

MOST_NESTED: Final = 100
"""Levels of brackets and steps of keys. Python's recursion limit is 1,000 frames; a level takes five here."""


def parse(
    source: SourceFile, diagnostics: Diagnostics, includes: Includes | None = None, depth: int = 0
) -> HoconObject | HoconArray:
    """Parse the whole file; errors go to `diagnostics`, and the valid parts are returned.

    `depth`: the levels of the including files around it, which count against `MOST_NESTED` too.
    """
    return _Reader(source, diagnostics, includes or Includes(source.path), depth).file()


class _Reader:
    """A recursive-descent reader over one text; `pos` is the next character."""

    def __init__(self, source: SourceFile, diagnostics: Diagnostics, includes: Includes, depth: int) -> None:
        self.source = source
        self.text = source.text
        self.diagnostics = diagnostics
        self.includes = includes
        self.depth = depth
        self.pos = 0
        self.misplaced: int | None = None  # the first opener whose closer stands further left: likely the unclosed one
        self.is_cut_off = False

    def file(self) -> HoconObject | HoconArray:
        self.gap()
        first = self.peek()
        if first == "[":
            root: HoconObject | HoconArray = self.array()
        elif first == "{":
            root = self.object()
        else:
            root = HoconObject(self.fields(None, 0), self.place(0, len(self.text)))
        self.gap()
        if self.pos < len(self.text) and not self.is_cut_off:
            self.error(self.pos, self.pos + 1, "text after the end of the job", "the outermost block is closed above")
        return root

    def peek(self) -> str:
        return self.text[self.pos : self.pos + 1]

    def place(self, start: int, end: int) -> Place:
        return Place(self.source, start, end)

    def gap(self) -> None:
        """Skip blanks, newlines, commas and comments."""
        match = _GAP.match(self.text, self.pos)
        assert match is not None
        self.pos = match.end()

    def error(self, start: int, end: int, message: str, help: str | None = None) -> None:
        self.diagnostics.error("PEN1002", message, self.source.span(start, end), help)

    def skip_line(self) -> None:
        end = self.text.find("\n", self.pos)
        self.pos = len(self.text) if end < 0 else end

    # objects and lists

    def object(self) -> HoconObject:
        start = self.enter()
        fields = self.fields("}", start)
        self.warn_of_replacing(fields)
        self.close(start, "}")
        self.depth -= 1
        return HoconObject(fields, self.place(start, self.pos))

    def array(self) -> HoconArray:
        start = self.enter()
        items: list[Syntax] = []
        while True:
            self.gap()
            if self.peek() in ("", "]", "}"):
                break
            before = self.pos
            item = self.value()
            if item is not None:
                self.warn_of_merging(item)
                items.append(item)
            elif self.pos == before:
                self.stray()
        self.close(start, "]")
        self.depth -= 1
        return HoconArray(items, self.place(start, self.pos))

    def warn_of_merging(self, item: Syntax) -> None:
        """Two blocks side by side are one in HOCON, whose later values count: in a list, hardly what is meant."""
        seen: set[str] = set()
        for part in item.parts if isinstance(item, Concatenation) else ():
            keys = [field.key for field in part.fields] if isinstance(part, HoconObject) else []
            if key := next((known for known in keys if known in seen), None):
                span = self.source.span(part.place.start, part.place.start + 1)
                message = f"this block is merged into the one before it, and its `{key}` replaces the other's"
                self.diagnostics.warning(
                    "PEN1002", message, span, "put a comma or a new line between the blocks of a list"
                )
            seen.update(keys)

    def warn_of_replacing(self, fields: list[HoconField]) -> None:
        """Of a key that is given twice in a block, the last value counts: fine for a default and its override by a
        variable or after an include, a mistake otherwise."""
        seen: dict[str, HoconField] = {}
        for item in fields:
            key, last = _whole_key(item)
            before = seen.get(key)
            if before is not None and not last.is_append and _replaces(before, last):
                line = last.key_place.span.line
                message = f"this `{key}` has no effect: it is given again in line {line}, in the same block"
                self.diagnostics.warning("PEN2011", message, before.key_place.span, "remove one of the two")
            seen[key] = last

    def close(self, start: int, closer: str) -> None:
        here = self.peek()
        if here == closer:
            if self.misplaced is None and self.indent(self.pos) < self.indent(start) and self.is_first(self.pos):
                self.misplaced = start
            self.pos += 1
        elif here:  # the other kind of closer
            opener = self.text[start]
            line = self.source.span(start, start + 1).line
            self.error(self.pos, self.pos + 1, f"`{here}` where the `{opener}` of line {line} needs `{closer}`")
            self.pos += 1
        else:
            self.unclosed(start, closer)

    def unclosed(self, start: int, closer: str) -> None:
        if self.is_cut_off:
            return
        self.is_cut_off = True
        likely = start if self.misplaced is None else self.misplaced
        opener = self.text[likely]
        self.error(likely, likely + 1, f"this `{opener}` is never closed", f"add the missing `{_CLOSERS[opener]}`")

    def enter(self) -> int:
        """Go into the brackets that open here; returns where they do."""
        start = self.pos
        self.pos += 1
        self.depth += 1
        if self.depth > MOST_NESTED:
            self.too_deep(start)
        return start

    def too_deep(self, start: int) -> None:
        """Stop reading the file: the trees of what follows would be too deep for all code that walks them."""
        if not self.is_cut_off:
            message = f"more than {MOST_NESTED} levels of brackets and dotted keys are nested"
            self.error(start, start + 1, message, "write it with fewer levels; the rest of the file is not read")
        self.is_cut_off = True
        self.pos = len(self.text)

    def indent(self, offset: int) -> int:
        line = self.text.rfind("\n", 0, offset) + 1
        return len(self.text[line:offset]) - len(self.text[line:offset].lstrip())

    def is_first(self, offset: int) -> bool:
        line = self.text.rfind("\n", 0, offset) + 1
        return not self.text[line:offset].strip()

    def fields(self, closer: str | None, opened: int) -> list[HoconField]:
        fields: list[HoconField] = []
        while True:
            self.gap()
            here = self.peek()
            if not here or here == closer:
                return fields
            if here in "}]":
                if closer is not None:
                    return fields
                self.error(self.pos, self.pos + 1, f"this `{here}` closes nothing", "remove it, or open it above")
                self.pos += 1
                continue
            include = _INCLUDE.match(self.text, self.pos) if here in "iI" else None
            if include:
                self.include(include, fields)
            else:
                self.find_misplaced(closer, opened)
                self.field(fields)

    def find_misplaced(self, closer: str | None, opened: int) -> None:
        """A section that begins inside of a block, and no further to the right: a missing bracket is the block's."""
        if closer is None or self.misplaced is not None or not _SECTION.match(self.text, self.pos):
            return
        if self.is_first(self.pos) and self.indent(self.pos) <= self.indent(opened):
            self.misplaced = opened

    def include(self, match: "re.Match[str]", fields: list[HoconField]) -> None:
        required, kind, quoted = match.groups()
        self.pos = match.end()
        for _ in range(bool(required) + bool(kind)):
            close = _CLOSE.match(self.text, self.pos)
            if close is None:
                self.error(self.pos, self.pos + 1, "`)` expected after the name of the included file")
                self.skip_line()
                return
            self.pos = close.end()
        start = match.start(3)
        name = unescape(quoted[1:-1], self.source, start + 1).value
        place = self.place(start, match.end(3))
        for text in self.includes.find(name, (kind or "").lower(), bool(required), place, self.diagnostics):
            root = parse(text, self.diagnostics, self.includes.within(text.path), self.depth)
            if isinstance(root, HoconObject):
                fields.extend(root.fields)
            else:
                self.diagnostics.error("PEN1004", f"`{name}` holds a list, not keys and values", place.span)

    # fields

    def field(self, fields: list[HoconField]) -> None:
        start = self.pos
        steps, self.pos = key_at(self.source, start)
        if not steps:
            self.stray()
            return
        is_append = False
        self.gap_before_value()
        if self.text.startswith("+=", self.pos):
            is_append = True
            self.pos += 2
        elif self.peek() in ("=", ":"):
            self.pos += 1
        elif self.peek() != "{":
            name = self.text[start : steps[-1][2]]
            self.error(start, steps[-1][2], f"`{name}` has no value", f"write `{name} = …` or `{name} {{ … }}`")
            self.skip_line()
            return
        equals = self.pos
        self.gap_before_value()
        more = len(steps) - 1
        if self.depth + more > MOST_NESTED:
            self.too_deep(start)
            return
        self.depth += more
        value = self.value()
        self.depth -= more
        if value is None:
            name = self.text[start : steps[-1][2]]
            self.error(start, equals, f"`{name}` has no value", 'write `""` for an empty text')
            return
        key, first, last = steps[-1]
        field = HoconField(key, self.place(first, last), value, is_append)
        for key, first, last in reversed(steps[:-1]):
            field = HoconField(key, self.place(first, last), HoconObject([field], value.place))
        fields.append(field)

    def gap_before_value(self) -> None:
        """Blanks, newlines and comments may stand around `=`; a comma or another key may not."""
        match = _GAP_BEFORE_VALUE.match(self.text, self.pos)
        assert match is not None
        self.pos = match.end()

    def skip_field(self) -> None:
        """Up to what may end a value on its line, so that what is closed there is not taken for unclosed."""
        match = _FIELD.match(self.text, self.pos)
        assert match is not None
        self.pos = match.end()

    def stray(self) -> None:
        """A character that starts nothing: report it and go on after what it is a part of."""
        here = self.peek()
        if here == '"':
            self.unclosed_string()
            self.skip_line()
        else:
            self.error(
                self.pos, self.pos + 1, f"`{here}` is not expected here", "put text with this character in quotes"
            )
            self.skip_field()

    # values

    def value(self) -> Syntax | None:
        """Everything up to the end of the value; None if there is nothing."""
        text = self.text
        parts: list[Syntax] = []
        start = self.pos
        while True:
            blanks = _BLANKS.match(text, self.pos)
            assert blanks is not None
            end, self.pos = self.pos, blanks.end()
            here = text[self.pos : self.pos + 1]
            if here in ("", "\n", "\r", ",", "}", "]", "#") or text.startswith("//", self.pos):
                break
            if here in "={" and self.missing_comma(parts):
                break
            parts.append(self.part(here))
        if len(parts) == 1:
            return parts[0]
        return Concatenation(parts, self.place(start, end)) if parts else None

    def missing_comma(self, parts: list[Syntax]) -> bool:
        """Whether the word before a `=` or `{` is a key: a comma is missing before it. Goes back to it."""
        last = parts[-1] if parts else None
        if not isinstance(last, TextNode) or self.text[last.place.start] == '"':
            return False
        words = last.value.rsplit(maxsplit=1)
        if len(parts) == 1 and len(words) == 1:
            return False
        start = last.place.end - len(words[-1])
        self.error(start, last.place.end, f"a comma or a new line is missing before `{words[-1]}`")
        self.pos = start
        parts.pop()
        if len(words) > 1:
            end = last.place.start + len(words[0])
            parts.append(word_at(SourceFile(self.source.path, self.text[:end]), last.place.start) or last)
        return True

    def part(self, here: str) -> Syntax:
        match here:
            case '"':
                return self.string()
            case "{":
                return self.object()
            case "[":
                return self.array()
            case "$":
                return self.substitution()
            case _:
                return self.unquoted()

    def string(self) -> TextNode:
        found = string_at(self.source, self.pos)
        if found is None:
            return self.unclosed_string()
        self.pos = found.place.end
        return found

    def unclosed_string(self) -> TextNode:
        start = self.pos
        if self.text.startswith('"""', start):
            self.error(start, start + 3, 'this `"""` is never closed', 'add `"""` where the text ends')
            self.is_cut_off = True
            self.pos = len(self.text)
        else:
            self.skip_line()
            self.error(
                start, start + 1, "this string is not closed on its line",
                'add the missing `"`; write text of several lines between `"""` and `"""`',
            )  # fmt: skip
        return TextNode(PlacedText.verbatim(self.source, start + 1, self.pos), self.place(start, self.pos), False)

    def substitution(self) -> Syntax:
        found = substitution_at(self.source, self.pos)
        if found is None:
            return self.forbidden("`$` starts a substitution `${name}`")
        self.pos = found.place.end
        return found

    def unquoted(self) -> Syntax:
        if single := _SINGLE_QUOTED.match(self.text, self.pos):
            return self.single_quoted(single)
        found = word_at(self.source, self.pos)
        if isinstance(found, TextNode) and (end := _end_of_type(self.text, self.pos, found.place.end)):
            return self.unquoted_type(end)
        if found is None:
            return self.forbidden(f"`{self.text[self.pos]}` is not allowed in text without quotes")
        self.pos = found.place.end
        return found

    def single_quoted(self, match: "re.Match[str]") -> TextNode:
        """`'text'`: HOCON has no single quotes, so that they are a part of the text, and a comma in it ends it."""
        start, self.pos = match.span()
        found = word_at(self.source, start)
        help = 'HOCON has only double quotes: write `"…"`'
        if isinstance(found, TextNode) and found.place.end == self.pos:
            message = "the single quotes are a part of this text"
            self.diagnostics.warning("PEN1002", message, self.source.span(start, self.pos), help)
            return found
        self.error(start, self.pos, "a text in single quotes ends at its first special character", help)
        return TextNode(PlacedText.verbatim(self.source, start + 1, self.pos - 1), self.place(start, self.pos))

    def unquoted_type(self, end: int) -> TextNode:
        """`decimal(10,2)` without quotes, which would end at the comma."""
        start, self.pos = self.pos, end
        written = self.text[start:end]
        self.error(start, end, "a type with a comma must be in quotes", f'write `"{written}"`')
        return TextNode(PlacedText.verbatim(self.source, start, end), self.place(start, end))

    def forbidden(self, message: str) -> TextNode:
        start = self.pos
        self.skip_line()
        self.error(start, start + 1, message, 'put the value in quotes: `"…"`')
        return TextNode(PlacedText.verbatim(self.source, start, self.pos), self.place(start, self.pos), False)


def _end_of_type(text: str, start: int, end: int) -> int | None:
    """Where a type ends that a comma has cut at `end` (`decimal(10`); None if there is none."""
    open = _depth(text[start:end])
    rest = _REST_OF_TYPE.match(text, end)
    for at in range(end, rest.end() if rest and open > 0 else end):
        open += _depth(text[at])
        if open == 0:
            return at + 1
    return None


def _depth(text: str) -> int:
    """How many brackets of types are open in it."""
    return sum((sign in "(<") - (sign in ")>") for sign in text)


def _whole_key(item: HoconField) -> tuple[str, HoconField]:
    """The key with its dots, and the field of its last step."""
    key = item.key
    while isinstance(item.value, HoconObject) and item.value.fields:
        inner = item.value.fields[0]
        if item.value.place is not inner.value.place:
            break
        key, item = f"{key}.{inner.key}", inner
    return key, item


def _replaces(before: HoconField, after: HoconField) -> bool:
    """Whether the later value, written in the same file, takes the place of the earlier one."""
    if before.key_place.source is not after.key_place.source:
        return False
    both = (before.value, after.value)
    return all(isinstance(value, ScalarNode | TextNode | HoconArray) for value in both)
