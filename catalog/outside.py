"""Text that comes from outside the job: names in rows and databases, values of the environment, other files.

    fill(Fill.PATH, "out/${table_name}", {"table_name": Outside.of("../users")})     raises UnfitError
    fill(Fill.TABLE, "shop.${table_name}", {"table_name": Outside.of("a.b")})        shop."a.b"

An `Outside` is no string: it cannot be joined to one, and formatting it fails. It becomes a part of an option's value
only through `fill`, which encodes it for what the option is, or refuses it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, NoReturn

PLACEHOLDER: Final = re.compile(r"\$\{(\w+)(?::([^}]*))?\}")

_PLAIN: Final = re.compile(r"[^\W\d]\w*")
_HARMLESS: Final = re.compile(r"\w+(?:-\w+)*")
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]+")
_LONGEST_TOPIC: Final = 249
_LONGEST_SEGMENT: Final = 255
_NEVER: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_BIDI: Final = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_RESERVED: Final = frozenset({"_delta_log", "_temporary"})
_NOT_IN_PATHS: Final = re.compile(r"[/\\*?\[\]{}:]")
_OPENING: Final = re.compile(r"""'|"|`|\[|--|/\*""")
_CLOSING: Final = {"'": "'", '"': '"', "`": "`", "[": "]", "--": "\n", "/*": "*/"}


class Fill(str, Enum):
    """What a placeholder in an option is."""

    PATH = "part of a path"
    TABLE = "part of a table's name, in double quotes where it needs them"
    SPARK_TABLE = "part of a table's name, in backquotes where it needs them"
    NAME = "a name as it is"
    SQL = "a name or a literal in SQL"
    TOPIC = "part of a topic"
    INDEX = "part of an index's name, in which braces name columns"
    KEY = "part of a key, in which braces name columns, and which may be a column's name"
    COLLECTION = "part of a collection's name"
    FOLDER_TABLE = "as `spark_table`, and the name of a directory"
    FOLDER_NAME = "part of a table's name without quotes, and the name of a directory"
    PLAIN = "letters, digits, `_` and single `-`"


class UnfitError(ValueError):
    """The reason why a text from outside cannot be a part of an option."""


@dataclass(frozen=True, slots=True)
class Outside:
    """A text from outside, or several that a placeholder joins: the parts of a full name, a list of columns."""

    parts: tuple[str, ...]
    separator: str = ","

    @classmethod
    def of(cls, text: str | None) -> "Outside":
        return cls((text,) if text else ())

    def __str__(self) -> str:
        raise TypeError("text from outside is encoded for its place by `fill`, not formatted")

    def __format__(self, _specification: str) -> NoReturn:
        raise TypeError("text from outside is encoded for its place by `fill`, not formatted")


def fill(kind: Fill, template: str, known: Mapping[str, Outside]) -> str:
    """The template with its placeholders filled in as the kind says. Raises `UnfitError`.

    A placeholder without a value takes its default; one that is not known is left as it is.
    """
    if not any(match[1] in known for match in PLACEHOLDER.finditer(template)):
        return template
    match kind:
        case Fill.PATH:
            return _checked_path(_joined(template, known, _path_part))
        case Fill.TABLE | Fill.SPARK_TABLE:
            if kind is Fill.SPARK_TABLE and any("${" in text for text in _values(template, known)):
                raise UnfitError("Spark would replace `${` in it by a value of its settings")
            return _table(template, known, '"' if kind is Fill.TABLE else "`")
        case Fill.INDEX | Fill.KEY:
            return _joined(template, known, _without_braces)
        case Fill.COLLECTION:
            return _checked_collection(_joined(template, known, _name), template)
        case Fill.FOLDER_TABLE:
            for text in _values(template, known):
                _path_part(text)
            return _table(template, known, "`")
        case Fill.FOLDER_NAME:
            return _joined(template, known, _folder_name)
        case Fill.NAME:
            return _joined(template, known, _name)
        case Fill.SQL:
            return "".join(_sql(template, known))
        case Fill.TOPIC:
            topic = _joined(template, known, _topic_part)
            if topic in (".", "..") or len(topic) > _LONGEST_TOPIC:
                raise UnfitError(f"`{topic[:80]}` is no topic")
            return topic
        case Fill.PLAIN:
            return _joined(template, known, _plain)


