"""Remembers the jobs of a project as `validate` compiled them, with all that they were compiled from."""
