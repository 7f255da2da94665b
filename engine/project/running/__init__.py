"""Runs the selected jobs of a project: choose, compile, run side by side in order, record how they ended."""
