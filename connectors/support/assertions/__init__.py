"""The rules of the Assert sink, as Spark SQL over one row or as checks of a table."""
