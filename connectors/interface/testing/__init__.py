"""Tests that every source and sink must pass, for pytest. They need pytest, and pyspark for the tests of rows.

    from connectors.interface.testing import SinkSuite

    class TestSqliteFile(SinkSuite): ...

`connectors.interface.testing.spark_session` is a plugin of pytest with the fixture `spark`.
"""

from connectors.interface.testing.driving import LostClaim, OneWrite, options_of, run_of
from connectors.interface.testing.sink_suite import SinkSuite
from connectors.interface.testing.source_suite import SourceSuite

__all__ = ["LostClaim", "OneWrite", "SinkSuite", "SourceSuite", "options_of", "run_of"]
