"""Errors of the machine and its jars, not of a job. Each has its own code and remedy, and is permanent."""

import errno
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from pyspark import SparkContext

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.diagnostics.shown_names import shown_name
from connectors.jdbc.missing_driver import missing_driver
from connectors.storage.object_store import jar_help
from connectors.storage.paths import local_path
from engine.plan.nodes import AnyNode, Write
from engine.state.layout import StateLayout
from engine.state.state_dir import unwritable as unwritable_state

_NO_SPACE: Final = re.compile(r"No space left on device|Disk quota exceeded")
_NO_FILE_SYSTEM: Final = re.compile(
    r'No FileSystem for scheme "?(?P<scheme>\w+)"?'
    r"|Class (?P<class>org\.apache\.hadoop\.fs\.(?P<package>\w+)\S+) not found"
)
_SCHEMES: Final = {"azurebfs": "abfs", "aliyun": "oss"}
"""Of Hadoop's packages that are not called as their scheme."""
_LITTLE: Final = 1 << 16
"""Bytes: a disk with less is full."""
_PARTITION: Final = re.compile(r"(?<=/)[^/\n=]+=[^/\n]{80,}")
_LONGEST_NAME: Final = 255
_SHOWN: Final = 80
_DENIED: Final = re.compile(r"Permission denied|Read-only file system|AccessControlException|Mkdirs failed to create")


def environment_error(text: str, node: AnyNode, *, in_reading: bool = False) -> RunError | None:
    """The environment error that the messages of an error and its causes describe; None if they describe none.

    `in_reading`: it is of a source that is read, though a sink's node was running.
    """
    of = f" (in `{node.written_name}`)"
    path = node.options.span("path") if isinstance(node, Write) else node.span
    if _NO_SPACE.search(text):
        folders = list(_folders(node))
        full = list(full_disks(folders)) or [name for name, _ in folders]  # Spark may have removed its files by now
        where = f"on the disk of {' or of '.join(full)}"
        help = "free space, or set `spark.local.dir` and the target to a larger disk"
        return run_error("PEN5031", f"no space is left {where}{of}", path, help)
    if missing := _NO_FILE_SYSTEM.search(text):
        what = f"the file system `{missing['scheme']}`" if missing["scheme"] else f"the class `{missing['class']}`"
        scheme = missing["scheme"] or _SCHEMES.get(missing["package"], missing["package"])
        return run_error("PEN5032", f"Spark has no jar for {what}{of}", path, jar_help(scheme))
    if driver := missing_driver(text, of, path):
        return driver
    if isinstance(node, Write) and not in_reading and (found := _long_partition(text)):
        column, value = found
        shown = f"`{shown_name(value)[:_SHOWN]}` of the column `{shown_name(column)}`"
        message = f"the partition {shown} cannot be written{of}: the name of its directory would have more than"
        help = "leave these rows out, or partition by a shorter value, such as its hash"
        return run_error("PEN5005", f"{message} {_LONGEST_NAME} bytes", path, help)
    if isinstance(node, Write) and not in_reading and _DENIED.search(text):
        help = "choose a path that this user may write to, or change its permissions"
        return run_error("PEN5034", f"the target of `{node.written_name}` may not be written to", path, help)
    return None


def _long_partition(text: str) -> tuple[str, str] | None:
    """The column and the value of a partition whose directory has too long a name: the file system does not say so."""
    for match in _PARTITION.finditer(text) if "Mkdirs failed" in text or "name too long" in text else ():
        name = re.split(r" \(exists=| \(File name too long", match[0])[0]
        if len(name.encode(errors="surrogatepass")) > _LONGEST_NAME:
            column, _, value = name.partition("=")
            return unquote(column), unquote(value)
    return None


def _folders(node: AnyNode) -> Iterator[tuple[str, str]]:
    """What a job writes to on this machine, and the folders of it."""
    path = node.options.get("path") if isinstance(node, Write) else None
    if isinstance(path, str) and (local := local_path(path)) is not None:
        yield f"the target `{path}`", local
    context = SparkContext._active_spark_context
    scratch = os.environ.get("SPARK_LOCAL_DIRS") or (context.getConf().get("spark.local.dir", None) if context else "")
    for folder in (scratch or tempfile.gettempdir()).split(","):
        yield f"Spark's scratch directory `{folder}`", folder


def full_disks(folders: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The names of the folders on whose disk no space is left."""
    for name, folder in folders:
        there = next(part for part in (Path(folder).absolute(), *Path(folder).absolute().parents) if part.exists())
        found = os.statvfs(there)
        if found.f_bavail * found.f_frsize < _LITTLE or (found.f_files and not found.f_favail):
            yield name


def unwritable(error: OSError, write: Write, state: StateLayout | None = None) -> RunError:
    """The error of a target that this process could not write, or of the state directory, where that is full."""
    if state is not None and _is_of_state(error, state):
        return unwritable_state(state.root, error)
    text = "No space left on device" if error.errno in (errno.ENOSPC, errno.EDQUOT) else str(error)
    if found := environment_error(text, write):
        return found
    where = f": `{error.filename}`" if error.filename else ""
    message = f"the target of `{write.name}` cannot be written: {error.strerror or error}{where}"
    return run_error("PEN5005", message, write.options.span("path"))


def _is_of_state(error: OSError, state: StateLayout) -> bool:
    """Whether the error is of the state directory: it names a file there, or only that directory's disk is full."""
    root = state.root
    if isinstance(error.filename, str):
        return os.path.realpath(error.filename).startswith(f"{root}{os.sep}")
    return error.errno in (errno.ENOSPC, errno.EDQUOT) and bool(list(full_disks([("state", root)])))
