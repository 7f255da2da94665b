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


def check_import(*given: Connector) -> None:
    """Importing the modules of connectors, one after the other, imports neither pyspark nor a driver: `penstock
    validate` does it."""
    modules = sorted({type(connector).__module__ for connector in given})
    code = (
        f"import importlib, sys\nsys.path[:] = {sys.path!r}\nfor module in {modules!r}:\n"
        f"    importlib.import_module(module)\n"
        f"    heavy = {{name.split('.')[0] for name in sys.modules}} & set({_HEAVY!r})\n"
        f"    assert not heavy, f'importing {{module}} imports {{heavy}}'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
