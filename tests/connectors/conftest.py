"""Connectors are tested on Spark: without pyspark only the tests of the registry are collected. There is no pypaimon
for Python 3.14, since the pyarrow that it needs has no wheel."""

from importlib.util import find_spec
from pathlib import Path

_HERE = Path(__file__).parent

if find_spec("pyspark") is None:
    collect_ignore = [path.name for path in _HERE.glob("test_*.py") if path.name != "test_registry.py"]
elif find_spec("pypaimon") is None:
    collect_ignore = [path.name for path in _HERE.glob("test_paimon*.py")]
else:
    collect_ignore = []