def _joined(template: str, known: Mapping[str, Outside], encoded: Callable[[str], str]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in known:
            return match[0]
        outside = known[match[1]]
        return outside.separator.join(map(encoded, outside.parts)) or match[2] or ""

    return PLACEHOLDER.sub(value, template)


def _name(text: str) -> str:
    if _NEVER.search(text) or _BIDI.search(text):
        raise UnfitError("it has a control character")
    return text


def _without_braces(text: str) -> str:
    if found := re.search(r"[{}$]", _name(text)):
        raise UnfitError(f"`{found[0]}` would begin or end the name of a column")
    return text


def _checked_collection(name: str, template: str) -> str:
    """MongoDB's own collections, and names that it takes for others, come from no source."""
    if name.startswith("system.") and not template.startswith("system."):
        raise UnfitError("collections `system.…` are the server's own")
    if "$" in name or ".." in name or name.startswith(".") or name.endswith("."):
        raise UnfitError("the name of a collection has no `$`, no `..`, and no `.` at its start or end")
    return name


def _topic_part(text: str) -> str:
    if not _TOPIC.fullmatch(text):
        raise UnfitError("a topic has letters, digits, `.`, `_` and `-`")
    return text


def _plain(text: str) -> str:
    if not _HARMLESS.fullmatch(text):
        raise UnfitError(f"this option takes only {Fill.PLAIN.value}")
    return text


def _values(template: str, known: Mapping[str, Outside]) -> Iterator[str]:
    for match in PLACEHOLDER.finditer(template):
        if match[1] in known:
            yield from known[match[1]].parts


def _folder_name(text: str) -> str:
    if "." in text:
        raise UnfitError("this option cannot hold a name with a dot")
    return _path_part(text)


def _path_part(text: str) -> str:
    if found := _NOT_IN_PATHS.search(_name(text)):
        raise UnfitError(f"`{found[0]}` cannot be in the name of a directory")
    if text != text.strip():
        raise UnfitError("the name of a directory begins or ends with no blank")
    if text.lower() in _RESERVED:
        raise UnfitError(f"a directory `{text}` makes a table of the one above it")
    if text.startswith((".", "~")):
        raise UnfitError(f"the name of a directory does not begin with `{text[0]}`")
    return text


def _checked_path(path: str) -> str:
    for segment in path.split("/"):
        if len(segment.encode(errors="surrogatepass")) > _LONGEST_SEGMENT:
            raise UnfitError(f"the name of a directory has at most {_LONGEST_SEGMENT} bytes")
    return path


def _table(template: str, known: Mapping[str, Outside], quote: str) -> str:
    """The parts of a name, in which a value is one part or a piece of one, quoted as a whole where it must be."""
    return ".".join(_table_part(part, known, quote) for part in _template_parts(template, quote))


def _template_parts(template: str, quote: str) -> Iterator[str]:
    """The template between the dots that separate the parts of a name."""
    part, quoted, position = "", "", 0
    while position < len(template):
        match = PLACEHOLDER.match(template, position)
        piece = match[0] if match else template[position]
        if piece == "." and not quoted:
            yield part
            part = ""
        else:
            part += piece
            quoted = "" if piece == quoted else quoted or (piece if piece in (quote, "`") else "")
        position += len(piece)
    yield part


def _table_part(part: str, known: Mapping[str, Outside], quote: str) -> str:
    bare = PLACEHOLDER.sub("", part).strip()
    wrapper = bare[:1]
    if wrapper in (quote, "`") and bare.endswith(wrapper) and bare.count(wrapper) == 2:
        return _joined(part, known, lambda text: _name(text).replace(wrapper, wrapper * 2))
    if re.search(r"""["`'\[\]]""", bare):
        return _joined(part, known, _plain)
    full = PLACEHOLDER.fullmatch(part.strip())
    if full and full[1] in known and known[full[1]].separator == ".":
        return ".".join(_quoted(_name(text), quote) for text in known[full[1]].parts) or full[2] or ""
    plain = _joined(part, known, _name)
    names = [text for match in PLACEHOLDER.finditer(part) if match[1] in known for text in known[match[1]].parts]
    return plain if all(map(_PLAIN.fullmatch, names)) or not names else _quoted(plain, quote)


def _quoted(name: str, quote: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote + name.replace(quote, quote * 2) + quote


def _sql(template: str, known: Mapping[str, Outside]) -> Iterator[str]:
    """The pieces of a statement: a value is a plain name, or within quotes the text between them."""
    inside, position = "", 0
    while position < len(template):
        if match := PLACEHOLDER.match(template, position):
            yield _joined(match[0], known, lambda text: _in_sql(text, inside))  # noqa: B023 (called at once)
            position = match.end()
            continue
        sign = _OPENING.match(template, position)
        piece = sign[0] if sign and not inside else template[position]
        if inside and template.startswith(_CLOSING[inside], position):
            piece, inside = _CLOSING[inside], ""
        elif not inside and sign:
            inside = piece
        yield piece
        position += len(piece)


def _in_sql(text: str, inside: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    if inside not in ("'", '"', "`") or "\\" in _name(text):
        raise UnfitError('in SQL, a name that is no plain word stands between quotes: `"${table_name}"`')
    return text.replace(inside, inside * 2)
