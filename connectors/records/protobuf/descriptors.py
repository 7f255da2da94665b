"""Protobuf messages of a `.proto` text, a `.proto` file or a descriptor set, compiled by the protoc of grpcio-tools."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from catalog.diagnostics.diagnostic import did_you_mean
from catalog.distribution import pip_install
from catalog.limits import check, read_small
from catalog.reach import refuse_outside

INSTALL: Final = pip_install("protobuf")
_INLINE: Final = "protobuf_schema.proto"
_ERROR: Final = re.compile(
    r"^(?P<file>[^\s:]+\.proto):(?:(?P<line>\d+):(?P<column>\d+):)? (?!warning:)(?P<cause>.+)$", re.M
)


class ProtobufSchemaError(ValueError):
    """The schema is not valid, or its message is not what it is used for; `help`: what to do."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


class MissingPackageError(Exception):
    """A package that reads Protobuf is not installed."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message by its full name; `files`: a serialized `FileDescriptorSet` that has it and all that it needs."""

    files: bytes
    name: str

    @property
    def descriptor(self) -> Any:
        """Its `google.protobuf.descriptor.Descriptor`."""
        return _pool(self.files).FindMessageTypeByName(self.name)


def message_in(files: bytes, name: str) -> Message:
    """The message of this name, with or without its package. Raises `ProtobufSchemaError`, `MissingPackageError`."""
    names = message_names(files)
    found = [name] if name in names else [full for full in names if full.endswith(f".{name}")]
    if not found:
        short = [full.rpartition(".")[2] for full in names]
        raise ProtobufSchemaError(f"the Protobuf schema has no message `{name}`", did_you_mean(name, (*names, *short)))
    if len(found) > 1:
        listed = ", ".join(f"`{full}`" for full in found)
        raise ProtobufSchemaError(f"the Protobuf schema has several messages `{name}`", f"name one in full: {listed}")
    return Message(files, found[0])


@lru_cache(maxsize=64)
def files_of_text(text: str) -> bytes:
    """The descriptor set of the text of a `.proto` file. Raises `ProtobufSchemaError`, `MissingPackageError`."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        path = Path(folder, _INLINE)
        path.write_text(text, encoding="utf-8")
        return _compiled(path)


def files_of_file(path: str) -> bytes:
    """The descriptor set in a file, or of a `.proto` file; it imports others from its directory. Raises `OSError`,
    `ProtobufSchemaError`, `MissingPackageError`."""
    refuse_outside(path)
    check("header", len(read_small(path, "header")))
    status = os.stat(path)
    return _files_of_file(os.path.abspath(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _files_of_file(path: str, changed: int, size: int) -> bytes:
    """`changed` and `size`: a file that has others is read again."""
    return _compiled(Path(path)) if path.endswith(".proto") else Path(path).read_bytes()


def _compiled(path: Path) -> bytes:
    if find_spec("grpc_tools") is None:
        raise MissingPackageError("compiling it needs grpcio-tools")
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        out = Path(folder, "files")
        command = [sys.executable, "-m", "grpc_tools.protoc", "--include_imports", f"--proto_path={path.parent}",
                   f"--descriptor_set_out={out}", str(path)]  # fmt: skip
        ended = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if ended.returncode == 0:
            return out.read_bytes()
    raise ProtobufSchemaError(f"the Protobuf schema is not valid: {_cause(ended.stderr)}")


def _cause(stderr: str) -> str:
    """The first error of protoc; lines of a schema within the job are those of its text."""
    found = _ERROR.search(stderr)
    if found is None:
        return stderr.strip()[-400:]
    where = "" if os.path.basename(found["file"]) == _INLINE else f" of `{found['file']}`"
    at = f"line {found['line']}, column {found['column']}{where}: " if found["line"] else ""
    return f"{at}{found['cause']}"


@lru_cache(maxsize=64)
def message_names(files: bytes) -> tuple[str, ...]:
    """The full names of all messages of a descriptor set, but those of Protobuf's own files. Raises
    `ProtobufSchemaError`, `MissingPackageError`."""
    _pool(files)
    found: list[str] = []

    def add(prefix: str, message: Any) -> None:
        if not message.options.map_entry:
            found.append(f"{prefix}{message.name}")
            for nested in message.nested_type:
                add(f"{prefix}{message.name}.", nested)

    for file in _parsed(files).file:
        for message in file.message_type:
            if not file.name.startswith("google/protobuf/"):
                add(f"{file.package}." if file.package else "", message)
    return tuple(found)


def _parsed(files: bytes) -> Any:
    try:
        from google.protobuf.descriptor_pb2 import FileDescriptorSet
        from google.protobuf.message import DecodeError
    except ImportError as cause:
        raise MissingPackageError("reading it needs protobuf") from cause
    try:
        return FileDescriptorSet.FromString(files)
    except DecodeError as cause:
        raise ProtobufSchemaError(
            "it is no descriptor set", "protoc --include_imports --descriptor_set_out=FILE …"
        ) from cause


@lru_cache(maxsize=64)
def _pool(files: bytes) -> Any:
    parsed = _parsed(files)
    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    try:
        for file in parsed.file:
            pool.Add(file)
        for file in parsed.file:
            pool.FindFileByName(file.name)
    except (TypeError, KeyError) as cause:
        message = f"the descriptor set does not have all that it needs: {cause}"
        raise ProtobufSchemaError(message, "compile it with `protoc --include_imports`") from cause
    return pool
