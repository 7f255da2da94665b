"""Runs several jobs for a command: those listed, one after the other; those of a project, side by side in order."""
