"""How Spark SQL writes texts, quoted names and comments: patterns for code that goes over a query without parsing it.

The lexer (`sql.recognizer.lexer`) has Spark's whole rules, and decides what is valid.
"""

from typing import Final

TEXT: Final = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
QUOTED_NAME: Final = r"`(?:[^`]|``)*`"
LINE_COMMENT: Final = r"--[^\n]*"
