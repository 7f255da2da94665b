"""Streams run on Spark: without pyspark only the tests of what is reported before a run are collected."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("pyspark") else ["test_streams.py", "test_stream_soak.py"]
