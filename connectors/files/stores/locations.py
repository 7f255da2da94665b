"""The options of Apache SeaTunnel's file connectors as Hadoop's URI and settings."""

from collections.abc import Mapping
from dataclasses import replace

from catalog.options import Options


def at_root(options: Options, root: str) -> Options:
    """The options with `path` below a file system's root; unchanged if the path is a URI or there is no root."""
    path = options.string("path")
    if not root or "://" in path or path.startswith("file:"):
        return options
    return replace(options, values={**options.values, "path": f"{root.rstrip('/')}/{path.lstrip('/')}"})


def settings(options: Options, names: Mapping[str, str]) -> dict[str, str]:
    """Hadoop's settings, by their names, of the options that are given."""
    return {setting: str(options[name]) for name, setting in names.items() if options.get(name) is not None}


def bucket_root(bucket: str, scheme: str) -> str:
    """`s3n://name` and `name` as `s3a://name`."""
    return f"{scheme}://{bucket.partition('://')[2] or bucket}".rstrip("/")
