"""A page of HTML from a template: text is escaped for its place, and the page runs no script but its own.

A mark of the template, such as `/*TITLE*/`, is replaced once; what is put in its place is not searched for marks.
"""

import base64
import hashlib
import html
import json
import re
from typing import Any, Final

from catalog.diagnostics.shown_names import shown_text

_MARK: Final = re.compile(r"/\*([A-Z]+)\*/")
_IN_SCRIPTS: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def filled_page(template: str, style: str, script: str, **texts: str) -> str:
    """The template with its style, its script, a content-security policy for both, and texts by their marks.

    The texts must be escaped already: by `html_text`, or by `script_json`.
    """
    style, script = f"\n{style}\n", f"\n{script}\n"
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src {_hash(script)}; "
    policy += "style-src 'unsafe-inline'"
    known = {name.upper(): text for name, text in texts.items()} | {"STYLE": style, "SCRIPT": script, "POLICY": policy}
    return _MARK.sub(lambda mark: known[mark[1]], template)


def html_text(text: str) -> str:
    """A text between tags or within the quotes of an attribute."""
    return html.escape(shown_text(text, starts_line=False))


def script_json(data: Any) -> str:
    """A value as JSON that no parser of HTML takes for a tag or a comment."""
    text = json.dumps(data)  # ASCII: also halves of characters
    for char, escape in _IN_SCRIPTS.items():
        text = text.replace(char, escape)
    return text


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
