"""Names of files that are being written."""

import os


def temporary_name(path: str) -> str:
    """A hidden name next to the path that no other process or thread uses."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.{os.urandom(16).hex()}.tmp"
