"""Connectors are tested on Spark: without pyspark only the tests of the registry are collected. There is no pypaimon
for Python 3.14, since the pyarrow that it needs has no wheel."""

from importlib.util import find_spec
from pathlib import Path

_HERE = Path(__file__).parent
_TESTS = [str(path.relative_to(_HERE)) for path in _HERE.rglob("test_*.py")]

if find_spec("pyspark") is None:
    collect_ignore = [path for path in _TESTS if path != "test_registry.py"]
elif find_spec("pypaimon") is None:
    collect_ignore = [path for path in _TESTS if path.startswith("paimon/")]
else:
    collect_ignore = []
