"""Rows that FakeSource makes, as Spark SQL."""
