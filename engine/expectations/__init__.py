"""Expectations: what a job demands of its rows, checked while they are written."""
