"""Counts the rows and bytes of a run, from the metrics of what Spark executed for it."""
