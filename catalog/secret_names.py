"""The rule for secrets: which names hold them, and how text that may contain them is masked.

    is_secret_name("fs.s3a.secret.key")                   True
    redacted("jdbc:postgresql://h/db?password=hunter2")   jdbc:postgresql://h/db?password=******

Everything that leaves the process (diagnostics, plans, journals, the ledger) goes through `redacted`. A value that was
read from a sensitive option is remembered and masked wherever it appears, also in the message of a driver.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

HIDDEN: Final = "******"

_PARTS: Final = re.compile(
    r"password|passwd|passphrase|passcode|pwd|secret|credential|token(?!i[sz])"
    r"|(?:account|access|private|api|shared|signing|encryption|master|storage|license|session|subscription)keys?"
)
"""Found anywhere in the words of a name, written together: `account.key`, `accountKey` and `ACCOUNT_KEY` are one."""

_LAST_WORDS: Final = frozenset({"pass", "pw", "creds", "cred", "auth", "authorization", "cookie", "sas", "sig", "otp"})
_WORDS: Final = frozenset({"sas", "bearer", "signature"})

_NO_SECRETS: Final = frozenset(
    {
        *("file", "files", "path", "location", "url", "uri", "endpoint", "provider", "class", "type", "algorithm"),
        *("enabled", "required", "timeout", "ttl", "interval", "length", "column"),
    }
)
"""Names with these endings say where a secret is, or its kind: `password_file`, `fs.s3a.aws.credentials.provider`."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_PARAMETER: Final = re.compile(
    r"(?P<before>(?:^|[?&;,({\s])(?P<key>[\w.-]+)=)(?P<value>\"[^\"]*\"|'[^']*'|[^&;,\s)\"'`]+)"
)
_MEMBER: Final = re.compile(r"(?P<before>\"(?P<key>[\w.-]+)\"\s*:\s*)(?P<value>\"(?:[^\"\\]|\\.)*\")")
_LINE: Final = re.compile(
    r"(?P<before>(?:^|[{,(])\s*[\"'`]?(?P<key>[\w.-]+)[\"'`]?\s*[=:]\s*)"
    r"(?P<value>\"\"\".*?\"\"\"|\"(?:[^\"\\\n]|\\.)*\"?|'[^'\n]*'?|[^\s,}#]+)",
    re.MULTILINE | re.DOTALL,
)
_USER_INFO: Final = re.compile(r"(?P<before>(?:/|[a-z]:)/[^/:@\s]*:)(?P<value>[^/\s]+)(?=@)")
"""The slashes of a URL that was taken for a path may be one."""
_BEARER: Final = re.compile(r"\b(?P<before>Bearer\s+|Basic\s+(?=[\w+/]{8,}=*))(?P<value>[\w.~+/-]+=*)", re.IGNORECASE)

_SHORTEST: Final = 4
"""The length from which a value is masked wherever it appears; shorter ones are parts of ordinary words."""

_remembered: Final[set[str]] = set()


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a key of that name holds a secret: `fs.s3a.secret.key` and `oauthToken` do, `password_file` does not."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _NO_SECRETS or words[-2:] == ["max", "tokens"]:
        return False
    return bool(_PARTS.search("".join(words))) or words[-1] in _LAST_WORDS or not _WORDS.isdisjoint(words)


def remember_secret(value: object) -> None:
    """Mask this text from now on wherever it appears as a word of its own."""
    if isinstance(value, str) and len(value) >= _SHORTEST and value != HIDDEN:
        _remembered.add(value)


def redacted(value: object) -> object:
    """The value of an option with stars for its secrets, also those within maps and lists."""
    match value:
        case str():
            return redacted_text(value)
        case None | bool() | int() | float():
            return value
        case Mapping():
            return redacted_mapping(value)
        case list() | tuple():
            return [redacted(item) for item in value]
        case _:
            return value


def redacted_mapping(values: Mapping[str, object]) -> dict[str, object]:
    return {key: _masked(inner) if is_secret_name(str(key)) else redacted(inner) for key, inner in values.items()}


def redacted_text(text: str) -> str:
    """The text with stars for passwords in URLs, parameters, JSON, headers, and for the secrets that are remembered."""
    if not text.isidentifier():  # as most options are, which no pattern matches
        text = _hide(text, _whole)
    if _remembered:
        for secret in sorted((secret for secret in _remembered if secret in text), key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    return text


def starred_source(text: str) -> str:
    """The text of a job file with a star for each character of a secret, so that columns do not shift."""
    return _hide(_substituted(_LINE, text, stars), stars)


def stars(text: str) -> str:
    return re.sub(r"\S", "*", text)


def _hide(text: str, hidden: Callable[[str], str]) -> str:
    """The text without its secrets; a pattern is tried only where the text has what each of its matches has."""
    if "=" in text:
        text = _substituted(_PARAMETER, text, hidden)
    if ":" in text and '"' in text:
        text = _substituted(_MEMBER, text, hidden)
    if "@" in text:
        text = _substituted(_USER_INFO, text, hidden)
    lowered = text.lower()
    if "bearer" in lowered or "basic" in lowered:
        text = _substituted(_BEARER, text, hidden)
    return text


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
