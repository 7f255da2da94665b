"""Regular expressions of file names as globs."""

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"(?P<any>\.\*)|(?P<many>\.\+)|(?P<one>\.)|(?P<escaped>\\[^A-Za-z0-9])|(?P<digits>\\d(?P<more>[+*])?)"
    r"|(?P<class>\[[^\]\\^][^\]\\]*\])(?P<repeat>[+*])?"
    r"|\((?:\?:)?(?P<either>[\w.-]+(?:\|[\w.-]+)+)\)|(?P<plain>[\w =,:@-])"
)
_ANCHORS: Final = re.compile(r"^\^|\$$")


def as_glob(pattern: str) -> str | None:
    """A glob that fits the names that the expression fits, `.*\\.csv` → `*.csv`; None where there is none.

    `\\d+` and `[ab]+` would fit fewer names than `*`: they have no glob.
    """
    text, position, parts = _ANCHORS.sub("", pattern), 0, list[str]()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or token["more"] or token["repeat"]:
            return None
        position = token.end()
        if text[position : position + 1] in ("?", "*", "+", "{"):
            return None
        parts.append(_glob_of(token))
    return "".join(parts)


def _glob_of(token: re.Match[str]) -> str:
    match token.lastgroup:
        case "any":
            return "*"
        case "many":
            return "?*"
        case "one":
            return "?"
        case "escaped":
            letter = token["escaped"][1]
            return f"[{letter}]" if letter in "*?[{" else letter
        case "digits":
            return "[0-9]"
        case "class":
            return token["class"]
        case "either":
            return "{" + token["either"].replace("|", ",") + "}"
        case _:
            return token.group()
