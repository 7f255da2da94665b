"""The name under which Penstock is installed, and the advice to install one of its extras.

The name `penstock` belongs to another project on the public index.
"""

from typing import Final

DISTRIBUTION: Final = "penstock-etl"


def pip_install(extra: str) -> str:
    """The command line that adds what an extra of `pyproject.toml` names."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
