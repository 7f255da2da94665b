"""What a database server says of a statement that it refuses, by its driver: the error, its detail and its hint.

    ERROR: duplicate key value violates unique constraint "t_pkey"      pgjdbc; libpq writes `ERROR:  …` and DETAIL
      Detail: Key (id)=(7) already exists.

Values of rows are left out: messages go to logs and tickets.
"""

import re
from dataclasses import dataclass
from typing import Final

_PART: Final = re.compile(
    r"(?:^|\n)[ \t]*(?P<name>ERROR|FATAL|PANIC|DETAIL|HINT|CONTEXT|WHERE|POSITION|STATEMENT|LOCATION|FILE|ROUTINE"
    r"|LINE \d+|SQLSTATE|SERVER SQLSTATE)[ \t]*:[ \t]*",
    re.IGNORECASE,
)
_IN_LINE: Final = re.compile(r"(?<= )(?=(?:ERROR|FATAL|PANIC): )")
_BATCH: Final = re.compile(r"^Batch entry \d+ .*? was aborted: (.*?)\s*(?:Call getNextException.*)?$", re.DOTALL)
_VALUES: Final = (
    (re.compile(r"Failing row contains \(.*\)\.?", re.DOTALL), ""),  # PostgreSQL
    (re.compile(r"(Key \([^)]*\))=\(.*?\)(?= (?:already|is|conflicts|does|still))", re.DOTALL), r"\1"),
    (re.compile(r"(Duplicate entry) '.*' (?=for key)", re.DOTALL), r"\1 "),  # MySQL, MariaDB
    (re.compile(r"\s*The duplicate key value is \(.*?\)\.", re.DOTALL), ""),  # SQL Server
    (re.compile(r"\s*ORA-03301: [^\n]*"), ""),  # Oracle: the values of the row
    (re.compile(r"(Incorrect \w+ value): '.*' (?=for column)", re.DOTALL), r"\1 "),
)
_SQLSTATE: Final = re.compile(r"\s*\.?\s*SQLSTATE: \w{5}\.?\s*$")


@dataclass(frozen=True, slots=True)
class ServerMessage:
    """`error` and `detail` are what happened, `hint` is what the server advises."""

    error: str
    detail: str | None = None
    hint: str | None = None

    @property
    def text(self) -> str:
        return self.error if self.detail is None else f"{self.error.rstrip('.')} ({self.detail.rstrip('.')})"


def server_message(text: str) -> ServerMessage | None:
    """The parts of a driver's message; None if no server of a known form wrote it."""
    batch = _BATCH.match(text.strip())
    text = _IN_LINE.sub("\n", batch[1] if batch else text)
    found = list(_PART.finditer(text))
    parts: dict[str, str] = {}
    for match, after in zip(found, [*found[1:], None], strict=False):
        name = match["name"].upper()
        name = "ERROR" if name in ("FATAL", "PANIC") else name
        parts.setdefault(name, _plain(text[match.end() : after.start() if after else len(text)]))
    if not parts.get("ERROR"):
        return None
    return ServerMessage(parts["ERROR"], parts.get("DETAIL") or None, parts.get("HINT") or None)


def without_values(text: str) -> str:
    """The message without values of rows."""
    for pattern, kept in _VALUES:
        text = pattern.sub(kept, text)
    return text


def _plain(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", without_values(_SQLSTATE.sub("", text)).strip())
