"""JSON as Apache SeaTunnel's parser (json-smart) tolerates it, as JSON: `{a: b c, 'd': [e, 1]}`."""

from typing import Final

from catalog.quoting import quote_text

_STRICT: Final = r"(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)"
_BARE: Final = r"""[^"'{}\[\],:\s]"""
_OUTSIDE: Final = r"""(?=(?:[^"]*"[^"]*")*[^"]*$)"""
"""Not within a quoted text: as many quotes follow as end texts."""
_STEPS: Final = (
    # texts in single quotes
    (r"""([{\[,:]\s*)'([^'"]*)'(?=\s*[:,}\]])""" + _OUTSIDE, '$1"$2"'),
    # keys without quotes
    (rf"""([{{,]\s*)({_BARE}[^"{{}}\[\],:]*?)\s*:""" + _OUTSIDE, '$1"$2":'),
    # values of objects without quotes
    (rf"""(:\s*)(?!{_STRICT}\s*[,}}])({_BARE}[^"{{}}\[\],]*?)\s*(?=[,}}])""" + _OUTSIDE, '$1"$2"'),
    # elements of arrays without quotes
    (rf"""([\[,]\s*)(?!{_STRICT}\s*[,\]])({_BARE}[^"{{}}\[\],]*?)\s*(?=[,\]])""" + _OUTSIDE, '$1"$2"'),
)


def strict_json(text: str) -> str:
    """Spark SQL for the text expression as JSON, with the missing quotes where it is none."""
    quoted = text
    for pattern, replacement in _STEPS:
        quoted = f"regexp_replace({quoted}, {quote_text(pattern)}, {quote_text(replacement)})"
    return f"if(try_parse_json({text}) IS NULL, {quoted}, {text})"
