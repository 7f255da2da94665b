"""What tests of the Kafka connector share; they are collected only where there is pyspark."""

from importlib.util import find_spec
from pathlib import Path

collect_ignore = [] if find_spec("pyspark") else [path.name for path in Path(__file__).parent.glob("test_*.py")]
