"""Turns Spark's errors in describing data into errors with a remedy."""

import os
import re
from collections.abc import Sequence
from typing import Final

from catalog.diagnostics.diagnostic import RunError, run_error
from connectors.storage.paths import data_files, local_path
from engine.describe.guess import Guess, open_text

_IN_A_FILE: Final = ("FAILED_READ_FILE", "MALFORMED_RECORD_IN_PARSING", "MALFORMED_CSV_RECORD")
_COLUMN: Final = re.compile(r"The column `(.+?)` already exists")
_OF_TABLE: Final = (
    "no file has this name, so that it was looked for among Spark's tables; a table of another catalog "
    "needs its settings: --conf spark.sql.catalog.lake=…"
)
_OF_KEYS: Final = (
    "rename one of them in the file, or write a source block whose `schema` has only one: it alone is read"
)
_MISFIT: Final = " does not fit the schema: "
_OF_ROW: Final = (
    "correct the line; or describe the first N rows, `--sample N`, and leave such rows out of the job: "
    '`on_malformed = "drop"`'
)
_OF_QUOTE: Final = (
    "a quoted value that goes on in the next line needs `multi_line = true`: describe the first N rows, `--sample N`, "
    "and add the option to the source block; else correct the line"
)
_CUT_OFF: Final = "Unexpected end of input stream"


def unreadable(error: BaseException, guess: Guess, path: str) -> RunError:
    """The error (PEN5004) of a `path` that Spark could not read as guessed."""
    from engine.spark.failures.error_causes import error_causes
    from engine.spark.failures.errors import reason
    from engine.spark.failures.source_errors import source_error

    causes = tuple(error_causes(error))
    messages = [cause.message for cause in causes]
    if guess.plugin == "Table":
        return _error(path, reason(error), _OF_TABLE)
    kind, files = guess.options.get("file_format_type"), _files(guess)
    if kind == "json" and (keys := _keys_of_one_name(messages, files)):
        first, second = keys
        return _error(path, f"its keys `{first}` and `{second}` differ only in case, and are one column", _OF_KEYS)
    if any(_CUT_OFF in message for message in messages):
        return _error(path, "a compressed file is cut off", "fetch or write it again: its end is missing")
    if any((cause.condition or "").startswith(_IN_A_FILE) for cause in causes):
        (diagnostic,) = source_error(causes, ()).diagnostics
        message = diagnostic.message
        _, is_misfit, row = message.partition(_MISFIT)
        for file in files:
            message = message.replace(f"`{os.path.abspath(file)}`", f"`{file}`")
        help = diagnostic.help if not is_misfit else _OF_QUOTE if '"' in row else _OF_ROW
        return run_error("PEN5004", message, None, help)
    return _error(path, reason(error), None)


def _error(path: str, reason: str, help: str | None) -> RunError:
    return run_error("PEN5004", f"`{path}` cannot be read: {reason}", None, help)


def _files(guess: Guess) -> list[str]:
    local = local_path(str(guess.options.get("path") or ""))
    return data_files(local) if local else []


def _keys_of_one_name(messages: Sequence[str], files: Sequence[str]) -> tuple[str, str] | None:
    """Two keys of the JSON files that are one name for Spark, which names neither as it is written."""
    column = next((named[1] for message in messages if (named := _COLUMN.search(message))), None)
    if column is None:
        return None
    key = re.compile(rf'"({re.escape(column)})"\s*:', re.IGNORECASE)
    spellings: list[str] = []
    for file in files:
        with open_text(file) as lines:
            for line in lines:
                spellings += [written for written in key.findall(line) if written not in spellings]
                if len(spellings) > 1:
                    return spellings[0], spellings[1]
    return None
