"""File formats beyond those of Spark, and the connector for all formats."""
