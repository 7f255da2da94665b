"""The steps of a run's ending import pyspark: without it, none of these tests is collected. There is no pypaimon for
Python 3.14."""

from importlib.util import find_spec
from pathlib import Path

if find_spec("pyspark") is None:
    collect_ignore = [path.name for path in Path(__file__).parent.glob("test_*.py")]
elif find_spec("pypaimon") is None:
    collect_ignore = ["test_paimon_once.py"]
else:
    collect_ignore = []
