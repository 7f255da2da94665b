"""Expectations: rules on a job's rows, checked while the rows are written."""
