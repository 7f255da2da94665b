"""Copies of a server's files in a scratch directory, from which Spark reads them."""

import atexit
import posixpath
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from fnmatch import translate
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import run_error
from catalog.options import Option, Options, OptionType
from connectors.files.formats.chosen_files import passes
from connectors.storage.filesystem import files_at
from connectors.storage.paths import expand_braces, is_hidden
from connectors.storage.servers.server_files import ServerFiles
from connectors.storage.servers.transfers import Transfer, download

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRATCH: Final = Option(
    "scratch_path",
    OptionType.STRING,
    "The directory for copies of the files while the job runs; default: this machine's directory for temporary files. "
    "On a cluster it must be one that all machines have mounted.",
)


def copy_path(spark: "SparkSession", uri: str, options: Options, *, most: int | None = None) -> str:
    """Copy the files that a path or pattern and the filters of these options choose, at most so many; returns the path
    or pattern of the copies."""
    files, found = files_at(spark, uri)
    if not isinstance(files, ServerFiles):
        raise ValueError(f"{uri} is not on a file server")
    root, rest = _split(found)
    try:
        if not rest and files.is_file(root):
            root, _, rest = root.rpartition("/")
        chosen = list(_chosen(files, root, rest, options))
        if not chosen and not files.exists(root):
            raise FileNotFoundError("it is not there")
        scratch = _download(spark, files, root, chosen[:most], options)
    except OSError as error:
        raise _unreadable(uri, error, options) from error
    return f"{scratch}/{rest}" if rest else scratch


def copy_files(spark: "SparkSession", root: str, uris: Sequence[str], options: Options) -> str:
    """Copy files below a directory; returns the directory of the copies."""
    files, _ = files_at(spark, root)
    if not isinstance(files, ServerFiles):
        raise ValueError(f"{root} is not on a file server")
    asked = {uri.removeprefix(f"{root}/") for uri in uris}
    try:
        chosen = [transfer for transfer in _chosen(files, root, "", options) if transfer.local in asked]
        return _download(spark, files, root, chosen, options)
    except OSError as error:
        raise _unreadable(root, error, options) from error


def scratch_root(spark: "SparkSession", options: Options) -> str | None:
    """The directory for scratch directories; None: the default. Refuses the default on a cluster."""
    given = options.optional_string(SCRATCH.name)
    if given is None and not str(spark.sparkContext.master).startswith("local"):
        message = "on a cluster, files of a server are copied through a directory that all machines have mounted"
        raise run_error("PEN5801", message, options.span("path"), f'{SCRATCH.name} = "/mnt/shared/scratch"')
    return given


def _download(
    spark: "SparkSession", files: ServerFiles, root: str, chosen: Sequence[Transfer], options: Options
) -> str:
    scratch = tempfile.mkdtemp(prefix="penstock-", dir=scratch_root(spark, options))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    placed = [Transfer(file.remote, posixpath.join(scratch, file.local), file.size, file.modified) for file in chosen]
    download(spark, files.server, placed)
    return scratch


def _chosen(files: ServerFiles, root: str, rest: str, options: Options) -> Iterator[Transfer]:
    """The files, each with its path below the root in `local`."""
    patterns = [re.compile(translate(pattern)) for pattern in expand_braces(rest)] if rest else []
    folder = files.path(root)
    for name, entry in files.entries_below(root):
        if any(map(is_hidden, name.split("/"))) or not _matches(name, rest, patterns):
            continue
        if passes(f"{folder.rstrip('/')}/{name}", options):
            yield Transfer(f"{folder.rstrip('/')}/{name}", name, entry.size, entry.modified)


def _matches(name: str, rest: str, patterns: Sequence["re.Pattern[str]"]) -> bool:
    """Whether a file is, or is below, what the path means; each part of it matches one directory."""
    if not rest:
        return True
    depth = rest.count("/") + 1
    top = "/".join(name.split("/")[:depth])
    return top == rest or any(
        len(top.split("/")) == depth and pattern.fullmatch(top) is not None for pattern in patterns
    )


def _split(uri: str) -> tuple[str, str]:
    """The directory before the first pattern in a path, and the rest."""
    sign = re.search(r"[*?\[{]", uri)
    if sign is None:
        return uri, ""
    root = uri[: sign.start()].rpartition("/")[0]
    return root, uri[len(root) + 1 :]


def _unreadable(uri: str, error: OSError, options: Options) -> Exception:
    return run_error("PEN5004", f"`{uri}` cannot be read: {error}", options.span("path"))
