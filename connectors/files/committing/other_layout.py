"""Rows are not added to a directory of files of another format, or with other partition directories.

out/clicks/day=2024-03-01/part-0.parquet    rows without `partition_by = [day]` would be in a file next to `day=…`
out/orders/part-0.parquet                   a csv file next to it: readers of either format fail at the other's
out/orders/old/part-0.csv                   another directory's: no partition
"""

import os
from collections.abc import Iterable, Sequence
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.options import Options
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode
from connectors.files.file_options import file_format, partition_columns_of

_FORMATS: Final = {
    ".parquet": "parquet", ".orc": "orc", ".avro": "avro", ".csv": "csv", ".json": "json", ".xml": "xml",
}  # fmt: skip
"""The format of files by the end of their names, as Spark's writers give them."""
_NAMED_SO: Final = {"text": ("csv",), "binary": tuple(_FORMATS.values())}
"""Lines of text with a header are written by Spark's csv writer; binary files have the names that they had."""
_CODECS: Final = (".gz", ".bz2", ".deflate", ".snappy", ".lz4", ".zst", ".zstd")
_OWN_DIRECTORIES: Final = "${k0}=${v0}"


def other_layout(names: Iterable[str], options: Options) -> Diagnostic | None:
    """The error (PEN5462) of adding rows next to these data files, by their paths in the target; None where they are
    of one kind, or where files or directories have names of the job's own."""
    if _replaces_all(options):
        return None
    found = [name for name in names if all("=" in folder for folder in name.split("/")[:-1])]
    kind, parts = file_format(options), [name.lower() for name in partition_columns_of(options)]
    own_formats = (None, kind, *_NAMED_SO.get(kind, ()))
    other = next((format for name in found if (format := _format(name)) not in own_formats), None)
    if other and not options.get("filename_extension") and not any(_format(name) == kind for name in found):
        message = f"`{options['path']}` holds files of the format {other}, and the sink writes {kind}"
        help = f"write to another directory, or file_format_type = {other}"
        return Diagnostic("PEN5462", message, options.span("path"), help)
    layouts = {tuple(_partitions(name)) for name in found}
    has_own = options.get("partition_dir_expression") not in (None, _OWN_DIRECTORIES)
    if not layouts or tuple(parts) in layouts or has_own:
        return None
    there = sorted(layouts)[-1]
    listed, own = (", ".join(names) for names in (there, parts))
    message = f"`{options['path']}` has {_said(there)}, and the rows would have {_said(parts)}"
    help = (
        f"partition_by = [{listed}]" if there else f"leave `partition_by = [{own}]` out, or write to another directory"
    )
    return Diagnostic("PEN5462", message, options.span("partition_by") or options.span("path"), help)


def _replaces_all(options: Options) -> bool:
    drops = options.get("data_save_mode") == DataSaveMode.DROP_DATA.value
    return drops or options.get("schema_save_mode") == SchemaSaveMode.RECREATE_SCHEMA.value


def _said(parts: Sequence[str]) -> str:
    return f"directories by {', '.join(f'`{name}`' for name in parts)}" if parts else "no partition directories"


def _format(name: str) -> str | None:
    stem, extension = os.path.splitext(name)
    if extension in _CODECS:
        extension = os.path.splitext(stem)[1]
    return _FORMATS.get(extension)


def _partitions(name: str) -> list[str]:
    folders = name.split("/")[:-1]
    return [folder.partition("=")[0].lower() for folder in folders if "=" in folder]
