"""What is done about runs from their journals alone, without Spark."""
