"""File formats beyond what Spark reads and writes by itself, and the connector of all of them."""
