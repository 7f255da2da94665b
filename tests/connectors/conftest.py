"""Connectors are tested on Spark: without pyspark only the tests of the registry are collected."""

from importlib.util import find_spec
from pathlib import Path

collect_ignore = (
    []
    if find_spec("pyspark")
    else [path.name for path in Path(__file__).parent.glob("test_*.py") if path.name != "test_registry.py"]
)
