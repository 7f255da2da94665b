"""Where a password that is also an ordinary word is hidden: only as a value.

With the password `root`, `user:root@host` and `"root"` are hidden, "relative to the root of the project" is not.
"""

import re
from typing import Final

WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        root user users admin test tests guest public default password secret token local localhost none null true false
        name table tables data spark kafka jdbc http https source sink file files path error errors host port value
        values write read rows column columns type types mode code help note line work home demo example sample master
        main service system database schema query connect server client penstock java python info warn debug text string
        keys auth login pass start stop done open close first last json yaml with from into where select insert update
        delete this that there what which will more less only have been than each other before after postgres mysql
        oracle mariadb hive delta iceberg paimon console streaming batch""",
    )
)
"""Usual passwords of test systems, and others, that are words of Penstock's own texts too."""

_WORD: Final = r"(?<!\w){0}(?!\w)"
_NO_KEY: Final = r"(?!\"?\s*[=:](?!/))"
_AFTER_SIGN: Final = r"(?<=[=/@:\"'`\[{{,+$.~^|-]){0}(?!\w)" + _NO_KEY
_BEFORE_SIGN: Final = r"(?<!\w){0}(?=[/@\"'`\]}}+$~^|-])" + _NO_KEY
_AFTER_EQUALS: Final = r"(?<=[=>] ){0}(?!\w)" + _NO_KEY


def secret_pattern(secret: str) -> str:
    """What matches a secret as a word of its own; an ordinary word next to a sign that begins or ends a value, and not
    as the name of one."""
    text = re.escape(secret)
    if secret.lower() not in WORDS:
        return _WORD.format(text)
    return "|".join(pattern.format(text) for pattern in (_AFTER_SIGN, _BEFORE_SIGN, _AFTER_EQUALS))
