"""What the rules of the Assert sink demand, as Spark SQL over one row or as checks of a table."""
