"""Where the secrets of a connection text are, by the grammar of its scheme.

    jdbc:oracle:thin:scott/tiger@//db:1521/shop         `tiger`
    jdbc:sqlserver://db;user=me;password={a;b};x=1      `{a;b}`
    jdbc:postgresql://db/shop?password=a,b;c&ssl=true   `a,b;c`

A password may contain what ends a word elsewhere. A text that does not follow its grammar is hidden whole.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

Range: TypeAlias = tuple[int, int]
IsSecret: TypeAlias = Callable[[str], bool]

_SCHEME: Final = r"jdbc:[a-z][\w+.-]*:|(?<![\w+.-])[a-z][a-z0-9+.-]*://|(?<![\w+.:/-])//(?=[^/:@\s]*:)"
_WHOLE: Final = re.compile(rf"\s*(?:{_SCHEME})[^\n]*\s*", re.IGNORECASE)
_WITHIN: Final = re.compile(
    rf"(?<=\")(?P<double>(?:{_SCHEME})(?:[^\"\\\n]|\\.)*)"
    rf"|(?<=')(?P<single>(?:{_SCHEME})(?:[^'\\\n]|''|\\.)*)"
    rf"|(?<=`)(?P<tick>(?:{_SCHEME})[^`\n]*)"
    rf"|(?P<word>(?:{_SCHEME})[^\s\"`]*)",
    re.IGNORECASE,
)
"""A connection text in a message or a file: it ends with the quotes around it, else at a blank."""

_KIND: Final = re.compile(r"\s*(?P<jdbc>jdbc:)?(?P<name>[a-z][\w+.-]*|(?=//)):?", re.IGNORECASE)
_BY_SEMICOLON: Final = frozenset({"sqlserver", "jtds", "microsoft", "sybase", "h2", "hsqldb", "derby", "as400"})
_BY_AMPERSAND: Final = frozenset(
    {"postgresql", "redshift", "sqlite", "mysql", "mariadb", "snowflake", "clickhouse", "ch", "duckdb"}
)

_ORACLE_USER: Final = re.compile(r"jdbc:oracle:[^:@/]*:(?:\s*\\*\"[^\"]*\"|[^/@\"\\]*)/(.+)@", re.IGNORECASE)
_IN_PARENTHESES: Final = re.compile(r"\(\s*([\w.-]+)\s*=\s*(\\*\"[^\"]*\"|[^()]*)")
_AFTER_SEMICOLON: Final = re.compile(r"[;?]\s*([\w. -]+?)\s*=\s*(\{(?:[^}]|\}\})*(?:\}|\Z)|(?:[^;\\]|\\.?)*)")
_AFTER_AMPERSAND: Final = re.compile(r"[?&]\s*([\w.%-]+)=([^&]*)")
_AFTER_ANY: Final = re.compile(r"[/:;?&,(#\s]\s*([\w.-]+)\s*=(.*?)(?=[;&,)(]\s*[\w.-]+\s*=|\Z)", re.DOTALL)
_BEFORE_PASSWORD: Final = re.compile(r"//[^/:@\s]*?(?::|%3[aA])(?!\d+(?:[/?#,]|\Z))")
_JDBC_BEFORE_PASSWORD: Final = re.compile(r"://[^/:@\s]*:(?!\d+,)")
_NO_PORT: Final = re.compile(
    r"(?<=:)//(?:\[[^\]/]*\]|[^/:@?#;\s\[\]]+):(?!port\b|[$<{%*])(?=[^\s/?#;,]*[a-z])([^\s/?#;,]+)", re.IGNORECASE
)
"""What stands where a port is, and is none."""
_NO_ADDRESS: Final = re.compile(r"(?<=:)//(?=\[(?![\da-f:.%]+\])[^\s/]*[a-z\d])", re.IGNORECASE)
"""A bracket that holds no address of IPv6."""
_LOGIN: Final = re.compile(
    r"(?!mailto:|jdbc:|[\w+.-]+:/)[^\s/:@{}$()\"'`,;]+:([^\s]+)@[^\s@/:]+(?::\d+)?", re.IGNORECASE
)
"""A URL without its scheme: `me:tiger@db:9200`."""
_PAIRS: Final = re.compile(r"[\w. -]+=[^;\n]*(?:;[^\n]*)?")
_PAIR: Final = re.compile(r"(?:\A|;)\s*([\w. -]+?)\s*=\s*(\{(?:[^}]|\}\})*\}|\"[^\"]*\"|'[^']*'|[^;]*)")
"""What .NET and ODBC call a connection string, such as those of Azure: `AccountName=a;AccountKey=b;…`."""
_LONE_USER: Final = re.compile(r"https?://([^/:@?#\s]+|[^/.:@?#\s]+/[^:@?#\s]*)@", re.IGNORECASE)
"""A token alone; one with a slash looks like a host without a dot."""


def without_secrets(text: str, hidden: Callable[[str], str], is_secret: IsSecret) -> str:
    """The text with each secret of a connection text in it replaced by what `hidden` makes of it."""
    if "@" in text and _LOGIN.fullmatch(text):
        return _replaced(text, [*_matched(_LOGIN, text)], hidden)
    if ";" in text and "=" in text and _PAIRS.fullmatch(text):
        return _replaced(text, [*_named(_PAIR, text, is_secret)], hidden)
    if "//" not in text and "jdbc:" not in text.lower():
        return text
    if _WHOLE.fullmatch(text):
        return _replaced(text, _ranges(text, is_secret), hidden)
    ranges: list[Range] = []
    for match in _WITHIN.finditer(text):
        ranges += ((match.start() + first, match.start() + last) for first, last in _ranges(match[0], is_secret))
    return _replaced(text, ranges, hidden)


def _replaced(text: str, ranges: list[Range], hidden: Callable[[str], str]) -> str:
    """Overlapping ranges are one."""
    parts, position = [], 0
    for start, end in _merged(ranges):
        parts += [text[position:start], hidden(text[start:end])]
        position = end
    return "".join([*parts, text[position:]])


def _merged(ranges: list[Range]) -> list[Range]:
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif start < end:
            merged.append((start, end))
    return merged


def _ranges(url: str, is_secret: IsSecret) -> list[Range]:
    kind = _KIND.match(url)
    if kind is None:
        return []
    name = kind["name"].lower()
    if opened := _NO_ADDRESS.search(url):
        return [(opened.end(), len(url))]
    if (port := _NO_PORT.search(url)) and "@" not in url:
        return [(port.start(1), len(url))]
    if not kind["jdbc"]:
        return [
            *_password(_BEFORE_PASSWORD, url, len(url)),
            *_matched(_LONE_USER, url),
            *_named(_AFTER_AMPERSAND, url, is_secret),
        ]
    if not _is_balanced(url, name):
        return [(kind.end(), len(url))]
    found = [*_named(_IN_PARENTHESES, url, is_secret)]
    if name not in _BY_SEMICOLON:  # they have no user there, and a user's name has `@`
        found += _password(_JDBC_BEFORE_PASSWORD, url, url.find("?") if "?" in url else len(url))
    if name == "oracle":
        return [*found, *_matched(_ORACLE_USER, url), *_named(_AFTER_AMPERSAND, url, is_secret)]
    if name in _BY_SEMICOLON:
        return [*found, *_named(_AFTER_SEMICOLON, url, lambda key: is_secret(key) or _is_key(key))]
    if name in _BY_AMPERSAND:
        is_own = _of_sqlite(is_secret) if name == "sqlite" else is_secret
        return [*found, *_named(_AFTER_AMPERSAND, url, is_own)]
    return [*found, *_named(_AFTER_ANY, url, is_secret)]


def _password(before: re.Pattern[str], url: str, end: int) -> Iterator[Range]:
    """The password of the user of a URL, up to the last `@` before `end`: it may itself contain one, and a slash."""
    last = url.rfind("@", 0, end)
    match = before.search(url)
    if match and match.end() < last:
        yield match.end(), last


def _matched(pattern: re.Pattern[str], url: str) -> Iterator[Range]:
    yield from (match.span(1) for match in pattern.finditer(url))


def _named(pattern: re.Pattern[str], url: str, is_secret: IsSecret) -> Iterator[Range]:
    yield from (match.span(2) for match in pattern.finditer(url) if is_secret(match[1]))


def _is_key(name: str) -> bool:
    """SQL Server's `keyVaultProviderClientKey`, and such."""
    return name.lower().endswith("clientkey")


def _of_sqlite(is_secret: IsSecret) -> IsSecret:
    """Its encrypted databases have `key`, `hexkey`, `rekey` and `textkey`."""
    return lambda name: is_secret(name) or name.lower().endswith("key")


def _is_balanced(url: str, name: str) -> bool:
    """Whether the brackets that hold values are closed: a value that ends elsewhere would be shown in part."""
    if name == "oracle":
        depth = 0
        for character in re.sub(r"\"[^\"]*\"", "", url):
            depth += (character == "(") - (character == ")")
            if depth < 0:
                return False
        return depth == 0
    return name not in _BY_SEMICOLON or not re.search(r"=\s*\{(?:[^}]|\}\})*\Z", url)
