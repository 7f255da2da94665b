"""Compares what a job has written in two environments."""
