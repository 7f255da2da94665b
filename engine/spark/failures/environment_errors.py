"""Errors of the machine and its jars, not of a job. Each has its own code and remedy, and is permanent."""

import errno
import re
from typing import Final

from catalog.diagnostics.diagnostic import RunError, run_error
from connectors.jdbc.missing_driver import missing_driver
from connectors.storage.object_store import jar_help
from engine.plan.nodes import AnyNode, Write

_NO_SPACE: Final = re.compile(r"No space left on device|Disk quota exceeded")
_NO_FILE_SYSTEM: Final = re.compile(
    r'No FileSystem for scheme "?(?P<scheme>\w+)"?'
    r"|Class (?P<class>org\.apache\.hadoop\.fs\.(?P<package>\w+)\S+) not found"
)
_SCHEMES: Final = {"azurebfs": "abfs", "aliyun": "oss"}
"""Of Hadoop's packages that are not called as their scheme."""
_DENIED: Final = re.compile(r"Permission denied|Read-only file system|AccessControlException|Mkdirs failed to create")


def environment_error(text: str, node: AnyNode) -> RunError | None:
    """The environment error that the messages of an error and its causes describe; None if they describe none."""
    of = f" (in `{node.written_name}`)"
    path = node.options.span("path") if isinstance(node, Write) else node.span
    if _NO_SPACE.search(text):
        help = "free space, or set `spark.local.dir` and the target to a larger disk; targets are as they were"
        return run_error("PEN5031", f"no space is left on a disk{of}", path, help)
    if missing := _NO_FILE_SYSTEM.search(text):
        what = f"the file system `{missing['scheme']}`" if missing["scheme"] else f"the class `{missing['class']}`"
        scheme = missing["scheme"] or _SCHEMES.get(missing["package"], missing["package"])
        return run_error("PEN5032", f"Spark has no jar for {what}{of}", path, jar_help(scheme))
    if driver := missing_driver(text, of, path):
        return driver
    if isinstance(node, Write) and _DENIED.search(text):
        help = "choose a path that this user may write to, or change its permissions"
        return run_error("PEN5034", f"the target of `{node.written_name}` may not be written to", path, help)
    return None


def unwritable(error: OSError, write: Write) -> RunError:
    """The error of a target that this process could not write."""
    text = "No space left on device" if error.errno in (errno.ENOSPC, errno.EDQUOT) else str(error)
    if found := environment_error(text, write):
        return found
    where = f": `{error.filename}`" if error.filename else ""
    message = f"the target of `{write.name}` cannot be written: {error.strerror or error}{where}"
    return run_error("PEN5005", message, write.options.span("path"))
