"""Tests of jobs: rows for the sources, and the rows that are then expected of sinks and nodes."""
