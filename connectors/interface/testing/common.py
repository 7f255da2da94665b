"""What holds for sources and sinks alike."""

import subprocess
import sys
from collections.abc import Iterable

from catalog.options import Option
from connectors.interface.base import Connector

_HEAVY = ("pyspark", "py4j", "pyarrow", "pandas")


def check_options(options: Iterable[Option]) -> None:
    """Every spelling of an option is spelled once, and each has a description."""
    options = tuple(options)
    spelled = [name for option in options for name in (option.name, *option.alternatives)]
    assert len(spelled) == len(set(spelled)), f"two options have one name: {spelled}"
    assert [option.name for option in options if not option.doc] == []


def check_import(connector: Connector) -> None:
    """Importing the connector's module imports neither pyspark nor a driver: `penstock validate` does it."""
    module = type(connector).__module__
    code = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}} & set({_HEAVY!r}))"
    path = "import sys; sys.path[:] = " + repr(sys.path)
    done = subprocess.run([sys.executable, "-c", f"{path}; {code}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [], f"importing {module} imports {done.stdout.strip()}"
