"""The rule for secrets: which names hold them, and how text that may contain them is masked.

    is_secret_name("fs.s3a.secret.key")                   True
    redacted("jdbc:postgresql://h/db?password=hunter2")   jdbc:postgresql://h/db?password=******

This is what a name or a text shows by itself. `catalog.masks` also masks the values of a session's sensitive options
wherever they appear, such as in the message of a driver.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from catalog.connection_texts import without_secrets

HIDDEN: Final = "******"

_PARTS: Final = re.compile(
    r"pas+w|passphrase|passcode|pwd|pswd|kennwort|contrasen|motdepasse|secret|credential|token(?!i[sz])"
    r"|(?:account|access|private|api|shared|signing|encryption|master|storage|license|session|subscription)keys?"
    r"|authuserinfo"
)
"""Found anywhere in the words of a name, written together: `account.key`, `accountKey` and `ACCOUNT_KEY` are one."""

_LAST_WORDS: Final = frozenset({"pass", "pw", "creds", "cred", "auth", "authorization", "cookie", "sas", "sig", "otp"})
_WORDS: Final = frozenset({"sas", "bearer", "signature", "jwt"})

_NO_SECRETS: Final = frozenset(
    {
        *("file", "files", "path", "location", "url", "uri", "endpoint", "provider", "class", "type", "algorithm"),
        *("enabled", "required", "timeout", "ttl", "interval", "length", "column"),
    }
)
"""Names with these endings say where a secret is, or its kind: `password_file`, `fs.s3a.aws.credentials.provider`."""

SPARK_PATTERN: Final = (
    "(?i:pas+w|passphrase|passcode|pwd|pswd|secret|credential(?!s?[._-]?provider)|token(?!i[sz])|bearer|signature"
    "|(?:account|access|private|api|shared|signing|encryption|master|storage|license|session|subscription)[._-]?key"
    "|auth[._-]?user[._-]?info|(?:^|[._-])sas(?:[._-]|$)|[._-](?:pass|pw|creds?|auth|authorization|cookie|sig|otp)$"
    "|://[^/:@\\s]*:[^/\\s]+@|jaas|redaction)"
)
"""The same for Spark, which searches it in the names and values of settings that it shows."""

_LETTERS: Final = sorted("password")
_LIKE: Final = 0.8
"""From which two words are alike, as `passord` and `passowrd` are."""
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_PARAMETER: Final = re.compile(r"(?:^|[?&;,({\s\"'`])(?P<key>[\w.-]+)=", re.MULTILINE)
_PARAMETER_VALUE: Final = re.compile(
    r"(?P<escape>\\+)\".*?(?:(?<!\\)(?P=escape)\"|$)|\"(?:[^\"\\\n]|\\.)*\"?"
    r"|''(?!').*?(?:''|$)|'(?:[^'\\\n]|''|\\.)*'?|[^&;,\s)\"'`]+",
    re.MULTILINE,
)
"""A value in quotes may contain them behind backslashes; the quotes themselves have backslashes where the text is
within a text of JSON or HOCON, and are doubled within one of SQL."""

_MEMBER: Final = re.compile(r"(?P<before>\"(?P<key>[\w.-]+)\"\s*:\s*)(?P<value>\"(?:[^\"\\]|\\.)*\")")
_LINE: Final = re.compile(
    r"(?P<before>(?:^|[{,(#]|//|--)\s*[\"'`]?(?P<key>[\w.-]+)[\"'`]?\s*(?:\+?=|:)\s*)"
    r"(?P<value>\"\"\".*?\"\"\"|\"(?:[^\"\\\n]|\\.)*\"?|'[^'\n]*'?"
    r"|[^\s,}#]+(?:(?:#|,[ \t]*)(?![\w.-]+[\"'`]?\s*(?:\+?=|:|\{)|[\"'`])[^\s,}#]+)*)",
    re.MULTILINE | re.DOTALL,
)
"""A key and its value, which a sign without quotes cuts for HOCON: what comes after it is no key, but the rest."""
_BLOCK: Final = re.compile(
    r"(?:^|[{,(#]|//|--)\s*[\"'`]?(?P<key>[\w.-]+)[\"'`]?\s*(?:\+?=|:)?\s*(?=[{\[](?P<value>[^}\]\n]*))", re.MULTILINE
)
"""A key before a block or a list, and what is in it on that line."""
_LITERAL: Final = re.compile(
    r"\"\"\"(?:.|\n)*?\"\"\"|\"(?!\"\")(?:[^\"\\\n]|\\.)*(?:\"|$)|'(?:[^'\n]|'')*(?:'|$)", re.MULTILINE
)
"""A text in quotes in a job file, up to the end of its line where it is not closed."""
_COMMENT: Final = re.compile(r"(?<!\S)(?:#|//|--).*")
_USER_INFO: Final = re.compile(r"(?P<before>(?:/|[a-z]:)/[^/:@\s]*:)(?P<value>(?!\d+;)[^/\s]+)(?=@)")
"""The slashes of a URL that was taken for a path may be one. A port before `;` is no password."""
_STATEMENT: Final = re.compile(
    r"(?P<before>\b(?:(?:password|passwd|pwd|passphrase|secret|credentials?)\s+(?:is\s+|as\s+)?"
    r"|identified\s+(?:(?:with|via)\s+\w+\s+)?(?:by|as|using)\s+(?:password\s+)?|(?P<key>[\w.]+)\s*(?:=>|:=)\s*))"
    r"(?P<value>'(?:[^'\\]|''|\\.)*'?|\\*\"[^\"]*\"?)",
    re.IGNORECASE,
)
"""A password in a statement: `create user x identified by '…'`, `password '…'`, `secret '…'`, `password => '…'`."""
_ASSIGNED: Final = re.compile(
    r"(?P<before>\b(?P<key>[\w.]+)\s*=\s*)(?P<value>'(?:[^'\\]|''|\\.)*'?|\\*\"[^\"]*\"?)", re.IGNORECASE
)
_CREATES: Final = re.compile(
    r"\b(?:alter|create)\s+(?:or\s+replace\s+)?(?:user|role|login|secret|server|storage|stage|connection|database"
    r"|external|foreign|credential|catalog|source|sink|table)\b",
    re.IGNORECASE,
)
"""Statements in which `password = '…'` is given; in others it is compared."""
_SAYS_STATEMENT: Final = re.compile(r"passw|pwd|passphrase|secret|credential|identified|token|key", re.IGNORECASE)
_BEARER: Final = re.compile(r"\b(?P<before>Bearer\s+|Basic\s+(?=[\w+/]{8,}=*))(?P<value>[\w.~+/-]+=*)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a key of that name holds a secret: `fs.s3a.secret.key` and `oauthToken` do, `password_file` does not."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _NO_SECRETS or words[-2:] == ["max", "tokens"]:
        return False
    is_one = bool(_PARTS.search("".join(words))) or words[-1] in _LAST_WORDS or not _WORDS.isdisjoint(words)
    return is_one or any(map(_is_mistyped, words))


def _is_mistyped(word: str) -> bool:
    """Whether somebody meant `password`: what is written under a wrong name is a secret, too."""
    if not word.startswith("p") or not 6 <= len(word) <= 10:
        return False
    return sorted(word.strip("s")) == _LETTERS or SequenceMatcher(None, word, "password").ratio() >= _LIKE


def redacted_text(text: str) -> str:
    """The text with stars for passwords in URLs, parameters, JSON and headers."""
    return text if text.isidentifier() else _hide(text, _whole)  # as most options are, which no pattern matches


def secret_parts(text: str) -> tuple[str, ...]:
    """The parts of a text that `redacted_text` hides, without their quotes: drivers show them by themselves."""
    found: list[str] = []

    def hidden(value: str) -> str:
        found.append(value)
        return HIDDEN

    _hide(text, hidden)
    return tuple(part.strip("\"'{}\\") for part in found)


def redacted(value: object, mask: Callable[[str], str] = redacted_text) -> object:
    """The value of an option with stars for its secrets, also those within maps and lists; `mask` is for its texts."""
    match value:
        case str():
            return mask(value)
        case None | bool() | int() | float():
            return value
        case Mapping():
            return redacted_mapping(value, mask)
        case list() | tuple():
            return [redacted(item, mask) for item in value]
        case _:
            return value


def redacted_mapping(values: Mapping[str, object], mask: Callable[[str], str] = redacted_text) -> dict[str, object]:
    """The values, each redacted; those under the name of a secret are stars."""
    return {key: _masked(inner) if is_secret_name(str(key)) else redacted(inner, mask) for key, inner in values.items()}


def starred_source(text: str) -> str:
    """The text of a job file with a star for each character of a secret, so that columns do not shift."""
    text = _COMMENT.sub(_starred_comment, _LITERAL.sub(_starred_literal, text))
    parts, position = [], 0
    for match in _BLOCK.finditer(text):
        if is_secret_name(match["key"]) and match.start("value") >= position:
            parts += [text[position : match.start("value")], stars(match["value"])]
            position = match.end("value")
    text = "".join([*parts, text[position:]])
    return _hide(_substituted(_LINE, text, stars), stars)


def named_secrets(text: str) -> Iterator[str]:
    """What stands after the keys of secrets in the text of a job file, which may be one that cannot be parsed; names of
    variables are none."""
    for pattern in (_LINE, _BLOCK):
        found = (match["value"] for match in pattern.finditer(text) if is_secret_name(match["key"]))
        yield from (value for each in found if (value := _VARIABLE.sub(" ", each).strip()))


_VARIABLE: Final = re.compile(r"\$\{\??[\w.\-]+(?:\}|$)")


def _starred_literal(match: re.Match[str]) -> str:
    """The text between quotes by its own grammar, which the quotes and escapes of the file do not follow."""
    text = match[0].strip(match[0][0])
    if match[0].startswith("'"):
        text = text.replace("''", "'")
    elif not match[0].startswith('"""'):
        text = re.sub(r"\\(.)", r"\1", text)
    return match[0] if redacted_text(text) == text else stars(match[0])


