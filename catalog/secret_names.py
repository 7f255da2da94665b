"""What must not be shown, where no spec says so: values of keys that sound secret, and passwords within URLs and
JAAS configurations."""

import re
from collections.abc import Mapping
from typing import Final

HIDDEN: Final = "******"

SECRET_WORDS: Final = (
    r"(?:password|passwd|pwd|secret|token|credential|account[._]?key|access[._]?key|private[._]?key|api[._]?key)"
)

_NAME: Final = re.compile(rf"{SECRET_WORDS}(?!\w*file)", re.IGNORECASE)
_PARAMETER: Final = re.compile(rf"(?P<key>[?&;]\s*\w*{SECRET_WORDS}\w*=)[^&;,\s]*", re.IGNORECASE)
_JAAS: Final = re.compile(rf"(?P<key>\s\w*{SECRET_WORDS}\w*=)\"[^\"]*\"", re.IGNORECASE)
_USER_INFO: Final = re.compile(r"(?P<before>//[^/:@\s]*:)[^/@\s]+@")


def is_secret_name(name: str) -> bool:
    """Whether a key of that name holds a secret: `fs.s3a.secret.key` and `oauthToken` do, `password_file` does not."""
    return _NAME.search(name) is not None


def redacted(value: object) -> object:
    """The value of an option with stars for what must not be shown; maps and lists are looked into."""
    match value:
        case str():
            for found in (_PARAMETER, _JAAS):
                value = found.sub(rf"\g<key>{HIDDEN}", value)
            return _USER_INFO.sub(rf"\g<before>{HIDDEN}@", value)
        case Mapping():
            return {
                key: HIDDEN if is_secret_name(str(key)) and not isinstance(inner, Mapping) else redacted(inner)
                for key, inner in value.items()
            }
        case list() | tuple():
            return [redacted(item) for item in value]
        case _:
            return value
