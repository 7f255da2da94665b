"""SQL functions that Spark lacks: registered where a query calls them, computed by Python over Arrow batches."""