def _starred_comment(match: re.Match[str]) -> str:
    """Nothing says where a connection text ends in a comment."""
    text = match[0]
    return stars(text) if "jdbc:" in text.lower() or redacted_text(text) != text else text


def stars(text: str) -> str:
    return re.sub(r"\S", "*", text)


def _hide(text: str, hidden: Callable[[str], str]) -> str:
    """The text without its secrets; a pattern is tried only where the text has what each of its matches has."""
    text = without_secrets(text, hidden, is_secret_name)
    if "=" in text:
        text = _without_parameters(text, hidden)
    if ":" in text and '"' in text:
        text = _substituted(_MEMBER, text, hidden)
    if "@" in text:
        text = _substituted(_USER_INFO, text, hidden)
    if ("'" in text or '"' in text) and _SAYS_STATEMENT.search(text):
        text = _substituted(_STATEMENT, text, hidden)
        text = _substituted(_ASSIGNED, text, hidden) if _CREATES.search(text) else text
    lowered = text.lower()
    if "bearer" in lowered or "basic" in lowered:
        text = _substituted(_BEARER, text, hidden)
    return text


def _without_parameters(text: str, hidden: Callable[[str], str]) -> str:
    """The value of a parameter that is no secret may itself have parameters."""
    parts, position = [], 0
    for match in _PARAMETER.finditer(text):
        if match.end() < position or not is_secret_name(match["key"]):
            continue
        if value := _PARAMETER_VALUE.match(text, match.end()):
            parts += [text[position : match.end()], hidden(value[0])]
            position = value.end()
    return "".join([*parts, text[position:]])


def _substituted(pattern: re.Pattern[str], text: str, hidden: Callable[[str], str]) -> str:
    def replacement(match: re.Match[str]) -> str:
        key = match.groupdict().get("key")
        value = str(match["value"])
        return match["before"] + (hidden(value) if key is None or is_secret_name(key) else value)

    return pattern.sub(replacement, text)


def _whole(value: str) -> str:
    return HIDDEN


def _masked(value: object) -> object:
    """A value under a secret name: always stars."""
    match value:
        case Mapping():
            return {key: _masked(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_masked(item) for item in value]
        case None | bool():
            return value
        case _:
            return HIDDEN
