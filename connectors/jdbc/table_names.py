"""Names of tables as jobs write them: `table`, `schema.table` or `database.schema.table`, parts quoted or not."""

import re
from typing import Final

from catalog.tables.table import TablePath
from connectors.jdbc.dialect import Dialect

_PART: Final = re.compile(r"""\s*("(?:[^"]|"")+"|`(?:[^`]|``)+`|\[(?:[^\]]|\]\])+\]|[^."`\[]+)\s*(\.|\Z)""")


def parse_table_name(text: str) -> tuple[str, ...]:
    """The parts of a name, without quotes. Raises ValueError if the text is no name."""
    parts, position = [], 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None or (match[2] == "." and match.end() == len(text)):
            raise ValueError(text)
        parts.append(_unquoted(match[1].strip()))
        position = match.end()
    if not 1 <= len(parts) <= 3 or not all(parts):
        raise ValueError(text)
    return tuple(parts)


def quoted_name(parts: tuple[str, ...]) -> str:
    """The parts as `parse_table_name` reads them."""
    return ".".join(part if re.fullmatch(r"\w+", part) else '"' + part.replace('"', '""') + '"' for part in parts)


def path_of(name: tuple[str, ...]) -> TablePath:
    """The path of a table of one to three names."""
    return TablePath(name[-1], *reversed(name[:-1]))


def relative_to(dialect: Dialect, database: str | None, name: tuple[str, ...]) -> tuple[str, ...]:
    """The parts by which a connection to `database` addresses the table: `database.schema.table` of SeaTunnel's
    `table_path` names the connection's own database again."""
    if dialect.quotes == "``":  # MySQL's databases are its schemas
        return (name[0], name[-1]) if len(name) > 1 else name
    if not dialect.has_schemas:
        return name[-1:]
    return name[1:] if len(name) == 3 and database is not None and name[0].lower() == database.lower() else name


def _unquoted(part: str) -> str:
    if part[:1] in ('"', "`", "[") and len(part) > 1:
        closing = "]" if part[0] == "[" else part[0]
        return part[1:-1].replace(closing * 2, closing)
    return part
