"""Filters that leave out records which do not fit, and whose rows Spark counts: a run reports how many there were."""

from typing import Final

LEFT_OUT: Final = "a record that does not fit is left out"
"""A text in the condition of such a filter, by which it is found in the graph of a query that has run."""


def fitting(condition: str) -> str:
    """Spark SQL of a filter for the records that fit.

    The condition is not deterministic to Spark, which therefore neither merges the filter with those of the job nor
    moves it: its rows are counted alone.
    """
    return f"if(spark_partition_id() >= 0, {condition}, raise_error('{LEFT_OUT}'))"
