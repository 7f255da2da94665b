"""Tests of jobs: given rows for sources, and expected rows of sinks and nodes."""
