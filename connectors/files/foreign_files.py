"""Files at a target that Penstock did not write: a sink that replaces a directory does not delete them by default.

out/orders/_penstock/<id>.json      the mark of a commit; it lists the files that the commit added
out/orders/notes.txt                not in any mark: a foreign file
"""

import json
from collections.abc import Iterable
from typing import Final

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.options import Option, Options, OptionType
from connectors.storage.filesystem import Files

MARKS: Final = "_penstock"
"""The directory of a target that holds the marks of its commits."""

OVERWRITE_FOREIGN_FILES: Final = Option(
    "overwrite_foreign_files",
    OptionType.BOOLEAN,
    "Whether a sink that replaces its directory may delete files that Penstock did not write, or that the job reads.",
    default=False,
)

_LISTED: Final = 3
_WITHOUT_ROWS: Final = ("_SUCCESS", "_metadata", "_common_metadata")
"""Files without rows that Spark, Hadoop and Parquet add to a directory."""


def foreign_files(files: Files, target: str) -> list[str]:
    """The files below a target, by their path in it, that no mark of a commit lists; sorted."""
    names = files.files(target)
    marks = [name for name in names if name.startswith(f"{MARKS}/")]
    written: set[str] = set()
    for mark in marks:
        written.update(listed(files.read(f"{target}/{mark}")))
    return [name for name in names if name not in written and name not in marks and not _is_by_product(name)]


def refuse_foreign_files(files: Files, target: str, options: Options, names: Iterable[str] | None = None) -> None:
    """Raise PEN5030 if replacing the target would delete foreign files; `names`: the files to delete (default: all)."""
    if options.flag("overwrite_foreign_files"):
        return
    found = foreign_files(files, target) if names is None else list(names)
    if found:
        raise foreign_files_error(target, found, options)


def foreign_files_error(target: str, names: list[str], options: Options) -> RunError:
    """The error of a target with these foreign files (PEN5030)."""
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    listed = ", ".join(f"`{name}`" for name in names[:_LISTED])
    message = f"`{target}` holds files that Penstock did not write: {listed}{more}"
    help = "write to another `path`; `overwrite_foreign_files = true` lets the run delete these files"
    return run_error("PEN5030", message, options.span("path"), help)


def listed(text: str) -> list[str]:
    """The files that a mark lists; none if the file is no mark."""
    try:
        found = json.loads(text)["files"]
    except (ValueError, TypeError, KeyError):
        return []
    return [str(name) for name in found] if isinstance(found, list) else []


def _is_by_product(name: str) -> bool:
    last = name.rpartition("/")[2]
    return last in _WITHOUT_ROWS or (last.startswith(".") and last.endswith(".crc"))
